"""The canonical signals: what each name means, which way is better, its unit.

Names that are not here keep the name their log gave them. `train/` and `val/` metrics are recognized
by their last part, so that any split of any metric has a direction.
"""

import re
from functools import lru_cache
from typing import Literal

import msgspec

Direction = Literal["lower", "higher", "none"]


class SignalKind(msgspec.Struct, frozen=True):
    """`name` may end in `/<module>` (a panel) or hold `<metric>`; `unit` in SI where there is one."""

    name: str
    direction: Direction
    unit: str
    meaning: str


SIGNALS: tuple[SignalKind, ...] = (
    SignalKind("train/loss", "lower", "loss", "training loss, as logged (total, if there are parts)"),
    SignalKind("val/loss", "lower", "loss", "validation loss"),
    SignalKind("train/<metric>", "none", "", "any other metric on training data"),
    SignalKind("val/<metric>", "none", "", "any other metric on held-out data"),
    SignalKind("lr", "none", "", "learning rate (of the first group)"),
    SignalKind("lr/<group>", "none", "", "learning rate of another parameter group"),
    SignalKind("batch_size", "none", "samples", "samples per optimizer step"),
    SignalKind("epoch", "none", "epochs", "passes over the training data so far"),
    SignalKind("grad_norm", "none", "L2", "global gradient norm before clipping"),
    SignalKind("grad_norm/<module>", "none", "L2", "gradient norm of one module"),
    SignalKind("grad_zero_fraction/<module>", "none", "0..1", "share of exactly zero gradients"),
    SignalKind("grad_nonfinite/<module>", "lower", "count", "non-finite gradient values"),
    SignalKind(
        "exchange/own", "none", "", "a sum, with fixed factors, over the gradient of one process alone"
    ),
    SignalKind("exchange/used", "none", "", "the same sum over the gradient that its step uses"),
    SignalKind("clip_ratio", "none", "0..1", "norm after clipping over norm before"),
    SignalKind("grad_noise_scale", "none", "samples", "batch size at which noise equals signal"),
    SignalKind("grad_norm_part", "none", "L2", "the part of the gradient norm that one process holds"),
    SignalKind("grad_cosine", "none", "-1..1", "cosine of the gradients of two steps in a row"),
    SignalKind(
        "update_cosine",
        "none",
        "-1..1",
        "cosine of a step and the descent direction after it; below 0: too far",
    ),
    SignalKind("curvature/max", "none", "", "largest eigenvalue of the Hessian of a batch's loss"),
    SignalKind("curvature/min", "none", "", "smallest eigenvalue of the Hessian of a batch's loss"),
    SignalKind("weight_norm", "none", "L2", "global weight norm"),
    SignalKind("weight_norm/<module>", "none", "L2", "weight norm of one module"),
    SignalKind("weight_absmax/<module>", "none", "", "largest absolute weight"),
    SignalKind("update_ratio/<module>", "none", "", "norm of the update over norm of the weights"),
    SignalKind(
        "update_zero_fraction/<module>", "none", "0..1", "share of weights that a step left as they were"
    ),
    SignalKind("act_zero_fraction/<module>", "none", "0..1", "share of units silent on all data"),
    SignalKind("act_saturated_fraction/<module>", "none", "0..1", "share of saturated pre-activations"),
    SignalKind("act_mean/<module>", "none", "", "mean activation"),
    SignalKind("act_std/<module>", "none", "", "standard deviation of activations"),
    SignalKind("act_absmax/<module>", "none", "", "largest absolute activation"),
    SignalKind("act_nonfinite/<module>", "lower", "count", "non-finite activations"),
    SignalKind("act_rank/<module>", "none", "", "effective rank of the representation"),
    SignalKind("attention_logit_max/<module>", "none", "", "largest attention logit"),
    SignalKind(
        "outputs_sample_spread",
        "none",
        "0..1",
        "spread of outputs over samples over their size; 0: all the same",
    ),
    SignalKind(
        "outputs_majority_share", "none", "0..1", "share of a batch that gets the most frequent answer"
    ),
    SignalKind("outputs_accuracy", "higher", "0..1", "share of a batch whose prediction is its label"),
    SignalKind(
        "outputs_balanced_accuracy",
        "higher",
        "0..1",
        "mean over the classes in a batch of the share that is predicted right",
    ),
    SignalKind(
        "outputs_cross_entropy",
        "lower",
        "nats",
        "cross-entropy of the outputs as scores, for any loss",
    ),
    SignalKind(
        "outputs_contradict_share",
        "none",
        "0..1",
        "share of labels predicted less than a tenth as likely as the answer",
    ),
    SignalKind("outputs_explained", "higher", "", "share of the targets' variance that the outputs explain"),
    SignalKind(
        "val_outputs_majority_share",
        "none",
        "0..1",
        "share of an evaluation pass that gets the most frequent answer",
    ),
    SignalKind("loss_scale", "none", "", "scale of half-precision losses"),
    SignalKind("skipped_steps", "lower", "count", "optimizer steps skipped so far"),
    SignalKind("nan_steps", "lower", "count", "iterations with a non-finite loss so far"),
    SignalKind("time/step", "lower", "s", "seconds for one optimizer step"),
    SignalKind("time/queued", "lower", "s", "seconds of a step in which the process waits for a processor"),
    SignalKind("time/compile", "lower", "s", "seconds of a step in which functions are compiled or traced"),
    SignalKind("calls/compile", "lower", "count", "functions that were compiled or traced in a step"),
    SignalKind("time/data", "lower", "s", "seconds of a step spent waiting for data"),
    SignalKind("time/forward", "lower", "s", "seconds of a step in the forward pass"),
    SignalKind("time/backward", "lower", "s", "seconds of a step in the backward pass"),
    SignalKind(
        "time/compute", "lower", "s", "seconds of a step in which a compiled program computes (a profile)"
    ),
    SignalKind("time/optimizer", "lower", "s", "seconds of a step in the optimizer"),
    SignalKind(
        "time/idle",
        "lower",
        "s",
        "seconds of a step in which nothing is computed (on the accelerator, if any)",
    ),
    SignalKind("time/idle_longest", "lower", "s", "the longest of them in a row"),
    SignalKind(
        "time/synchronize", "lower", "s", "seconds of a step in which the host waits for the accelerator"
    ),
    SignalKind("time/transfer", "lower", "s", "seconds of a step in which the accelerator copies memory"),
    SignalKind("time/collective", "lower", "s", "seconds of a step in which processes exchange tensors"),
    SignalKind(
        "calls/synchronize", "lower", "count", "times in a step that the host waits for the accelerator"
    ),
    SignalKind(
        "operator_time/<operator>", "lower", "s", "seconds of a step in an operator itself (a trace)"
    ),
    SignalKind("operator_calls/<operator>", "none", "count", "calls of an operator in a step (a trace)"),
    SignalKind(
        "kernel_time/<kernel>", "lower", "s", "seconds of a step in a kernel of the accelerator (a trace)"
    ),
    SignalKind("kernel_calls/<kernel>", "none", "count", "launches of a kernel in a step (a trace)"),
    SignalKind("throughput", "higher", "samples/s", "samples or tokens per second"),
    SignalKind("mem/host", "none", "bytes", "resident memory of the process"),
    SignalKind("mem/device", "none", "bytes", "memory in use on the accelerator"),
    SignalKind("util/device", "higher", "0..1", "share of time the accelerator was busy"),
    SignalKind("util/cpu", "none", "0..1", "share of processor time in use"),
    SignalKind("quant/loss_gap", "lower", "loss", "loss with quantization minus loss without"),
    SignalKind("quant/zero_fraction/<module>", "none", "0..1", "share of weights quantized to zero"),
    SignalKind(
        "quant/majority/<module>",
        "none",
        "0..1",
        "share of weights on the commonest of zero and the end levels",
    ),
    SignalKind(
        "quant/error/<module>", "none", "", "norm of what quantization changes over the norm of the weights"
    ),
    SignalKind(
        "quant/kept/<module>", "none", "", "projection of quantized on float weights; 1: kept, 0: lost"
    ),
    SignalKind("quant/clipped/<module>", "none", "0..1", "share of weights beyond the end levels"),
    SignalKind(
        "quant/act_clipped/<module>", "none", "0..1", "share of quantized inputs on the range's ends"
    ),
    SignalKind(
        "quant/flips/<module>", "none", "0..1", "share of weights on another level than a step before"
    ),
    SignalKind(
        "quant/moved/<module>", "none", "0..1", "share of weights on another level than a sample before"
    ),
    SignalKind(
        "quant/gradient/<module>",
        "none",
        "",
        "gradient norm of the float over that of the quantized weights",
    ),
    SignalKind("optimizer/<i>/<signal>", "none", "", "lr, grad_norm or clip_ratio of a further optimizer"),
    SignalKind("rank/<i>/<signal>", "none", "", "a signal of one process of a distributed run"),
)

# Parts of a metric's name that say which way is better; the first match of the two lists wins,
# error-like words first ("reconstruction_error", "1-accuracy" are errors).
LOWER_WORDS = (
    "loss",
    "error",
    "err",
    "perplexity",
    "ppl",
    "mse",
    "rmse",
    "mae",
    "nll",
    "bpb",
    "bpc",
    "bpd",
    "wer",
    "cer",
    "fid",
    "kl",
    "distance",
    "entropy",
    "logloss",
    "regret",
    "epe",
    "nfe",
    "bits",
    "brier",
    "ece",
    "hinge",
    "l1",
    "l2",
    "smoothl1",
    "multiclass",
    "xent",
    "recon",
    "reconstruction",
    "exploitability",
    "ter",
    "cost",
    "crossentropy",
    "bce",
    "ce",
    "mape",
    "smape",
    "rmsle",
    "rmspe",
    "mpjpe",
    "eer",
    "lpips",
    "chamfer",
    "crps",
    "deviance",
    "hausdorff",
    "hd95",
    "absrel",
    "quantile",
    "pinball",
    "mcd",
    "losses",
    "perp",
    "mdape",
    "ade",
    "fde",
    "ber",
    "rse",
    "fpr",
    "fnr",
)
HIGHER_WORDS = (
    "accuracy", "acc", "acc1", "acc5", "top1", "top5", "f1", "auc", "auroc", "auprc", "precision", "recall", "map",
    "map50", "ap", "ap50", "ap75", "iou", "miou", "dice", "bleu", "rouge", "psnr", "ssim", "r2", "reward",
    "return", "score", "success", "kappa", "mcc", "ndcg", "mrr", "hit", "rew", "winrate", "correct", "las", "uas",
    "chrf", "meteor", "cider", "spice", "pearson", "spearman", "matthews", "exact", "totalf1",
    "sensitivity", "specificity", "jaccard", "gini", "rouge1", "rouge2", "rougel", "rougelsum", "bleu4", "sacrebleu",
    "bertscore", "pck", "hmean", "mota", "idf1", "hota", "sdr", "sisdr", "snr", "stoi", "pesq", "rocauc", "prauc",
    "aucpr", "em", "fscore", "fbeta", "cindex", "concordance", "returns", "scores", "nse",
    "win", "iu", "fb1", "f05", "roc", "nmi", "ari", "purity", "fitness", "hellaswag", "mmlu", "tpr",
    "likelihood", "loglikelihood", "loglik",
)  # fmt: skip


# Words made from a measure's name: they begin or end with it.
LOWER_FORMS = re.compile(r"loss.*|.*(?:loss|errors?|mse|mae|mape)")
HIGHER_FORMS = re.compile(
    r"(?:accura|map[57]|reward|recall|precision|ndcg|auc|pearson|spearman).*|top\d+"
    r"|.*(?:accuracy|iou|auc|dice|ssim|f1)"
)
# With one of these words a name is no measure, but its spread, its weight, or the time that it took.
NO_MEASURE = frozenset(
    {"std", "stddev", "stdev", "var", "variance", "stderr", "time", "seconds", "non"}
    | {"weight", "weights", "threshold", "size", "dim"}
)
FACTORS = frozenset({"coef", "coeff"})  # of a term of the loss; the Dice coefficient is a measure
NEGATIVE = frozenset({"neg", "negative"})
# With one of these words a metric is measured with quantization, or without it.
QUANTIZED = frozenset(
    {"quant", "quantized", "quantised", "quantization", "qat", "int8", "int4", "int2", "ternary", "w8", "w4"}
)
UNQUANTIZED = frozenset({"float", "fp32", "fp", "full", "float32", "unquantized", "fp16", "bf16"})
DIRECTIONS = {kind.name: kind.direction for kind in SIGNALS}


@lru_cache(maxsize=4096)
def direction_of(name: str) -> Direction:
    """Which way a signal should go, from its name: "lower", "higher", or "none" when unknown."""
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    words = re.split(r"[\s_(@-]+", name.rsplit("/", 1)[-1].lower())
    given = set(words)
    if given & NO_MEASURE:
        return "none"
    if any(w in LOWER_WORDS or LOWER_FORMS.fullmatch(w) for w in words):
        return "none" if given & FACTORS else "lower"
    if not any(w in HIGHER_WORDS or HIGHER_FORMS.fullmatch(w) for w in words):
        return "none"
    return "lower" if "likelihood" in given and given & NEGATIVE else "higher"
