"""Causes in the code of the training loop (where the numbers come from: see `optimization`).

Most of them leave only faint traces in a log. A recording shows them with certainty, so the weights of
the structural rules are large.
"""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="missing-zero-grad",
        title="Gradients are not zeroed between steps",
        family="loop",
        prior=-4.0,
        page="""Without zero_grad every step adds its gradient to all earlier ones, like momentum without
decay.

In a log: a gradient norm that grows step by step, growing oscillations, divergence. With a small rate it
may look fine.

Mistaken for: too much momentum, a learning rate that is too high.

Settled by: whether gradients are non-zero when backward begins.""",
        weights={
            "program-shows-mistake:gradients-not-cleared": W(6.5),
            "gradients-accumulate-across-steps": W(6.5, -3.5, "theory"),
            "gradient-norm-grows": W(1.8, -0.6), "gradient-norm-explodes": W(0.9),
            "loss-oscillates": W(0.4), "loss-oscillates:growing": W(0.9), "loss-diverges": W(0.8, -0.2),
            "loss-diverges:gradual": W(0.9), "loss-not-finite:norm-grew-before": W(0.5),
            "gradient-norm-vanishes": W(-1.5), "validation-gap-grows": W(0.5),
            "weights-grow-unbounded": W(1.0), "relu-units-dead:later": W(0.6),
            "activations-collapse:later": W(0.6), "losses-stay-high": W(0.5), "loss-at-chance": W(0.5),
            "gradient-norm-spikes": W(0.5), "updates-too-large": W(0.6),
            "loss-spikes-and-recovers": W(0.3),
        },
        settles=(("whether gradients are zero when backward begins", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="detached-graph",
        title="Part of the model is cut off from the gradient",
        family="loop",
        prior=-4.2,
        page="""A detach, .item(), .data, NumPy round trip, rounding or argmax in the forward pass blocks
the gradient of everything before it.

In a log: a loss that levels off high. If the cut is at the end, a flat loss with a zero gradient norm.

Mistaken for: frozen parameters, too little capacity.

Settled by: parameters of the optimizer whose gradient is None or zero upstream of one place.""",
        weights={
            "program-shows-mistake:loss-made-anew": W(7.0),
            "graph-detached": W(6.5, -3.5, "theory"), "fact:no-graph": W(7.0, 0.0, "theory"),
            "gradient-is-zero": W(1.8), "gradient-norm-vanishes": W(0.5), "loss-plateaus": W(0.2),
            "loss-plateaus:high": W(0.5), "losses-stay-high": W(0.5, -0.2),
            "loss-flat-from-start": W(0.6, -0.2), "loss-flat-from-start:norm-tiny": W(0.6),
            "loss-flat-from-start:never-moved": W(0.6), "loss-at-chance": W(0.4),
            "loss-not-finite": W(-2.0), "loss-flat-from-start:lr-zero": W(-3.0), "loss-diverges": W(-2.0),
            "graph-detached:all-zero": W(-2.0), "relu-units-dead:from-start": W(0.5),
        },
        settles=(("which parameters get a gradient", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="frozen-parameters",
        title="Parameters that should train are frozen",
        family="loop",
        prior=-3.9,
        page="""requires_grad is off (or the layer is not trainable) for parts that were never trained. A
frozen pretrained base is not a fault.

In a log: a loss that falls slowly and levels off high on both sets, or stays flat when the head is
frozen too.

Mistaken for: a detached graph, too little capacity.

Settled by: the list of trainable parameters.""",
        weights={
            "program-shows-mistake:all-layers-frozen": W(6.0),
            "parameters-frozen": W(4.5, -2.5), "parameters-frozen:random": W(4.0), "updates-too-small": W(0.5),
            "parameters-never-change": W(2.5, -1.0), "loss-plateaus:high": W(0.5),
            "losses-stay-high": W(0.7, -0.2), "loss-flat-from-start": W(0.7, -0.2),
            "loss-flat-from-start:never-moved": W(0.6), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.4), "loss-falls-slowly": W(0.2), "loss-not-finite": W(-2.5),
            "loss-diverges": W(-2.5), "validation-gap-grows": W(-1.0), "fact:finetuning": W(0.3),
            "fact:no-graph": W(5.0),
        },
        settles=(("the list of trainable parameters", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="params-not-in-optimizer",
        title="The optimizer does not hold all model parameters",
        family="loop",
        prior=-4.2,
        page="""The optimizer was built before the model was replaced or extended, for another model, or
for only a part of it.

In a log: a loss that varies around its first value (or falls slowly with one layer learning) while the
gradient norm is healthy.

Mistaken for: a learning rate that is too low, frozen parameters.

Settled by: comparing the parameters of the optimizer with those of the model.""",
        weights={
            "parameters-missing-from-optimizer": W(6.0, -3.5, "theory"), "updates-too-small": W(0.5),
            "parameters-never-change": W(2.5, -1.0), "loss-flat-from-start": W(0.9, -0.3),
            "loss-flat-from-start:norm-healthy": W(0.9), "loss-flat-from-start:norm-tiny": W(-1.0),
            "loss-flat-from-start:never-moved": W(0.6), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.5), "losses-stay-high": W(0.6), "loss-plateaus:high": W(0.2),
            "loss-not-finite": W(-2.5), "loss-diverges": W(-2.5),
            "parameters-missing-from-optimizer:strangers": W(1.0),
        },
        settles=(("the parameters of the optimizer and of the model", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="missing-optimizer-step",
        title="The optimizer never steps",
        family="loop",
        prior=-4.2,
        page="""backward is called but step is not, or only under a condition that is never true, or
every step is skipped or comes after zero_grad, without gradients.

In a log: a loss that is flat apart from batch noise, and constant where the batch is constant.

Mistaken for: a learning rate that is too low, or zero (see the logged rate).

Settled by: whether any weight changes over a step.""",
        weights={
            "program-shows-mistake:cleared-before-step": W(7.0), "program-shows-mistake:never-steps": W(7.0),
            "opponents-do-not-compete:fooled": W(5.0),
            "optimizer-never-steps": W(6.5, -3.5, "theory"), "parameters-never-change": W(3.0, -2.0),
            "loss-flat-from-start": W(1.1, -0.6), "loss-flat-from-start:norm-healthy": W(1.0),
            "loss-flat-from-start:norm-tiny": W(-0.8), "loss-flat-from-start:never-moved": W(1.6),
            "loss-flat-from-start:lr-zero": W(-2.0), "loss-at-chance": W(0.4),
            "steps-skipped-often": W(0.8), "loss-falls-slowly": W(-2.0), "loss-not-finite": W(-3.0),
            "loss-diverges": W(-3.0), "loss-still-falling-at-end": W(-2.5),
            "validation-gap-grows": W(-3.0), "losses-stay-high": W(0.5),
        },
        settles=(("whether any weight changes over a step", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="eval-mode-training",
        title="The model trains in eval mode",
        family="loop",
        prior=-4.6,
        page="""An evaluation called eval() and nothing called train() again, so dropout is off and batch
statistics are frozen.

In a log: training looks better than usual after the first evaluation, and validation overfits. Some nets
stop learning.

Mistaken for: overfitting from too little regularization. With batch norm alone it is often harmless.

Settled by: the mode of the model during backward.""",
        weights={
            "training-in-eval-mode": W(6.5, -3.5, "theory"), "validation-gap-grows": W(0.5, -0.2),
            "loss-plateaus:high": W(0.2), "validation-beats-training": W(-1.0),
            "loss-not-finite": W(-1.0),
        },
        settles=(("the mode of the model during backward", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="train-mode-evaluation",
        title="The model is evaluated in train mode",
        family="loop",
        prior=-3.9,
        page="""Dropout stays active during evaluation, and validation data change the batch-norm
statistics.

In a log: validation a few points worse and noisier than it should be, from the first evaluation on. Two
evaluations of one checkpoint differ.

Mistaken for: overfitting.

Settled by: the mode of the model during evaluation, and evaluating twice.""",
        weights={
            "program-shows-mistake:evaluates-in-train-mode": W(5.5),
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
        page="""Gradients of n batches are summed and not divided by n, so the effective rate is n times
the one set.

In a log: the same as for a learning rate that is too high by that factor, and a logged loss n times too large.

Mistaken for: a learning rate that is too high.

Settled by: a gradient norm that grows with the number of backward passes per step.""",
        weights={
            "loss-not-scaled-for-accumulation": W(6.5, -3.5, "theory"),
            "fact:accumulates-gradients": W(1.8, -3.5), "fact:accumulation-scaled": W(3.0),
            "loss-diverges": W(0.5), "loss-oscillates": W(0.4), "gradient-norm-explodes": W(0.6),
            "fact:starts-above-chance": W(0.4), "loss-falls-slowly": W(-0.8), "updates-too-large": W(0.8),
            "relu-units-dead:later": W(0.6), "weights-grow-unbounded": W(0.8),
            "activations-collapse:later": W(0.5),
        },
        settles=(("over how many batches gradients are accumulated", "--fact accumulation=1"),),
    ),
    Cause(
        slug="repeated-batch",
        title="The same batch is repeated",
        family="loop",
        prior=-4.6,
        page="""The run sees only one batch: next(iter(loader)) inside the loop, a cached batch, or a
debugging limit left in.

In a log: the training loss is near zero very soon, and validation stays poor.

Mistaken for: overfitting, too little data.

Settled by: comparing hashes of the inputs of consecutive steps.""",
        weights={
            "batch-repeats": W(6.5, -3.0, "theory"), "loss-near-zero-early": W(1.6, -0.4),
            "validation-gap-grows": W(0.5), "fact:validation-never-improves": W(0.4),
            "losses-stay-high": W(-2.0), "loss-flat-from-start": W(-1.5), "loss-oscillates": W(-0.8),
            "loss-not-finite": W(-1.5), "fact:rewards-logged": W(-2.0),
        },
        settles=(("whether the inputs of consecutive steps differ", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="resume-without-state",
        title="The run was resumed without its state",
        family="loop",
        prior=-4.0,
        page="""The weights were restored, but optimizer moments, schedule, loss scale or data order were
not.

In a log: a jump of the loss right after the resume that recovers slowly, or a learning rate that starts
over.

Mistaken for: a loss spike.

Settled by: the optimizer state at the first step after the resume.""",
        weights={
            "checkpoint-restored-in-part": W(6.0, -2.5), "fact:resumed": W(0.8),
            "learning-rate-jumps": W(0.4), "loss-jumps-on-resume": W(4.6, -2.2),
            "loss-jumps-on-resume:up": W(0.6), "loss-jumps-on-resume:down": W(-1.5),
            "loss-spikes-and-recovers": W(0.1),
        },
        settles=(("whether optimizer and schedule were restored", "log lr and the optimizer's step count"),),
    ),
)  # fmt: skip
