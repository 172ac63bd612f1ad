"""Causes that lie in the training loop's code (basis of the numbers: see `optimization`).

Most of them leave only faint traces in a log; capture sees them with certainty, so the weights of the
structural rules are large.
"""

from __future__ import annotations

from traindx.vocabulary.cause import Cause
from traindx.vocabulary.cause import Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="missing-zero-grad",
        title="Gradients are not zeroed between steps",
        family="loop",
        prior=-4.0,
        page="""Without zero_grad every step adds its gradient to all earlier ones: momentum that never forgets.

In a log: a gradient norm that grows step by step, widening swings, divergence; with a small rate it may look fine.

Mistaken for: too much momentum, a learning rate that is too high.

Settled by: whether gradients are non-zero when backward begins.""",
        weights={
            "gradients-accumulate-across-steps": W(6.5, -3.5, "theory"), "gradient-norm-grows": W(1.8, -0.6),
            "gradient-norm-explodes": W(0.9), "loss-oscillates": W(0.4), "loss-oscillates:growing": W(0.9),
            "loss-diverges": W(0.8, -0.2), "loss-diverges:gradual": W(0.9), "loss-not-finite:norm-grew-before": W(0.5),
            "gradient-norm-vanishes": W(-1.5), "validation-gap-grows": W(0.5), "weights-grow-unbounded": W(1.0),
            "relu-units-dead:later": W(0.6), "activations-collapse:later": W(0.6), "losses-stay-high": W(0.5),
            "loss-at-chance": W(0.5), "gradient-norm-spikes": W(0.5), "updates-too-large": W(0.6),
            "loss-spikes-and-recovers": W(0.3),
        },
        settles=(("whether gradients are zero when backward begins", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="detached-graph",
        title="Part of the model is cut from the gradient",
        family="loop",
        prior=-4.2,
        page="""A detach, .item(), .data, numpy round trip, rounding or argmax in the forward pass: everything before
it gets no gradient.

In a log: a poor floor; if the cut is at the end, a flat loss with a zero norm.

Mistaken for: frozen parameters, too little capacity.

Settled by: parameters of the optimizer whose gradient is None or zero upstream of one place.""",
        weights={
            "graph-detached": W(6.5, -3.5, "theory"), "fact:no-graph": W(7.0, 0.0, "theory"),
            "gradient-is-zero": W(1.8), "gradient-norm-vanishes": W(0.5),
            "loss-plateaus": W(0.2), "loss-plateaus:high": W(0.5), "losses-stay-high": W(0.5, -0.2),
            "loss-flat-from-start": W(0.6, -0.2), "loss-flat-from-start:norm-tiny": W(0.6),
            "loss-flat-from-start:never-moved": W(0.6), "loss-at-chance": W(0.4), "loss-not-finite": W(-2.0),
            "loss-flat-from-start:lr-zero": W(-3.0), "loss-diverges": W(-2.0), "graph-detached:all-zero": W(-2.0),
            "relu-units-dead:from-start": W(0.5),
        },
        settles=(("which parameters get a gradient", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="frozen-parameters",
        title="Parameters are frozen that should learn",
        family="loop",
        prior=-3.9,
        page="""requires_grad is off (or the layer not trainable) on parts that were never trained. A frozen pretrained
base is not a fault.

In a log: slow, a poor floor on both sets, or flatness when the head is frozen too.

Mistaken for: a cut graph, too little capacity.

Settled by: the list of trainable parameters.""",
        weights={
            "parameters-frozen": W(4.5, -2.5), "updates-too-small": W(0.5), "parameters-never-change": W(2.5, -1.0),
            "loss-plateaus:high": W(0.5),
            "losses-stay-high": W(0.7, -0.2), "loss-flat-from-start": W(0.7, -0.2),
            "loss-flat-from-start:never-moved": W(0.6), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.4), "loss-falls-slowly": W(0.2), "loss-not-finite": W(-2.5), "loss-diverges": W(-2.5),
            "validation-gap-grows": W(-1.0), "fact:finetuning": W(0.3), "fact:no-graph": W(5.0),
        },
        settles=(("the list of trainable parameters", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="params-not-in-optimizer",
        title="The optimizer does not hold the model's parameters",
        family="loop",
        prior=-4.2,
        page="""The optimizer was built before the model was replaced or extended, on another model, or on a part of
it.

In a log: a loss that wanders around its first value (or a slow fall with one layer learning) while the gradient
norm is healthy.

Mistaken for: a learning rate that is too low, frozen parameters.

Settled by: the parameters of the optimizer against those of the model.""",
        weights={
            "parameters-missing-from-optimizer": W(6.0, -3.5, "theory"), "updates-too-small": W(0.5),
            "parameters-never-change": W(2.5, -1.0),
            "loss-flat-from-start": W(0.9, -0.3), "loss-flat-from-start:norm-healthy": W(0.9),
            "loss-flat-from-start:norm-tiny": W(-1.0), "loss-flat-from-start:never-moved": W(0.6),
            "loss-flat-from-start:lr-zero": W(-3.0), "loss-at-chance": W(0.5), "losses-stay-high": W(0.6),
            "loss-plateaus:high": W(0.2), "loss-not-finite": W(-2.5), "loss-diverges": W(-2.5),
            "parameters-missing-from-optimizer:strangers": W(1.0),
        },
        settles=(("parameters of the optimizer against the model's", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="missing-optimizer-step",
        title="The optimizer never steps",
        family="loop",
        prior=-4.2,
        page="""backward is called, step is not (or only under a condition that never holds, or every step is skipped).

In a log: exactly flat apart from the noise of the batches; constant where the batch is constant.

Mistaken for: a learning rate that is too low, or zero (see the lr column).

Settled by: whether any weight changes over a step.""",
        weights={
            "optimizer-never-steps": W(6.5, -3.5, "theory"), "parameters-never-change": W(3.0, -2.0),
            "loss-flat-from-start": W(1.1, -0.6), "loss-flat-from-start:norm-healthy": W(1.0),
            "loss-flat-from-start:norm-tiny": W(-0.8), "loss-flat-from-start:never-moved": W(1.6),
            "loss-flat-from-start:lr-zero": W(-2.0), "loss-at-chance": W(0.4), "steps-skipped-often": W(0.8),
            "loss-falls-slowly": W(-2.0), "loss-not-finite": W(-3.0), "loss-diverges": W(-3.0),
            "loss-still-falling-at-end": W(-2.5), "validation-gap-grows": W(-3.0), "losses-stay-high": W(0.5),
        },
        settles=(("whether any weight changes over a step", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="eval-mode-training",
        title="The model trains in eval mode",
        family="loop",
        prior=-4.6,
        page="""An evaluation called eval() and nobody called train() again: dropout is off, batch statistics are
frozen.

In a log: training looks better than usual after the first evaluation, validation overfits; some nets stall.

Mistaken for: overfitting for lack of regularization. With batch norm alone it is often harmless.

Settled by: the mode during backward.""",
        weights={
            "training-in-eval-mode": W(6.5, -3.5, "theory"), "validation-gap-grows": W(0.5, -0.2),
            "loss-plateaus:high": W(0.2), "validation-beats-training": W(-1.0), "loss-not-finite": W(-1.0),
        },
        settles=(("the mode of the model during backward", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="train-mode-evaluation",
        title="The model is evaluated in train mode",
        family="loop",
        prior=-3.9,
        page="""Dropout stays active during evaluation, and batch-norm statistics are moved by validation data.

In a log: validation a few points worse and noisier than it should be, from the first evaluation on; two evaluations
of one checkpoint differ.

Mistaken for: overfitting.

Settled by: the mode under evaluation; evaluating twice.""",
        weights={
            "evaluating-in-train-mode": W(6.5, -3.5, "theory"), "validation-gap-grows": W(0.2, -0.4),
            "fact:validation-never-improves": W(1.6, -0.4), "validation-beats-training": W(-1.5),
            "run-not-reproducible": W(0.3), "loss-not-finite": W(-1.0),
        },
        settles=(("whether two evaluations of one checkpoint agree", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="unscaled-grad-accumulation",
        title="Accumulated gradients are not averaged",
        family="loop",
        prior=-4.4,
        page="""Gradients of n batches are summed and not divided by n: the effective rate is n times the one asked
for.

In a log: what a learning rate too high by that factor looks like; a logged loss n times too large.

Mistaken for: a learning rate that is too high.

Settled by: the norm growing with the number of backward passes per step.""",
        weights={
            "loss-not-scaled-for-accumulation": W(6.5, -3.5, "theory"), "fact:accumulates-gradients": W(1.8, -3.5),
            "fact:accumulation-scaled": W(3.0), "loss-diverges": W(0.5), "loss-oscillates": W(0.4),
            "gradient-norm-explodes": W(0.6), "fact:starts-above-chance": W(0.4), "loss-falls-slowly": W(-0.8),
            "updates-too-large": W(0.8), "relu-units-dead:later": W(0.6), "weights-grow-unbounded": W(0.8),
            "activations-collapse:later": W(0.5),
        },
        settles=(("over how many batches gradients are accumulated", "--fact accumulation=1"),),
    ),
    Cause(
        slug="repeated-batch",
        title="The same batch comes again and again",
        family="loop",
        prior=-4.6,
        page="""next(iter(loader)) inside the loop, a cached batch, a debugging limit left in: the run sees one batch.

In a log: the training loss is near zero in no time, validation stays poor.

Mistaken for: overfitting, too few data.

Settled by: the hash of the inputs of consecutive steps.""",
        weights={
            "batch-repeats": W(6.5, -3.0, "theory"), "loss-near-zero-early": W(1.6, -0.4),
            "validation-gap-grows": W(0.5), "fact:validation-never-improves": W(0.4), "losses-stay-high": W(-2.0),
            "loss-flat-from-start": W(-1.5), "loss-oscillates": W(-0.8), "loss-not-finite": W(-1.5),
            "fact:rewards-logged": W(-2.0),
        },
        settles=(("whether the inputs of consecutive steps differ", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="resume-without-state",
        title="The run was resumed without its state",
        family="loop",
        prior=-4.0,
        page="""Weights were restored; optimizer moments, schedule, loss scale or the data order were not.

In a log: a bump right after the resume that heals slowly, a learning rate that starts over.

Mistaken for: a loss spike.

Settled by: optimizer state at the first step after the resume.""",
        weights={
            "checkpoint-restored-in-part": W(6.0, -2.5), "fact:resumed": W(0.8), "learning-rate-jumps": W(0.4),
            "loss-jumps-on-resume": W(4.6, -2.2), "loss-jumps-on-resume:up": W(0.6),
            "loss-jumps-on-resume:down": W(-1.5), "loss-spikes-and-recovers": W(0.1),
        },
        settles=(("whether optimizer and schedule were restored", "log lr and the optimizer's step count"),),
    ),
)  # fmt: skip
