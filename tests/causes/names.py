"""The slugs of causes, patterns and fixes, in the order of the project's vocabulary.

A slug is permanent once released.
"""

CAUSES: dict[str, tuple[str, ...]] = {
    "optimization": (
        "learning-rate-too-high", "learning-rate-too-low", "missing-warmup", "learning-rate-schedule-fault",
        "momentum-too-high", "batch-too-small", "batch-too-large", "clip-too-tight", "unsuitable-optimizer",
        "undertrained", "unbalanced-loss-terms", "unbalanced-opponents", "unstable-bootstrapping",
    ),
    "regularization": (
        "weight-decay-too-high", "dropout-too-high", "insufficient-regularization", "insufficient-capacity",
    ),
    "model": (
        "bad-initialization", "saturating-activations", "deep-without-skip-or-norm", "dead-relus",
        "exploding-recurrence", "stale-normalization-statistics", "wrong-output-activation", "double-softmax",
        "wrong-loss", "missing-causal-mask",
    ),
    "numerics": ("unstable-numerics", "half-precision-range"),
    "data": (
        "unnormalized-inputs", "unnormalized-targets", "class-imbalance", "label-noise", "corrupt-samples",
        "misaligned-labels", "unshuffled-data", "train-val-leakage", "val-preprocessing-mismatch",
        "fully-masked-labels", "too-little-data",
    ),
    "loop": (
        "missing-zero-grad", "detached-graph", "frozen-parameters", "params-not-in-optimizer",
        "missing-optimizer-step", "eval-mode-training", "train-mode-evaluation", "unscaled-grad-accumulation",
        "repeated-batch", "resume-without-state",
    ),
    "quantization": ("quantization-gap", "ternary-collapse", "quantized-layer-gradient-imbalance"),
    "systems": (
        "data-loader-bottleneck", "memory-leak", "step-time-creep", "device-fallback", "out-of-memory",
        "straggler-rank", "rank-desync",
    ),
    "nothing-wrong": ("healthy",),
}  # fmt: skip

PATTERNS = (
    "converged", "still-learning", "recovered-spike", "s-curve", "delayed-generalization",
    "epoch-wise-double-descent", "regularization-gap", "warmup-phase", "restart-bump", "adversarial-balance",
    "too-short-to-tell",
)  # fmt: skip

FIXES = (
    "lower-learning-rate", "raise-learning-rate", "add-warmup", "repair-schedule", "reduce-on-plateau",
    "lower-momentum", "change-batch-size", "clip-gradients", "loosen-clipping", "switch-optimizer", "train-longer",
    "stop-early", "weight-loss-terms", "balance-opponents", "use-target-network",
    "lower-weight-decay", "lower-dropout", "add-weight-decay", "add-dropout", "augment-data",
    "increase-capacity", "reduce-capacity", "reinitialize-weights", "replace-saturating-activations",
    "use-leaky-relu", "add-normalization", "add-skip-connections", "match-output-to-loss", "feed-logits-to-loss",
    "use-matching-loss", "stabilize-numerics", "use-bfloat16", "scale-loss", "normalize-inputs",
    "normalize-targets", "weight-classes", "drop-bad-samples", "clean-labels", "realign-labels", "shuffle-data",
    "remove-overlap", "match-preprocessing", "zero-gradients-each-step", "reattach-graph", "unfreeze-parameters",
    "register-parameters", "step-the-optimizer", "switch-to-train-mode", "switch-to-eval-mode",
    "scale-accumulated-loss", "iterate-the-loader", "restore-optimizer-state",
    "start-quantization-later-or-earlier", "use-group-quantization", "rescale-quantized-gradients",
    "add-data-workers", "release-graph", "compile-model", "accumulate-gradients", "checkpoint-activations",
    "skip-nonfinite-steps", "mask-the-future",
)  # fmt: skip
