"""Scripts to repair: does `traindx fix` find the fix, prove it, and make nothing worse?

    python -m benchmarks.repair FOLDER [--cases NAME…] [--edits]     # needs torch and scikit-learn

`labels.json` names them: faulty scripts with one fault or two, healthy ones, and traps, whose obvious fix makes them
worse. Most are programs of `benchmarks.gym.programs` (by many hands, none a gym skeleton) under its edits; those of
`projects/` have configuration files. The clean twin of a faulty script is the same without the edit. What is returned
is scored on unseen seeds at the script's full length.
"""
