"""Causes in the model: initialization, activations, depth, output and loss (numbers: see `optimization`)."""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="bad-initialization",
        title="The weights are badly initialized",
        family="model",
        prior=-3.4,
        page="""The initial weights are too large (activations grow layer by layer), too small (they
vanish) or equal (all units stay the same). Default initializations are too small for plain nets of ten
and more layers.

In a log: a first loss far above ln k, NaN within the first steps, or a loss that stays flat from the
start with a tiny gradient norm.

Mistaken for: a learning rate that is too high, saturated units, depth without skip connections, raw
inputs.

Settled by: He or Xavier initialization, with everything else equal.""",
        weights={
            "predictions-collapse": W(0.8), "loss-stands-at-saddle": W(1.0),
            "loss-flat-from-start": W(0.8, -0.4), "loss-flat-from-start:norm-tiny": W(1.2),
            "loss-flat-from-start:norm-healthy": W(-0.8), "loss-flat-from-start:above-chance": W(0.4),
            "loss-flat-from-start:never-moved": W(0.5), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.5), "loss-plateaus:norm-tiny": W(0.8), "loss-not-finite": W(0.3),
            "loss-not-finite:early": W(1.9), "loss-not-finite:from-start": W(0.9),
            "loss-not-finite:norm-grew-before": W(0.8), "loss-not-finite:late": W(-2.5),
            "loss-diverges:from-start": W(0.8), "loss-diverges:late": W(-1.5),
            "gradient-norm-vanishes": W(1.2, -0.2), "gradients-vanish-with-depth": W(1.0, -0.3),
            "gradient-norm-explodes": W(0.6), "weights-start-badly-scaled": W(5.0, -2.5),
            "validation-gap-grows": W(-1.5), "fact:starts-above-chance": W(1.8, -0.6),
            "fact:finetuning": W(-1.5), "input-has-no-effect": W(1.0),
            "activations-collapse:from-start": W(0.8), "activations-collapse:later": W(0.5),
            "relu-units-dead:from-start": W(0.6), "relu-units-dead:later": W(0.5),
            "updates-too-large:first-steps": W(0.6), "weights-grow-unbounded": W(0.5),
            "gradients-imbalanced": W(0.5), "updates-too-small:in-part": W(0.8),
            "activations-not-finite": W(0.6), "gradient-not-finite": W(0.5),
            "inputs-not-normalized": W(-2.0), "targets-not-normalized": W(-2.0),
            "losses-stay-high": W(0.5), "deep-without-normalization": W(0.5),
        },
        settles=(
            ("scale of the weights and activations at step 0", "traindx check -- python train.py"),
            ("the first loss compared with ln(classes)", "--fact classes=10"),
        ),
    ),
    Cause(
        slug="saturating-activations",
        title="The activations saturate",
        family="model",
        prior=-4.2,
        page="""Sigmoid and tanh are flat beyond about 3. Units in that range pass almost no gradient,
and every such layer multiplies the loss of gradient.

In a log: flat from the start, or an early plateau, with a tiny gradient norm.

Mistaken for: bad initialization, raw inputs (which saturate the first layer), plain depth.

Settled by: ReLU or GELU in place of sigmoid and tanh, or normalized inputs. The one that helps shows the
root.""",
        weights={
            "predictions-collapse": W(0.8), "loss-stands-at-saddle": W(0.8),
            "loss-flat-from-start": W(0.7, -0.4), "loss-flat-from-start:norm-tiny": W(1.6),
            "loss-flat-from-start:norm-healthy": W(-1.4), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.7), "loss-plateaus": W(0.2), "loss-plateaus:norm-tiny": W(2.0),
            "loss-plateaus:norm-healthy": W(-1.2), "loss-falls-slowly:norm-tiny": W(1.4),
            "gradient-norm-vanishes": W(2.2, -0.6), "gradients-vanish-with-depth": W(2.0, -1.0),
            "activations-saturate": W(3.5, -0.8), "deep-saturating-activations": W(4.5, -1.2),
            "loss-diverges": W(-1.5), "loss-not-finite": W(-1.8), "validation-gap-grows": W(-1.5),
            "gradient-norm-explodes": W(-2.0), "fact:finetuning": W(-1.0), "activations-collapse": W(0.6),
            "input-has-no-effect": W(0.6), "updates-too-small:in-part": W(1.0),
            "gradients-imbalanced": W(0.8), "deep-without-normalization": W(0.5),
            "losses-stay-high": W(0.5), "weights-start-badly-scaled": W(-1.5), "loss-oscillates": W(0.3),
            "inputs-not-normalized": W(-1.5), "updates-too-large:first-steps": W(-3.0),
        },
        settles=(("share of saturated units by layer", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="deep-without-skip-or-norm",
        title="A deep net without skip connections or normalization",
        family="model",
        prior=-4.2,
        page="""In a plain stack every layer scales the signal a little. After ten and more layers it has
vanished or exploded, although no single unit is saturated.

In a log: flat from the start with a tiny global norm. The gradients of the first layers are a thousandth
of those of the last.

Mistaken for: bad initialization (a better one also cures moderate depth), saturation.

Settled by: adding normalization or skip connections.""",
        weights={
            "predictions-collapse": W(0.8), "loss-stands-at-saddle": W(1.0),
            "loss-flat-from-start": W(0.7, -0.4), "loss-flat-from-start:norm-tiny": W(1.5),
            "loss-flat-from-start:norm-healthy": W(-1.4), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.7), "loss-plateaus": W(0.2), "loss-plateaus:norm-tiny": W(1.9),
            "loss-plateaus:norm-healthy": W(-1.2), "loss-falls-slowly:norm-tiny": W(1.3),
            "gradient-norm-vanishes": W(2.1, -0.6), "gradients-vanish-with-depth": W(2.2, -1.2),
            "deep-without-normalization": W(3.0, -2.5), "activations-saturate": W(-0.5),
            "loss-not-finite:late": W(-1.5), "validation-gap-grows": W(-1.5), "fact:finetuning": W(-1.0),
            "deep-saturating-activations": W(-1.5), "updates-too-small:in-part": W(1.0),
            "gradients-imbalanced": W(0.8), "weights-start-badly-scaled": W(-1.5),
            "relu-units-dead": W(0.6), "activations-collapse": W(0.5), "losses-stay-high": W(0.5),
        },
        settles=(("gradient norm of every layer", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="dead-relus",
        title="Many ReLU units are dead",
        family="model",
        prior=-4.2,
        page="""A ReLU whose input is negative for every sample has gradient zero and never recovers. A
large step or a very negative bias can silence a whole layer.

In a log: a plateau right after a spike, a loss that levels off high, or a flat loss from the start with
zero gradients.

Mistaken for: too little capacity, bad initialization.

Settled by: the share of units that are zero on all data (30 to 50 % is too many). LeakyReLU helps, or a
lower rate when the units die after a large step.""",
        weights={
            "predictions-collapse": W(0.9), "relu-units-dead": W(3.6, -2.5), "gradient-is-zero": W(1.3),
            "gradient-norm-vanishes": W(0.9), "loss-plateaus": W(0.3), "loss-plateaus:norm-tiny": W(1.0),
            "loss-plateaus:high": W(0.3), "loss-flat-from-start": W(0.6),
            "loss-flat-from-start:norm-tiny": W(0.8), "loss-flat-from-start:never-moved": W(0.6),
            "loss-at-chance": W(0.7), "loss-spikes-then-fails": W(0.6), "loss-diverges:sudden": W(0.6),
            "gradient-norm-vanishes:later": W(0.5), "activations-collapse": W(1.5),
            "fact:answers-one-class": W(0.6), "loss-not-finite": W(-2.0), "validation-gap-grows": W(-1.0),
            "weights-start-badly-scaled": W(-4.0), "updates-too-large": W(-1.5),
            "inputs-not-normalized": W(-2.0), "weights-grow-unbounded": W(-1.5),
            "inputs-have-outliers": W(-1.5), "relu-units-dead:from-start": W(1.0),
            "input-has-no-effect": W(0.5), "losses-stay-high": W(0.5), "loss-repeats-each-epoch": W(-1.0),
            "batches-sorted-by-class": W(-2.0),
        },
        settles=(("share of units that are zero on all data", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="exploding-recurrence",
        title="Gradients explode in the recurrent layers",
        family="model",
        prior=-4.6,
        page="""Backpropagation through time multiplies by the same matrix at every step. On long
sequences, rare batches give gradients hundreds of times larger than usual.

In a log: bursts of the gradient norm, each followed by a loss spike, and finally NaN.

Mistaken for: a learning rate that is too high, corrupt samples.

Settled by: clipping the norm at 1.0 with the same rate.""",
        weights={
            "gradient-norm-spikes": W(1.5, -0.4), "gradient-norm-explodes": W(1.6, -0.6),
            "loss-spikes-recur": W(0.6), "gradient-norm-spikes:loss-answers": W(0.6),
            "loss-not-finite": W(0.6), "loss-not-finite:norm-grew-before": W(1.3),
            "loss-not-finite:norm-normal-before": W(-1.5), "loss-not-finite:late": W(0.4),
            "loss-spikes-then-fails": W(0.6), "loss-diverges:sudden": W(0.4),
            "fact:recurrent-model": W(2.4, -3.0), "fact:clip-set": W(-1.2, 0.5), "updates-too-large": W(0.8),
            "predictions-collapse": W(0.5), "learning-rate-never-warms-up": W(0.5),
            "activations-collapse": W(0.5), "loss-at-chance": W(0.5), "losses-stay-high": W(0.5),
        },
        settles=(
            ("what kind of model it is", "--fact model=lstm"),
        ),
    ),
    Cause(
        slug="stale-normalization-statistics",
        title="Batch-norm statistics do not fit the data",
        family="model",
        prior=-3.9,
        page="""Evaluation uses running averages. With tiny batches, a wrong momentum or frozen layers,
they differ much from the statistics seen in training.

In a log: training is fine; validation is very bad or erratic from the first evaluation on.

Mistaken for: overfitting (which starts later), validation data prepared differently.

Settled by: evaluating with batch statistics, or comparing the loss of one batch in train mode and in
eval mode.""",
        weights={
            "validation-gap-grows": W(0.1), "fact:validation-never-improves": W(2.8, -1.2),
            "fact:validation-bad-at-once": W(2.5), "metric-contradicts-loss": W(0.2),
            "fact:small-batch": W(1.4, -0.4), "loss-not-finite": W(-1.0),
            "validation-beats-training": W(-1.0), "losses-stay-high": W(-0.6),
        },
        settles=(
            ("loss of the same batch in train mode and in eval mode", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="wrong-output-activation",
        title="The output activation does not fit the targets",
        family="model",
        prior=-3.9,
        page="""The last layer cannot produce the targets: ReLU before signed targets, sigmoid before
values above 1, softmax over a single unit.

In a log: the loss levels off at the variance of the targets that cannot be reached, or never moves.

Mistaken for: too little capacity, a loss that does not fit the task.

Settled by: comparing the range of the outputs with that of the targets; removing the last activation.""",
        weights={
            "program-shows-mistake:softmax-of-one-output": W(7.0),
            "output-cannot-reach-targets": W(5.5, -2.0), "loss-plateaus": W(0.3),
            "loss-plateaus:high": W(0.6), "losses-stay-high": W(0.9, -0.3),
            "loss-flat-from-start": W(0.5), "loss-flat-from-start:above-chance": W(0.4),
            "loss-flat-from-start:never-moved": W(1.2), "metric-contradicts-loss": W(0.5),
            "gradient-is-zero": W(0.8), "loss-not-finite": W(-1.0), "fact:clamped-loss": W(0.6),
            "fact:outputs-out-of-range": W(6.5),
            "validation-gap-grows": W(-1.5), "activations-collapse": W(0.8),
            "input-has-no-effect": W(0.8), "activations-saturate": W(0.6),
            "updates-too-large:first-steps": W(0.5), "loss-at-chance": W(0.5),
            "scores-fed-to-nll-loss:other-dimension": W(5.5, 0.0, "theory"),
        },
        settles=(("range of the outputs and of the targets", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="double-softmax",
        title="Softmax or sigmoid is applied twice",
        family="model",
        prior=-4.2,
        page="""The model ends in softmax and the cross-entropy applies another. The second one gets
numbers between 0 and 1, so even a perfect model cannot get below ln(1 + (k-1)/e): 1.461 for 10 classes.

In a log: slow learning, and a loss that levels off at exactly that value while the accuracy is good.

Mistaken for: too little capacity, another wrong output activation.

Settled by: inputs of the cross-entropy that are >= 0 and sum to 1. Feeding logits cures it.""",
        weights={
            "program-shows-mistake:softmax-before-cross-entropy": W(6.5),
            "program-shows-mistake:sigmoid-before-logits-loss": W(6.5),
            "probabilities-fed-to-cross-entropy": W(6.5, -3.0, "theory"), "loss-plateaus": W(0.3),
            "loss-plateaus:high": W(0.3), "loss-plateaus:metric-good": W(0.8),
            "losses-stay-high": W(0.6, -0.2), "loss-falls-slowly": W(0.4),
            "loss-near-zero-early": W(-4.0, 0.0, "theory"), "loss-not-finite": W(-1.5),
            "loss-diverges": W(-1.5), "validation-gap-grows": W(-1.5),
            "fact:double-softmax-floor": W(4.0, -2.0, "theory"),
        },
        settles=(
            ("the number of classes, for the floor ln(1+(k-1)/e)", "--fact classes=10"),
            ("whether the outputs of a batch sum to 1", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="wrong-loss",
        title="The loss does not fit the task",
        family="model",
        prior=-3.8,
        page="""Minimizing this loss does not make the model good: a squared error on class indices,
binary cross-entropy on exclusive classes, cross-entropy on real values, a broadcast between (n, 1) and
(n), or a mean that counts padding. In reinforcement learning and preference tuning: a wrong sign, a reward
that is always the same, a reference that is the model itself.

In a log: the loss falls and the metric stays at chance, or the two move apart.

Mistaken for: a wrong output activation, overconfidence of an overfitted model (there the metric is
good).

Settled by: the loss for the type of the targets.""",
        weights={
            "program-shows-mistake:binary-loss-for-classes": W(5.0),
            "metric-constant-or-impossible": W(0.6), "loss-does-not-fit-targets": W(5.5, -1.5),
            "metric-contradicts-loss": W(1.8, -0.3),
            "probabilities-fed-to-cross-entropy:no-logarithm": W(4.0),
            "scores-fed-to-nll-loss:scores": W(5.5, 0.0, "theory"),
            "metric-contradicts-loss:overconfidence": W(-1.8), "losses-stay-high": W(0.5),
            "loss-at-chance": W(0.2), "loss-plateaus:metric-good": W(-0.8), "loss-not-finite": W(-0.6),
            "labels-ill-formed:padding": W(5.0), "validation-gap-grows": W(-1.0), "fact:rewards-logged": W(-1.5),
            "graph-detached:all-zero": W(3.0), "targets-out-of-range:beyond-outputs": W(2.0),
            "targets-out-of-range:not-a-probability": W(4.0), "loss-flat-from-start": W(0.5),
            "activations-collapse": W(0.5), "loss-plateaus": W(0.5),
            "rewards-fall-by-small-steps": W(7.0), "rewards-do-not-differ": W(7.0), "policy-stops-exploring": W(0.5),
            "preferences-turn-around:train": W(5.0), "preferences-turn-around": W(1.0),
            "reference-moves-along": W(7.0), "opponents-do-not-compete": W(6.0),
            "opponents-do-not-compete:fooled": W(-5.5), "opponents-do-not-compete:apart": W(-5.0),
        },
        settles=(
            ("an accuracy or error next to the loss", "log train/accuracy and val/accuracy"),
            ("type of the targets and of the loss", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="missing-causal-mask",
        title="The model sees the tokens that it should predict",
        family="model",
        prior=-5.2,
        page="""Without a causal mask, with a mask that is off by one, or with a bidirectional layer, the
model copies the next token instead of predicting it.

In a log: the loss becomes better than the text allows, on validation data too. Generated text is poor.

Mistaken for: a good model; validation data that the model was trained on (then generated text is good).

Settled by: whether a change of the last token changes earlier outputs.""",
        weights={"future-leaks-into-output": W(7.0, -4.0), "loss-near-zero-early": W(0.3)},
        settles=(("whether outputs depend on later tokens", "traindx run -- python train.py"),),
    ),
)  # fmt: skip
