"""The fault gym: small training scripts with known faults, their logs, and a scorer of diagnoses.

    python -m benchmarks.gym run FOLDER --runs 300     # needs torch and scikit-learn
    python -m benchmarks.gym score FOLDER              # needs traindx only

A *recipe* is a whole training script as composable parts; a *setting* is a healthy recipe (task, data, model and
optimizer together), a *benign* one is healthy but looks like trouble; a *fault* changes a recipe; a *style* says what
the script prints. Every faulty run has a clean twin of the same setting, variant and seed: a fault counts only where
the model that comes out is really worse, or what the log says of it is really untrue.
"""
