"""The checks of `traindx check` and of `traindx check --data`, in the order of the page. Each reports on one
or several rules.

`source` is the fact whose absence, with the survey's reason for it, explains why a check was not run."""

from traindx.vocabulary import Check, Group

FIRST, AGAIN, ONE_BATCH = "first steps", "again", "one batch"
BLANK, PERMUTED = "one blank batch", "permuted labels"

NO_NUMBERS = "the inputs are not continuous numbers (tokens, for example), or were not recorded"
NO_LABELS = "no class labels were recorded"
NO_VALIDATION = "no validation ran in the first steps"
# The message of a check that does not apply to the script.
ABSENT = {
    **dict.fromkeys(("inputs-finite", "input-scale", "input-outliers", "constant-inputs"), NO_NUMBERS),
    **dict.fromkeys(("target-range", "class-balance", "order"), NO_LABELS),
    **dict.fromkeys(("overlap", "validation-shift"), NO_VALIDATION),
    **dict.fromkeys(("size", "fresh-batches"), "the size of the data set is unknown"),
    "target-scale": "the targets are not numbers",
    "duplicates": "no samples were recorded",
    "logits": "the loss was not computed by a known loss function",
    **dict.fromkeys(("clipping", "clipping-order"), "no gradients are clipped"),
    "accumulation": "no gradients are accumulated",
    "precision": "no loss is scaled for half precision",
    "future-apart": "the model does not predict next tokens",
    "modes-set": "the model did not run in both modes",
}
# Checks of a script's environment, which a model and a loader in a running Python do not have.
OF_SCRIPTS = ("versions", "seeds", "disk", "checkpoints")
CERTAIN = ("output-activation", "gradient-flow", "clipping-order")


def define_check(
    group: Group,
    slug: str,
    title: str,
    passed: str,
    rules: str,
    facts: str = "",
    *,
    source: str = FIRST,
) -> Check:
    return Check(
        slug=slug,
        group=group,
        title=title,
        passed=passed,
        rules=tuple(rules.split()),
        facts=tuple(facts.split()),
        source=source,
        absent=ABSENT.get(slug, ""),
        certain=slug in CERTAIN,
    )


CHECKS: tuple[Check, ...] = (
    define_check(
        "environment", "accelerator", "Accelerator", "the available device is used", "accelerator-missing",
        "device accelerator", source="accelerator",
    ),
    define_check(
        "environment", "versions", "Versions and pins", "the installed versions match the pins",
        "versions-unpinned",
        "pins_file",
    ),
    define_check("environment", "seeds", "Random seeds", "set by the script", "seed-not-set", "seeds_set"),
    define_check(
        "environment", "determinism", "Same start, same losses", "two starts give the same losses",
        "run-not-reproducible",
        "repeat_steps repeat_difference", source=AGAIN,
    ),
    define_check("environment", "disk", "Disk space", "enough", "disk-space-short", "disk_free disk_needed",
         source=AGAIN),
    define_check(
        "environment", "memory", "Memory", "enough", "memory-too-small out-of-memory memory-grows",
        "memory_weights memory_gradients memory_optimizer memory_activations memory_available",
        source="memory",
    ),
    define_check(
        "environment", "checkpoints", "Checkpoint files", "readable and finite",
        "checkpoint-unreadable checkpoint-not-finite", "checkpoints_seen",
    ),
    define_check(
        "data", "inputs-finite", "Inputs are finite", "no NaN or infinity",
        "inputs-not-finite", "inputs_samples_read",
    ),
    define_check(
        "data", "input-scale", "Scale of the inputs", "about one",
        "inputs-not-normalized", "inputs_mean_abs inputs_std_mean",
    ),
    define_check("data", "input-outliers", "Outliers among the inputs", "no extreme values", "inputs-have-outliers"),
    define_check(
        "data", "constant-inputs", "Constant input features", "none, or few",
        "inputs-have-constant-features",
        "inputs_constant_features inputs_features",
    ),
    define_check("data", "target-scale", "Scale of the targets", "about one", "targets-not-normalized",
         "targets_std_mean"),
    define_check(
        "data", "target-range", "Range of the labels", "all within the classes",
        "targets-out-of-range", "label_min label_max",
    ),
    define_check(
        "data", "class-balance", "Balance of the classes", "no class is rare",
        "classes-imbalanced", "class_counts_max_min_ratio",
    ),
    define_check("data", "duplicates", "Copies among the samples", "few or none", "samples-duplicated"),
    define_check("data", "overlap", "Training samples in validation", "none", "train-and-validation-overlap"),
    define_check("data", "validation-shift", "Validation inputs like training's", "similar",
         "validation-distribution-differs"),
    define_check("data", "order", "Order of the samples", "batches are mixed", "batches-sorted-by-class",
         "batch_class_purity"),
    define_check(
        "data", "fresh-batches", "Batches differ", "no batch is repeated",
        "batch-repeats", "batches_distinct",
    ),
    define_check(
        "architecture", "output-activation", "Output against targets", "the output can reach the targets",
        "output-cannot-reach-targets", "outputs_width outputs_min outputs_max",
    ),
    define_check(
        "architecture", "loss-function", "Loss against targets", "they fit",
        "loss-does-not-fit-targets", "loss loss_reduction",
    ),
    define_check(
        "architecture", "logits", "Cross-entropy gets logits", "no second softmax",
        "probabilities-fed-to-cross-entropy", "loss_input",
    ),
    define_check(
        "architecture", "size", "Size against data", "in proportion", "model-larger-than-data",
        "parameters parameters_trainable dataset_size depth",
    ),
    define_check(
        "architecture", "depth", "Depth", "gradients reach every layer",
        "deep-without-normalization deep-saturating-activations gradients-vanish-with-depth",
        "depth has_normalization has_dropout activations",
    ),
    define_check(
        "architecture", "initial-weights", "Initial weights", "their scale is fine",
        "weights-start-badly-scaled", "parameter_dtype",
    ),
    define_check(
        "architecture", "live-units", "Units are alive", "they respond to their inputs",
        "relu-units-dead activations-saturate activations-collapse activations-not-finite",
    ),
    define_check(
        "architecture", "registered", "Layers are registered", "all that are used",
        "parameters-not-registered",
        "parameters_shared", source="structure",
    ),
    define_check(
        "architecture", "bias", "Biases have an effect", "none precedes a normalization",
        "bias-before-normalization", source="structure",
    ),
    define_check(
        "architecture", "samples-apart", "No leak across the batch", "each output depends on its own sample",
        "samples-affect-each-other", "leak_pairs_checked", source="leak",
    ),
    define_check(
        "architecture", "future-apart", "No leak from later tokens", "no output depends on later tokens",
        "future-leaks-into-output", "future_effect",
    ),
    define_check(
        "loop", "optimizer-holds-all", "Optimizer holds all parameters", "all that are trainable",
        "parameters-missing-from-optimizer", "optimizer parameter_groups",
    ),
    define_check("loop", "frozen", "Frozen parameters", "none that prevent training", "parameters-frozen",
         "parameters_frozen"),
    define_check(
        "loop", "steps", "Optimizer steps", "the optimizer steps",
        "optimizer-never-steps steps-skipped-often", "optimizer_steps",
    ),
    define_check("loop", "zero-grad", "Gradients are cleared", "before each step",
         "gradients-accumulate-across-steps"),
    define_check(
        "loop", "modes-set", "Training and evaluation mode", "set correctly",
        "training-in-eval-mode evaluating-in-train-mode",
    ),
    define_check(
        "loop", "clipping-order", "Gradients are clipped before the step", "they are",
        "clipping-after-step",
    ),
    define_check(
        "loop", "clipping", "Clipping threshold", "some steps are not clipped",
        "clipping-always-active", "clip_norm",
    ),
    define_check(
        "loop", "accumulation", "Accumulated gradients are averaged",
        "the loss is divided, or nothing is accumulated",
        "loss-not-scaled-for-accumulation", "accumulation",
    ),
    define_check(
        "loop", "loss-mean", "Loss is a mean over the batch", "not a sum",
        "loss-sums-over-batch", "loss_batch_growth", source="growth",
    ),
    define_check(
        "loop", "schedule", "Learning-rate schedule", "the rate stays large enough",
        "scheduler-steps-too-often learning-rate-vanishes-early learning-rate-is-zero learning-rate-jumps",
        "lr schedule",
    ),
    define_check(
        "loop", "precision", "Half precision", "values stay in range",
        "half-precision-overflows half-precision-underflows loss-scale-collapses", "precision",
    ),
    define_check("experiments", "first-loss", "First loss", "that of guessing", "first-loss-far-from-guessing"),
    define_check(
        "experiments", "gradient-flow", "Gradients reach every parameter", "they do",
        "graph-detached gradient-is-zero",
    ),
    define_check(
        "experiments", "gradient-size", "Size of the gradients", "moderate and finite",
        "gradient-not-finite gradient-norm-explodes gradient-norm-vanishes",
    ),
    define_check(
        "experiments", "parameters-move", "Parameters move", "by a reasonable fraction of their size",
        "parameters-never-change updates-too-large updates-too-small weights-collapse "
        "weights-grow-unbounded",
    ),
    define_check(
        "experiments", "loss-falls", "Loss falls in the first steps", "it does",
        "loss-not-finite loss-diverges loss-has-no-floor loss-flat-from-start loss-at-chance "
        "loss-oscillates "
        "loss-repeats-each-epoch loss-spikes-then-fails",
    ),
    define_check(
        "experiments", "one-batch", "One batch can be overfitted", "it can", "one-batch-not-fitted",
        "one_batch_start one_batch_end one_batch_steps", source=ONE_BATCH,
    ),
    define_check(
        "experiments", "blank-inputs", "Inputs matter", "without them the batch is fitted worse",
        "input-has-no-effect", "one_batch_end blank_batch_end", source=BLANK,
    ),
    define_check(
        "experiments", "permuted-labels", "Labels matter", "permuted ones are fitted worse",
        "labels-make-no-difference", "real_end permuted_end", source=PERMUTED,
    ),
    define_check(
        "experiments", "modes-agree", "Both modes agree", "their losses are similar", "modes-disagree",
        "modes_loss_train modes_loss_eval", source="modes",
    ),
    define_check(
        "experiments", "step-time", "Step time", "not spent waiting for data",
        "step-waits-for-data step-time-jumps accelerator-underused", "time_step time_data_share",
    ),
    define_check(
        "experiments", "latency", "Latency and throughput", "measured", "",
        "latency_p50 latency_p95 latency_p99 inference_throughput", source="latency",
    ),
)  # fmt: skip


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
