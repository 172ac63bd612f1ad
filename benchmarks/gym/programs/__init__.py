"""Programs by many hands, their faults as edits, and the runner that records both.

    python -m benchmarks.gym programs run FOLDER [--bases NAME…] [--quick]   # needs torch and scikit-learn
    python -m benchmarks.gym programs score FOLDER

`bases/` holds whole training programs that share nothing: no skeleton, no imports of each other, each in a style of its
own. A fault is an edit of one of them (`edits/`): text that stands there exactly once is replaced, or the training is
changed from outside. Its clean twin is the program itself. What the last line of a program says of its model is turned
into skill by the manifest, and harm is measured against the twins. `found/` holds programs after published faults.
Programs are split by name: those in `fit` may be fitted on, those in `held` decide.
"""
