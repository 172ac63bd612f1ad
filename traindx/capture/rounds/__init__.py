"""Trainings that report numbers only, round by round: XGBoost, LightGBM, CatBoost, scikit-learn's networks.
There are no gradients to be seen; the curves are, and the rules on curves judge them."""
