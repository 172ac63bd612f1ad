"""The checks of `traindx check`, in the order of the page: each a view on one or several rules."""

from __future__ import annotations

from traindx.vocabulary.check import Check, Group

FIRST, AGAIN, ONE_BATCH, BLANK, PERMUTED = (
    "first steps",
    "again",
    "one batch",
    "one blank batch",
    "permuted labels",
)

NO_NUMBERS = "the inputs are no numbers of a scale (tokens, or nothing was seen of them)"
NO_LABELS = "no class labels were seen"
NO_VALIDATION = "no validation was seen in the first steps"
# What is said of a check where the script has nothing of the kind.
ABSENT = {
    **dict.fromkeys(("inputs-finite", "input-scale", "input-outliers", "constant-inputs"), NO_NUMBERS),
    **dict.fromkeys(("target-range", "class-balance", "order"), NO_LABELS),
    **dict.fromkeys(("overlap", "validation-shift"), NO_VALIDATION),
    **dict.fromkeys(("size", "fresh-batches"), "the size of the data set is not known"),
    "target-scale": "the targets are no numbers to be fitted",
    "duplicates": "no samples were seen",
    "logits": "the loss was not made by a loss function",
    **dict.fromkeys(("clipping", "clipping-order"), "no gradients are clipped"),
    "accumulation": "no gradients are accumulated",
    "precision": "no loss is scaled for half precision",
    "future-apart": "no next token is foretold",
    "modes-set": "no model was seen in one of the modes",
}
# Checks of the surroundings of a script: a model and a loader in a running Python have none of their own.
OF_SCRIPTS = ("versions", "seeds", "disk", "checkpoints")
CERTAIN = ("output-activation", "gradient-flow", "clipping-order")


def made(
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
    made(
        "environment", "accelerator", "Accelerator", "what there is, is used", "accelerator-missing",
        "device accelerator", source="accelerator",
    ),
    made(
        "environment", "versions", "Versions and pins", "what runs is what is pinned", "versions-unpinned",
        "pins_file",
    ),
    made("environment", "seeds", "Random seeds", "set by the script", "seed-not-set", "seeds_set"),
    made(
        "environment", "determinism", "Same start, same losses", "two starts do not differ", "run-not-reproducible",
        "repeat_steps repeat_difference", source=AGAIN,
    ),
    made("environment", "disk", "Disk space", "enough", "disk-space-short", "disk_free disk_needed", source=AGAIN),
    made(
        "environment", "memory", "Memory", "enough", "memory-too-small out-of-memory memory-grows",
        "memory_weights memory_gradients memory_optimizer memory_activations memory_available", source="memory",
    ),
    made(
        "environment", "checkpoints", "Checkpoint files", "readable and finite",
        "checkpoint-unreadable checkpoint-not-finite", "checkpoints_seen",
    ),
    made(
        "data", "inputs-finite", "Inputs are finite", "no NaN or infinity",
        "inputs-not-finite", "inputs_samples_read",
    ),
    made(
        "data", "input-scale", "Scale of the inputs", "about one",
        "inputs-not-normalized", "inputs_mean_abs inputs_std_mean",
    ),
    made("data", "input-outliers", "Outliers among the inputs", "none that are far off", "inputs-have-outliers"),
    made(
        "data", "constant-inputs", "Constant input features", "none, or few", "inputs-have-constant-features",
        "inputs_constant_features inputs_features",
    ),
    made("data", "target-scale", "Scale of the targets", "about one", "targets-not-normalized", "targets_std_mean"),
    made(
        "data", "target-range", "Range of the labels", "within the classes",
        "targets-out-of-range", "label_min label_max",
    ),
    made(
        "data", "class-balance", "Balance of the classes", "no class is rare",
        "classes-imbalanced", "class_counts_max_min_ratio",
    ),
    made("data", "duplicates", "Copies among the samples", "few or none", "samples-duplicated"),
    made("data", "overlap", "Training samples in validation", "none", "train-and-validation-overlap"),
    made("data", "validation-shift", "Validation inputs like training's", "alike", "validation-distribution-differs"),
    made("data", "order", "Order of the samples", "batches are mixed", "batches-sorted-by-class", "batch_class_purity"),
    made(
        "data", "fresh-batches", "Batches differ", "no batch comes again and again",
        "batch-repeats", "batches_distinct",
    ),
    made(
        "architecture", "output-activation", "Output against targets", "the output can reach the targets",
        "output-cannot-reach-targets", "outputs_width outputs_min outputs_max",
    ),
    made(
        "architecture", "loss-function", "Loss against targets", "they fit",
        "loss-does-not-fit-targets", "loss loss_reduction",
    ),
    made(
        "architecture", "logits", "Cross-entropy is fed scores", "no second softmax",
        "probabilities-fed-to-cross-entropy", "loss_input",
    ),
    made(
        "architecture", "size", "Size against data", "in proportion", "model-larger-than-data",
        "parameters parameters_trainable dataset_size depth",
    ),
    made(
        "architecture", "depth", "Depth", "carries gradients",
        "deep-without-normalization deep-saturating-activations gradients-vanish-with-depth",
        "depth has_normalization has_dropout activations",
    ),
    made(
        "architecture", "initial-weights", "Initial weights", "of a sane scale",
        "weights-start-badly-scaled", "parameter_dtype",
    ),
    made(
        "architecture", "live-units", "Units are alive", "they answer to their inputs",
        "relu-units-dead activations-saturate activations-collapse activations-not-finite",
    ),
    made(
        "architecture", "registered", "Layers are registered", "all that are used", "parameters-not-registered",
        "parameters_shared", source="structure",
    ),
    made(
        "architecture", "bias", "Biases have an effect", "none stands before a normalization",
        "bias-before-normalization", source="structure",
    ),
    made(
        "architecture", "samples-apart", "No leak across the batch", "each output depends on its own sample",
        "samples-affect-each-other", "leak_pairs_checked", source="leak",
    ),
    made(
        "architecture", "future-apart", "No look at the future", "no output depends on later tokens",
        "future-leaks-into-output", "future_effect",
    ),
    made(
        "loop", "optimizer-holds-all", "Optimizer holds all parameters", "all that are trainable",
        "parameters-missing-from-optimizer", "optimizer parameter_groups",
    ),
    made("loop", "frozen", "Frozen parameters", "none that hold up training", "parameters-frozen", "parameters_frozen"),
    made(
        "loop", "steps", "Optimizer steps", "they are made",
        "optimizer-never-steps steps-skipped-often", "optimizer_steps",
    ),
    made("loop", "zero-grad", "Gradients are cleared", "before each step", "gradients-accumulate-across-steps"),
    made(
        "loop", "modes-set", "Training and evaluation mode", "each in its place",
        "training-in-eval-mode evaluating-in-train-mode",
    ),
    made(
        "loop", "clipping-order", "Gradients are clipped before the step", "they are",
        "clipping-after-step",
    ),
    made(
        "loop", "clipping", "Measure of clipping", "some steps at least go through whole",
        "clipping-always-active", "clip_norm",
    ),
    made(
        "loop", "accumulation", "Accumulated gradients are averaged", "the loss is divided, or nothing is accumulated",
        "loss-not-scaled-for-accumulation", "accumulation",
    ),
    made(
        "loop", "loss-mean", "Loss is a mean over the batch", "not a sum",
        "loss-sums-over-batch", "loss_batch_growth", source="growth",
    ),
    made(
        "loop", "schedule", "Learning-rate schedule", "keeps a rate to learn with",
        "scheduler-steps-too-often learning-rate-vanishes-early learning-rate-is-zero learning-rate-jumps",
        "lr schedule",
    ),
    made(
        "loop", "precision", "Half precision", "in its range",
        "half-precision-overflows half-precision-underflows loss-scale-collapses", "precision",
    ),
    made("experiments", "first-loss", "First loss", "that of a guess", "first-loss-far-from-guessing"),
    made(
        "experiments", "gradient-flow", "Gradients reach every parameter", "they do",
        "graph-detached gradient-is-zero",
    ),
    made(
        "experiments", "gradient-size", "Gradients are of a sane size", "and finite",
        "gradient-not-finite gradient-norm-explodes gradient-norm-vanishes",
    ),
    made(
        "experiments", "parameters-move", "Parameters move", "by a sane share of themselves",
        "parameters-never-change updates-too-large updates-too-small weights-collapse weights-grow-unbounded",
    ),
    made(
        "experiments", "loss-falls", "Loss falls in the first steps", "it does",
        "loss-not-finite loss-diverges loss-has-no-floor loss-flat-from-start loss-at-chance loss-oscillates "
        "loss-repeats-each-epoch loss-spikes-then-fails",
    ),
    made(
        "experiments", "one-batch", "One batch can be learned by heart", "it can", "one-batch-not-fitted",
        "one_batch_start one_batch_end one_batch_steps", source=ONE_BATCH,
    ),
    made(
        "experiments", "blank-inputs", "Inputs matter", "without them the batch is not learned as well",
        "input-has-no-effect", "one_batch_end blank_batch_end", source=BLANK,
    ),
    made(
        "experiments", "permuted-labels", "Labels matter", "permuted ones are learned worse",
        "labels-make-no-difference", "real_end permuted_end", source=PERMUTED,
    ),
    made(
        "experiments", "modes-agree", "Both modes agree", "evaluation mode knows what was learned", "modes-disagree",
        "modes_loss_train modes_loss_eval", source="modes",
    ),
    made(
        "experiments", "step-time", "Step time", "not spent waiting for data",
        "step-waits-for-data step-time-jumps accelerator-underused", "time_step time_data_share",
    ),
    made(
        "experiments", "latency", "Latency and throughput", "measured", "",
        "latency_p50 latency_p95 latency_p99 inference_throughput", source="latency",
    ),
)  # fmt: skip
