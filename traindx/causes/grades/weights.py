"""Weights of grades for causes, set by hand: cause -> {"scale=word": log-odds}.

A setting far outside its usual range is evidence for its cause before any curve shows it, and one inside
the range is evidence against. The catalogue adds these weights to those of the causes, and the fitted
weights are added to both.
"""

from collections.abc import Mapping

GRADE_WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "learning-rate-too-high": {
        "rate=far-high": 2.5, "rate=high": 1.2, "rate=usual": -0.5, "rate=lowish": -1.0, "rate=low": -1.8,
        "rate=far-low": -3.0, "updates-first=huge": 0.6, "updates-first=beyond": 1.2,
        "updates-size=large": 0.6, "updates-size=huge": 1.2, "loss-leap=large": 0.5,
        "loss-leap=huge": 1.0, "loss-end=worse": 0.8, "loss-broken=first-row": -2.0,
        "inputs-scale=huge": -1.5, "targets-scale=huge": -1.5, "alike-units=most": -3.0,
        "grad-cosine=opposed": 0.8, "rounded-to=float16": -2.0, "reduction=sum": -1.5,
        "backwards=many": -1.0, "batch=tiny": -0.8, "momentum=extreme": -2.0,
    },
    "learning-rate-too-low": {
        "rate=far-low": 2.5, "rate=low": 1.4, "rate=lowish": 0.3, "rate=usual": -1.0,
        "updates-size=usual": -0.8, "rate=high": -2.0, "rate=far-high": -4.0, "updates-size=tiny": 1.2,
        "updates-size=none": 0.6, "updates-size=large": -2.0, "updates-size=huge": -3.0,
        "grad-cosine=parallel": 0.8, "clip=nothing-left": -2.0, "lr-shape=vanishes-early": -2.5,
        "updates-lost=all": -1.5,
    },
    "missing-warmup": {
        "lr-shape=warms-up": -2.5, "updates-first=huge": 0.5, "updates-first=usual": -1.0,
        "rate=low": -1.5, "rate=far-low": -3.0,
    },
    "learning-rate-schedule-fault": {
        "lr-shape=vanishes-early": 2.0, "lr-shape=leaps": 2.5, "lr-shape=constant": -2.5,
        "lr-shape=warms-up": -1.0,
    },
    "momentum-too-high": {
        "momentum=extreme": 4.0, "momentum=high": 1.8, "momentum=usual": -1.5, "momentum=none": -3.5,
    },
    "batch-too-small": {
        "batch=tiny": 2.0, "batch=small": 0.8, "batch=usual": -2.0, "batch=large": -4.0,
    },
    "batch-too-large": {
        "batch-share=most": 2.5, "batch-share=large": 0.8, "batch-share=small": -2.5,
        "updates-made=handful": 1.2, "updates-made=few": 1.0, "updates-made=plenty": -2.5,
        "updates-made=many": -1.5,
    },
    "clip-too-tight": {
        "clip=nothing-left": 4.0, "clip=tight": 2.5, "clip=some": -1.0, "clip=rarely": -3.0,
        "norm-level=huge": -2.5, "norm-level=large": -1.0,
    },
    "unsuitable-optimizer": {
        "optimizer=rprop": 2.5, "optimizer=adagrad": 2.0, "optimizer=adadelta": 1.5,
        "optimizer=asgd": 1.0, "optimizer=adam": -1.5, "optimizer=adamw": -1.5,
    },
    "undertrained": {
        "val-skill=top": -1.0, "train-skill=top": -1.5, "train-skill=good": -0.8, "train-skill=poor": 0.8,
        "train-learning=much": 1.0, "train-learning=level": -0.8, "start-low=small": -0.5,
        "updates-made=handful": 1.5, "updates-made=few": 1.2, "updates-made=plenty": -1.0,
        "loss-tail=falling": 0.8, "loss-tail=level": -0.8, "batch-share=most": -1.0, "rate=far-low": -1.5,
    },
    "weight-decay-too-high": {
        "weight-decay=none": -4.0, "weight-decay=usual": -3.0, "weight-decay=some": -0.8,
        "weight-decay=high": 2.5, "weight-decay=extreme": 4.5, "weights-change=shrink": 1.5,
        "weights-change=grow": -1.0,
    },
    "dropout-too-high": {
        "dropout=none": -5.0, "dropout=usual": -2.5, "dropout=high": 3.0, "dropout=extreme": 5.0,
    },
    "insufficient-regularization": {
        "val-over-train=far-below": 1.0, "train-skill=none": -2.0, "val-rise=far": 1.2,
        "val-rise=much": 0.8, "val-rise=none": -1.2, "loss-last=zero": 0.5, "memory=less": -1.5,
        "val-first=beyond": -1.0, "val-skill=none": -3.0,
    },
    "insufficient-capacity": {
        "train-skill=top": -2.5, "train-skill=poor": 0.6, "train-skill=fair": 0.4, "width=thread": 1.2,
        "width=thin": 0.8, "width=usual": -1.2, "activation=none": 1.0, "memory=far-more": -1.5,
        "val-skill=top": -3.0,
    },
    "bad-initialization": {
        "start-low=nothing": 5.0, "start-low=small": 1.2, "start-low=usual": -0.8, "start-high=huge": 4.5,
        "start-high=large": 3.0, "start-high=largish": 0.6, "start-high=usual": -0.8,
        "loss-unit=scaled": -1.5, "alike-units=most": 6.0, "alike-units=none": -0.5,
        "activation-size=vanished": 0.8, "activation-size=huge": 0.8, "loss-start=beyond": 1.5,
        "loss-start=far": 0.7, "loss-start=chance": -0.5, "inputs-scale=huge": -1.0,
    },
    "saturating-activations": {
        "activation=saturating": 2.0, "activation=rectifier": -5.0, "activation=none": -5.0,
        "activation=other": -3.0, "saturation=most": 2.0, "saturation=none": -1.0, "depth=shallow": -1.5,
        "depth=deep": 1.0, "depth=very-deep": 1.5, "depth-slope=vanished": 1.0,
        "depth-slope=vanishing": 0.5, "start-low=nothing": -2.0, "inputs-scale=huge": -1.5,
    },
    "deep-without-skip-or-norm": {
        "depth=very-deep": 1.5, "depth=deep": 0.8, "depth=usual": -2.5, "depth=shallow": -5.0,
        "normalization=there": -2.0, "depth-slope=vanished": 1.2, "depth-slope=vanishing": 0.8,
        "activation=saturating": -0.8,
    },
    "dead-relus": {
        "dead-units=all": 2.0, "dead-units=most": 1.5, "dead-units=none": -2.5,
        "activation=saturating": -5.0, "activation=none": -5.0, "depth=very-deep": -1.5,
    },
    "exploding-recurrence": {
        "model=recurrent": 2.0, "model=dense": -5.0, "model=convolution": -5.0, "model=attention": -5.0,
        "norm-tail=wild": 0.8,
    },
    "stale-normalization-statistics": {
        "normalization=there": 1.0, "normalization=missing": -5.0, "norm-momentum=still": 4.5,
        "norm-momentum=usual": -1.0, "val-last=beyond": 0.5, "val-first=beyond": 0.5,
    },
    "wrong-output-activation": {
        "outputs-from=relu": 2.0, "outputs-from=tanh": 0.5, "outputs-from=sigmoid": 0.5,
        "outputs-from=none": -1.5,
    },
    "double-softmax": {
        "outputs-from=softmax": 0.3, "outputs-from=none": -1.5, "probabilities=yes": 3.0,
        "probabilities=no": -4.0, "loss-kind=numbers": -5.0,
    },
    "wrong-loss": {
        "reduction=sum": 0.5, "unreached=all": 0.8, "loss-unit=many-times": 1.5, "loss-unit=part": 3.0,
        "loss-unit=some-times": 1.2, "loss-unit=equal": -2.5,
    },
    "unstable-numerics": {
        "nonfinite=inputs": -3.0, "nonfinite=targets": -3.0, "loss-broken=first-row": 0.5,
    },
    "half-precision-range": {
        "precision=float16": 2.5, "precision=full": -3.5, "rounded-to=float16": 3.0,
        "rounded-to=bfloat16": 1.5, "updates-lost=most": 2.5, "updates-lost=all": 3.5,
        "broken-first=gradient": 0.6, "loss-unit=scaled": 1.0,
    },
    "unnormalized-inputs": {
        "inputs-scale=huge": 2.8, "inputs-scale=large": 1.0, "inputs-scale=usual": -3.0,
        "inputs-scale=small": -4.0, "inputs-spread=wild": 1.2, "inputs-spread=even": -0.8,
    },
    "unnormalized-targets": {
        "targets-scale=huge": 3.0, "targets-scale=large": 1.0, "targets-scale=usual": -4.0,
        "loss-kind=classes": -5.0, "loss-kind=binary": -5.0, "loss-first=giant": 1.0,
    },
    "class-imbalance": {
        "majority=extreme": 1.8, "majority=skewed": 1.0, "majority=even": -4.0, "val-still=stands": 0.8,
        "one-answer=one": 0.5, "loss-kind=numbers": -4.0, "class-weights=yes": -3.5,
    },
    "label-noise": {
        "contradicted=some": 1.2, "contradicted=many": 1.0, "contradicted=none": -0.8,
        "val-over-train=far-above": 2.0, "val-over-train=above": 1.0, "train-skill=top": -2.5,
        "val-skill=none": -1.5, "loss-end=solved": -2.0, "loss-last=zero": -2.0,
    },
    "corrupt-samples": {
        "nonfinite=inputs": 3.0, "nonfinite=targets": 3.0, "outlier-share=many": 1.0,
        "outlier-share=none": -0.5,
    },
    "misaligned-labels": {
        "train-skill=none": 1.0, "train-skill=poor": 0.5, "rate=low": -1.5, "rate=far-low": -3.0,
        "updates-size=tiny": -1.5, "updates-made=handful": -2.5, "updates-made=few": -1.5,
        "train-skill=top": -1.0, "val-skill=top": -4.0, "val-skill=good": -3.0, "val-skill=fair": -2.0,
        "val-skill=none": 2.0,
    },
    "unshuffled-data": {
        "shuffle=off": 1.5, "shuffle=on": -4.0, "purity=pure": 2.5, "purity=mixed": -3.0,
        "loss-tooth=strong": 1.0, "loss-tooth=none": -0.8,
    },
    "train-val-leakage": {
        "overlap=none": -4.0, "val-last=above": -0.5, "val-last=far": -1.5,
    },
    "val-preprocessing-mismatch": {
        "val-shift=large": 1.5, "outlier-share=many": -1.5, "val-spread=wider": 2.0,
        "val-spread=narrower": 2.0, "val-spread=alike": -2.0, "val-first=beyond": 1.2,
        "val-first=beside": -2.0,
    },
    "fully-masked-labels": {
        "masked=most": 3.5, "masked=none": -3.0,
    },
    "too-little-data": {
        "data-size=handful": 2.0, "val-over-train=far-below": 1.2, "val-last=beyond": 0.8,
        "val-last=far": 0.5, "train-skill=none": -2.0, "data-size=few": 1.2, "memory=far-more": 0.5,
        "val-skill=good": -1.5, "val-skill=top": -3.0, "val-skill=none": -3.0, "val-rise=none": -1.0,
        "data-size=many": -3.0,
    },
    "missing-zero-grad": {
        "uncleared=always": 4.0, "uncleared=never": -5.0,
    },
    "detached-graph": {
        "unreached=none": -4.0, "unreached=some": 0.5, "unreached=most": 2.0, "unreached=all": 1.5,
    },
    "frozen-parameters": {
        "frozen=none": -4.0, "frozen=some": 0.3, "frozen=most": 1.8, "frozen=all": 4.5,
    },
    "params-not-in-optimizer": {
        "unheld=none": -4.0, "unheld=some": 1.5, "unheld=most": 3.5, "unheld=all": 4.0,
        "frozen=most": -1.0,
    },
    "missing-optimizer-step": {
        "unmoved=none": -3.0, "unmoved=all": 1.5, "unheld=all": -2.0,
    },
    "eval-mode-training": {
        "eval-steps=never": -5.0, "eval-steps=some": 1.5, "eval-steps=mostly": 3.0,
    },
    "train-mode-evaluation": {
        "train-evaluation=never": -5.0, "train-evaluation=mostly": 2.5,
    },
    "unscaled-grad-accumulation": {
        "backwards=one": -5.0, "backwards=some": 0.8, "backwards=many": 1.5,
    },
    "repeated-batch": {
        "repeats=none": -5.0, "repeats=most": 2.0, "batch-share=most": -3.0,
    },
    "data-loader-bottleneck": {
        "waiting=little": -2.5, "waiting=most": 2.0,
    },
    "step-time-creep": {
        "step-growth=steady": -2.0, "step-growth=slower": 0.8, "step-growth=far-slower": 3.8,
    },
    "memory-leak": {
        "memory-growth=steady": -2.5, "memory-growth=swells": 2.0,
    },
    "healthy": {
        "beside-simple=nothing": -2.0, "beside-simple=part": -1.5, "beside-simple=most": -0.3,
        "beside-simple=beyond": 0.4, "val-beside-simple=nothing": -2.0, "val-beside-simple=part": -1.2,
        "val-beside-simple=beyond": 0.5, "train-skill=top": 0.8, "train-skill=good": 0.5,
        "train-skill=poor": -0.8, "train-skill=none": -1.8, "val-skill=top": 1.2, "val-skill=good": 0.8,
        "val-skill=poor": -0.8, "val-skill=none": -2.0, "loss-end=solved": 0.5, "loss-end=chance": -1.5,
        "loss-end=worse": -2.5, "loss-fall=rises": -1.5, "loss-fall=none": -1.0, "rate=far-high": -1.0,
        "rate=far-low": -1.0, "width=thread": -0.5, "updates-made=handful": -1.0, "dropout=extreme": -3.0,
        "dropout=high": -1.5, "weight-decay=extreme": -3.0, "weight-decay=high": -1.5, "width=thin": -0.2,
        "frozen=all": -3.0, "unreached=all": -2.5, "unreached=most": -1.5, "depth=very-deep": -0.5,
        "one-answer=one": -1.5, "clip=nothing-left": -1.5, "norm-momentum=still": -2.0,
        "probabilities=yes": -1.0, "masked=most": -1.5, "alike-units=most": -3.5,
        "start-low=nothing": -2.5, "start-high=huge": -2.0, "start-high=large": -1.0,
        "val-over-train=far-below": -1.2, "contradicted=some": -0.6, "contradicted=many": -0.8,
        "rounded-to=float16": -1.0, "val-last=beyond": -1.0, "majority=extreme": -0.8,
        "momentum=extreme": -1.0, "batch=tiny": -0.8, "targets-scale=huge": -0.8,
        "inputs-scale=huge": -0.8, "uncleared=always": -1.0, "optimizer=rprop": -1.0,
    },
}  # fmt: skip

# A grade that measures the same thing as a rule is not independent evidence: scale -> the rule whose group
# it joins (see `ranking.signs`).
SAME_AS: Mapping[str, str] = {
    "uncleared": "gradients-accumulate-across-steps",
    "probabilities": "probabilities-fed-to-cross-entropy", "eval-steps": "training-in-eval-mode",
    "train-evaluation": "evaluating-in-train-mode", "frozen": "parameters-frozen",
    "unheld": "parameters-missing-from-optimizer", "unreached": "graph-detached",
    "unmoved": "parameters-never-change", "purity": "batches-sorted-by-class", "repeats": "batch-repeats",
    "overlap": "train-and-validation-overlap", "majority": "classes-imbalanced",
    "class-weights": "classes-imbalanced", "inputs-scale": "inputs-not-normalized",
    "targets-scale": "targets-not-normalized", "dead-units": "relu-units-dead",
    "saturation": "activations-saturate", "clip": "clipping-always-active",
    "updates-size": "updates-too-small", "updates-first": "updates-too-large",
    "waiting": "step-waits-for-data", "step-growth": "step-time-creeps", "memory-growth": "memory-grows",
    "depth-slope": "gradients-vanish-with-depth", "dropout": "fact:high-dropout",
    "weight-decay": "fact:high-weight-decay", "momentum": "fact:high-momentum",
    "rate": "fact:lr-high-for-optimizer", "batch": "fact:small-batch", "batch-share": "fact:large-batch",
    "updates-made": "fact:few-updates", "loss-end": "loss-at-chance", "loss-fall": "loss-flat-from-start",
    "loss-broken": "loss-not-finite", "val-rise": "validation-gap-grows", "shuffle": "fact:shuffle-off",
    "precision": "fact:half-precision", "data-size": "fact:small-dataset",
    "memory": "fact:parameters-exceed-data", "val-shift": "validation-distribution-differs",
    "val-spread": "validation-distribution-differs", "val-still": "fact:answers-one-class",
    "masked": "targets-out-of-range", "outlier-share": "inputs-have-outliers",
    "reduction": "loss-does-not-fit-targets", "alike-units": "weights-start-badly-scaled",
    "start-low": "weights-start-badly-scaled", "start-high": "weights-start-badly-scaled",
    "lr-shape": "fact:no-warmup", "val-first": "fact:validation-bad-at-once",
    "depth": "deep-without-normalization", "loss-tail": "loss-still-falling-at-end",
    "beside-simple": "simple-model-does-better",
}  # fmt: skip
