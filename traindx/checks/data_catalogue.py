"""The checks of `traindx check --data`, in the order of the page. Each reports on one or several rules.

`source` is the fact whose absence, with the survey's reason for it, explains why a check was not run."""

from __future__ import annotations

from traindx.checks.catalogue import define_check
from traindx.vocabulary.check import Check

OF_FOLDERS = ("read", "files", "labels", "class-balance", "contradictions", "duplicates", "overlap")

DATA_CHECKS: tuple[Check, ...] = (
    define_check("data", "read", "What was read", "all of it", "", "samples_read samples_looked_at",
         source="samples_read"),
    define_check(
        "data", "files", "Files", "every file can be read", "files-unreadable", "files_checked",
        source="files_checked",
    ),
    define_check(
        "data", "missing", "Missing values", "no cell is empty", "values-missing", "inputs_features",
        source="inputs_missing",
    ),
    define_check("data", "inputs-finite", "Inputs are finite", "no NaN or infinity", "inputs-not-finite",
         source="inputs_nonfinite"),
    define_check(
        "data", "input-scale", "Scale of the inputs", "about one", "inputs-not-normalized",
        "inputs_mean_abs_max inputs_std_min inputs_std_max", source="inputs_std_max",
    ),
    define_check("data", "input-outliers", "Outliers among the inputs", "no extreme values", "inputs-have-outliers",
         source="inputs_outlier_share"),
    define_check("data", "constant-inputs", "Constant input features", "none, or few",
         "inputs-have-constant-features",
         source="inputs_features"),
    define_check("data", "copied-inputs", "Features that repeat others", "none", "features-duplicated",
         source="inputs_duplicate_features"),
    define_check("data", "labels", "Labels or targets", "well formed", "labels-ill-formed", "target_task classes",
         source="targets"),
    define_check("data", "target-scale", "Scale of the targets", "about one", "targets-not-normalized",
         "targets_std",
         source="targets_std_max"),
    define_check("data", "target-outliers", "Outliers among the targets", "no extreme values",
         "targets-have-outliers",
         source="targets_outliers"),
    define_check(
        "data", "class-balance", "Balance of the classes", "no class is rare", "classes-imbalanced",
        "class_counts_max_min_ratio", source="class_counts_max_min_ratio",
    ),
    define_check(
        "data", "label-noise", "Wrong labels", "few or none suspected", "labels-look-noisy",
        "label_noise_suspects label_noise_checked label_noise_where", source="label_noise_share",
    ),
    define_check("data", "contradictions", "Same sample, other target", "none, or few", "labels-contradict",
         source="samples_conflicting"),
    define_check("data", "leakage", "One feature predicts the target", "none does", "feature-predicts-target",
         "feature_skill_best feature_skill_best_name", source="feature_skill_best"),
    define_check("data", "duplicates", "Copies among the samples", "few or none", "samples-duplicated",
         "samples_duplicates",
         source="samples_duplicate_share"),
    define_check("data", "order", "Order of the rows", "mixed", "rows-sorted-by-class batches-sorted-by-class",
         source="rows_class_purity"),
    define_check("data", "overlap", "Training samples in validation", "none", "train-and-validation-overlap",
         source="train_val_overlap_share"),
    define_check("data", "validation-shift", "Validation like training", "similar",
         "validation-distribution-differs",
         source="val_inputs_shift"),
    define_check("data", "slices", "Slices of the sensitive column", "similar, within chance", "slices-unequal",
         "slices_compared slice_smallest_share", source="slice_label_gap"),
)  # fmt: skip
