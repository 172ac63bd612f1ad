"""Causes in the settings of the optimizer: rate, schedule, momentum, batch size, budget.

Priors are log-odds relative to a healthy run (0). Priors and weights were set by hand, in the
order in which help threads and studies of deep-learning faults report them (such as
https://arxiv.org/abs/1910.11015). The fitted weights in `data/weights.json` are added to them.
"""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="learning-rate-too-high",
        title="The learning rate is too high",
        family="optimization",
        prior=-1.8,
        page="""Each update overshoots: the step is longer than the distance over which the gradient
holds. For SGD the limit is about 2 / (largest curvature). Adam reaches it first in its first steps.

In a log: the loss jumps or rises within the first tens of steps, oscillates without getting lower,
levels off above where it began, or becomes NaN after the gradient norm grew. Seeds disagree with each
other.

Mistaken for: bad initialization or raw inputs (both raise the loss before the first update), too much
momentum (slow oscillations), a missing warm-up (only the first percent of the run is bad), a batch that
is too small.

Settled by: a tenth of the rate for a hundred steps. If the loss then falls at once, it was the rate. If
scaling the inputs at the old rate cures it too, the inputs are the root.""",
        weights={
            "metric-constant-or-impossible": W(0.5), "predictions-collapse": W(0.6),
            "curvature-beyond-stability": W(2.0), "loss-not-finite": W(1.8, -0.3),
            "loss-not-finite:early": W(1.2), "loss-not-finite:late": W(-0.3),
            "loss-not-finite:norm-grew-before": W(1.2), "loss-not-finite:norm-normal-before": W(-1.6),
            "loss-not-finite:from-start": W(-3.0), "loss-not-finite:loss-grew-before": W(0.8),
            "loss-not-finite:recovered": W(-1.2), "loss-diverges": W(2.4, -0.8),
            "loss-diverges:early": W(0.5), "loss-diverges:from-start": W(0.6),
            "loss-diverges:gradual": W(0.2), "loss-oscillates": W(1.6, -0.5),
            "loss-oscillates:growing": W(0.6), "loss-oscillates:alternating": W(0.6),
            "loss-oscillates:no-progress": W(0.5), "loss-oscillates:periodic": W(-0.8),
            "loss-spikes-recur": W(0.7), "loss-spikes-recur:periodic": W(-0.5),
            "loss-spikes-and-recovers": W(0.2), "loss-spikes-and-recovers:early": W(0.5),
            "loss-spikes-then-fails": W(1.9, -0.2), "loss-flat-from-start": W(0.3),
            "loss-flat-from-start:above-chance": W(0.3), "loss-flat-from-start:norm-tiny": W(-0.6),
            "loss-flat-from-start:lr-zero": W(-5.0), "loss-flat-from-start:never-moved": W(-1.5),
            "loss-at-chance": W(0.5), "losses-stay-high:above-start": W(1.6), "loss-plateaus": W(0.1),
            "loss-plateaus:high": W(0.3), "loss-plateaus:after-lr-drop": W(-0.6),
            "loss-plateaus:norm-tiny": W(-0.8), "loss-still-falling-at-end": W(-0.4),
            "loss-falls-slowly": W(-1.0), "validation-gap-grows": W(-0.4),
            "gradient-norm-explodes": W(1.5, -0.4), "gradient-norm-grows": W(0.8),
            "gradient-norm-spikes": W(0.5), "gradient-not-finite": W(0.8), "loss-scale-collapses": W(1.0),
            "steps-skipped-often": W(0.6), "updates-too-large": W(2.5, -1.5),
            "updates-too-small": W(-2.0), "weights-grow-unbounded": W(0.8),
            "learning-rate-is-zero": W(-5.0, 0.0, "theory"), "fact:clamped-loss": W(2.0), "fact:lower-rate-tried": W(-2.5),
            "fact:lr-high-for-optimizer": W(2.0, -0.4), "fact:lr-low-for-optimizer": W(-3.0),
            "learning-rate-never-warms-up": W(0.4), "fact:starts-above-chance": W(0.6),
            "updates-too-large:first-steps": W(0.5), "relu-units-dead:later": W(0.6),
            "activations-collapse:later": W(0.6), "inputs-not-normalized": W(-2.5),
            "targets-not-normalized": W(-2.5), "inputs-have-outliers": W(-1.5),
            "weights-start-badly-scaled": W(-3.0), "activations-not-finite": W(0.5),
            "gradients-accumulate-across-steps": W(-1.5), "relu-units-dead:from-start": W(-1.0),
            "input-has-no-effect": W(-1.0), "policy-moves-too-far": W(3.0), "q-values-explode": W(1.0),
            "policy-stops-exploring": W(2.5), "chosen-answers-become-unlikely": W(2.5),
            "rewards-fall-by-small-steps": W(-5.0), "opponents-do-not-compete:fooled": W(2.0),
            "answers-leave-reference": W(4.0), "opponents-do-not-compete:apart": W(6.0),
        },
        settles=(
            ("the highest learning rate that is safe", "traindx find-lr -- python train.py"),
            ("how large each update is compared with its weights", "traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="learning-rate-too-low",
        title="The learning rate is too low",
        family="optimization",
        prior=-2.4,
        page="""The gradients are fine, but each update is too small to use them.

In a log: the loss falls slowly along a nearly straight line that is mostly batch noise, or not visibly
at all. The gradient norm is healthy (about 0.1 to 10), and the loss is still falling at the end.

Mistaken for: a run that stopped too soon, too little capacity, a clip norm or schedule that makes the
updates small, vanishing gradients (then the norm is tiny).

Settled by: ten times the rate. The loss then falls about ten times faster.""",
        weights={
            "loss-falls-slowly": W(2.2, -0.8), "loss-falls-slowly:norm-healthy": W(0.8),
            "weights-start-badly-scaled": W(-4.0),
            "loss-falls-slowly:norm-tiny": W(-0.5), "loss-falls-slowly:straight": W(0.6),
            "loss-still-falling-at-end": W(0.6, -0.2), "loss-flat-from-start": W(1.0, -0.4),
            "loss-flat-from-start:norm-healthy": W(1.3), "loss-flat-from-start:norm-tiny": W(-1.4),
            "loss-flat-from-start:at-chance": W(0.1), "loss-flat-from-start:never-moved": W(-1.0),
            "loss-flat-from-start:lr-zero": W(-4.0), "loss-at-chance": W(0.2), "loss-plateaus": W(0.5),
            "loss-plateaus:norm-healthy": W(1.9), "loss-plateaus:norm-tiny": W(-1.0),
            "loss-plateaus:lr-decayed": W(-0.5), "loss-plateaus:after-lr-drop": W(0.3),
            "loss-plateaus:high": W(0.3), "loss-plateaus:low": W(-1.2),
            "loss-plateaus:metric-good": W(-1.5), "losses-stay-high": W(0.6),
            "loss-improves-too-little-noise-considered": W(0.9), "loss-diverges": W(-3.0),
            "loss-not-finite": W(-3.0), "loss-oscillates": W(-1.2), "loss-spikes-recur": W(-0.8),
            "validation-gap-grows": W(-1.0), "gradient-norm-vanishes": W(-0.5),
            "gradient-norm-explodes": W(-1.5), "updates-too-small": W(2.5, -1.5),
            "updates-too-large": W(-2.5), "gradient-is-zero": W(-2.5), "learning-rate-is-zero": W(-3.0),
            "learning-rate-vanishes-early": W(-0.8), "fact:lr-low-for-optimizer": W(2.4, -0.5),
            "fact:lr-high-for-optimizer": W(-2.5), "updates-too-small:in-part": W(-2.0),
            "gradients-vanish-with-depth": W(-2.5), "clipping-always-active:tight": W(-3.0),
            "deep-saturating-activations": W(-1.5), "inputs-not-normalized": W(-1.5),
            "parameters-never-change": W(-2.0),
        },
        settles=(
            ("the learning rate at which the loss falls fastest", "traindx find-lr -- python train.py"),
            ("the global gradient norm (tiny would mean vanishing)", "traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="missing-warmup",
        title="The learning rate has no warm-up",
        family="optimization",
        prior=-3.4,
        page="""A peak rate that suits the trained net is too high for a new one. Adam's second moments
have not settled, normalization layers and attention logits jump, and the run may never recover.

In a log: a jump or NaN in the first one to five percent of the run, with a rate that starts at its peak
or reaches it within a few steps.

Mistaken for: a rate that is too high throughout (then the trouble continues after the first percents).

Settled by: the same peak with a few hundred steps of warm-up. If a lower rate cures it as well, prefer
the warm-up when the peak is usual for this model.""",
        weights={
            "loss-not-finite": W(0.3), "loss-not-finite:early": W(1.5), "loss-not-finite:late": W(-2.0),
            "loss-diverges": W(0.4, -0.2), "loss-diverges:early": W(1.3), "loss-diverges:late": W(-2.0),
            "loss-spikes-and-recovers:early": W(1.4), "loss-spikes-and-recovers": W(-0.2),
            "learning-rate-never-warms-up": W(2.2, -2.0), "loss-flat-from-start": W(-0.2),
            "fact:no-warmup": W(0.9, -1.8), "fact:lr-high-for-optimizer": W(0.3),
            "gradient-norm-explodes": W(0.5), "updates-too-large:first-steps": W(0.8),
            "relu-units-dead:later": W(0.5),
        },
        settles=(
            ("the learning rate over the first steps", "log lr at every step"),
        ),
    ),
    Cause(
        slug="learning-rate-schedule-fault",
        title="The learning-rate schedule is wrong",
        family="optimization",
        prior=-3.4,
        page="""The rate is zero, decays long before the run ends, jumps, or is stepped at the wrong
interval (per batch instead of per epoch, or with the horizon of another run).

In a log: the rate is zero, jumps, or is below 1 % of its peak while the loss could still fall. The loss
stops or jumps at exactly that step.

Mistaken for: a converged run, too little capacity, a rate that is too low throughout.

Settled by: plotting the rate. With a constant rate from the step where the loss stopped, it falls again.""",
        weights={
            "learning-rate-is-zero": W(5.5, -0.7, "theory"), "learning-rate-vanishes-early": W(3.8, -0.7),
            "learning-rate-vanishes-early:most-of-the-run": W(3.0),
            "learning-rate-jumps": W(2.9, -0.4), "learning-rate-jumps:loss-reacts": W(1.0),
            "loss-flat-from-start:lr-zero": W(4.5, 0.0, "theory"), "loss-plateaus:lr-decayed": W(1.8),
            "loss-plateaus:after-lr-drop": W(0.5), "loss-falls-slowly": W(0.2),
            "loss-flat-from-start": W(0.4), "loss-diverges": W(-0.5), "loss-oscillates:periodic": W(0.4),
            "updates-too-small": W(0.8), "scheduler-steps-too-often": W(5.0, -1.0),
        },
        settles=(
            ("the learning rate of every step", "log lr, or: traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="momentum-too-high",
        title="The momentum is too high",
        family="optimization",
        prior=-4.6,
        page="""With momentum b the optimizer averages over about 1/(1-b) steps. Close to 1 it overshoots
every minimum, whatever the rate.

In a log: slow, smooth oscillations with that period, then a late and gradual divergence.

Mistaken for: a learning rate that is too high (faster oscillations, from step to step).

Settled by: momentum 0.9 at the same rate.""",
        weights={
            "curvature-beyond-stability": W(0.8), "loss-oscillates": W(1.2, -0.4),
            "loss-oscillates:periodic": W(1.2), "loss-oscillates:growing": W(0.5),
            "loss-oscillates:alternating": W(-0.6), "loss-diverges": W(0.8, -0.3),
            "loss-diverges:gradual": W(0.5), "loss-plateaus:high": W(0.2),
            "fact:high-momentum": W(3.2, -2.0), "weights-grow-unbounded": W(0.8),
        },
        settles=(("the momentum (or Adam's first beta)", "--fact momentum=0.9"),),
    ),
    Cause(
        slug="batch-too-small",
        title="The batch is too small for the learning rate",
        family="optimization",
        prior=-3.6,
        page="""The gradient of so few samples is mostly noise, so the weights move randomly around the
minimum. How far is set by the rate divided by the batch size. Batch normalization over fewer than about
8 samples adds to the noise.

In a log: a very noisy loss that more steps do not lower. A lower rate lowers it.

Mistaken for: a rate that is too high (rate and batch size trade off), noisy labels.

Settled by: accumulating 8 to 16 batches at the same rate. The loss gets lower.""",
        weights={
            "loss-oscillates": W(1.0, -0.3), "loss-oscillates:no-progress": W(0.5),
            "loss-oscillates:periodic": W(-0.8),
            "loss-improves-too-little-noise-considered": W(1.2, -0.2),
            "gradient-noise-dominates": W(2.5, -1.5), "loss-plateaus": W(0.2),
            "loss-spikes-recur": W(0.3), "fact:small-batch": W(2.2, -1.5), "fact:normalizes-few": W(2.0),
            "losses-stay-high": W(0.5),
        },
        settles=(
            ("the batch size", "--fact batch_size=64"),
        ),
    ),
    Cause(
        slug="batch-too-large",
        title="The batch is too large: too few updates",
        family="optimization",
        prior=-4.4,
        page="""Beyond the gradient noise scale (https://arxiv.org/abs/1812.06162), more samples per step
hardly improve the step. At a fixed number of epochs they only reduce the number of updates.

In a log: few steps and a smooth, slowly falling curve: good per step, poor per epoch.

Mistaken for: a rate that is too low, a run that was too short.

Settled by: a smaller batch over the same epochs, or a rate scaled up with the batch.""",
        weights={
            "fact:large-batch": W(2.6, -1.5), "fact:few-updates": W(1.2, -0.8),
            "loss-falls-slowly": W(0.6, -0.2), "loss-still-falling-at-end": W(0.5),
            "gradient-noise-dominates": W(-2.0), "loss-oscillates": W(-1.5), "loss-not-finite": W(-1.5),
            "loss-diverges": W(-1.0),
        },
        settles=(("batch and data size", "--fact batch_size=64 --fact dataset_size=50000"),),
    ),
    Cause(
        slug="clip-too-tight",
        title="The gradient clip is too tight",
        family="optimization",
        prior=-4.8,
        page="""Clipping should act on rare exceptions. When it cuts every gradient to a small norm, it
acts as a second, tiny learning rate.

In a log: a gradient norm that is constant (logged after clipping) or always far above the clip norm, and
a slow, even fall of the loss.

Mistaken for: a learning rate that is too low.

Settled by: a clip norm above the usual gradient norm.""",
        weights={
            "clipping-always-active": W(2.0, -2.5), "clipping-always-active:tight": W(3.0),
            "fact:tight-clip": W(2.8, -0.8), "fact:clip-set": W(0.2, -3.0), "loss-falls-slowly": W(0.5),
            "loss-flat-from-start": W(0.8), "loss-not-finite": W(-1.5), "updates-too-small": W(1.5, -0.5),
            "loss-at-chance": W(0.5), "losses-stay-high": W(0.5),
        },
        settles=(
            ("the clip norm and the gradient norm before clipping",
             "--fact clip_norm=1.0, and log the norm"),
        ),
    ),
    Cause(
        slug="unsuitable-optimizer",
        title="The optimizer does not suit the model",
        family="optimization",
        prior=-4.4,
        page="""Plain SGD on a net whose layers have gradients of very different size (transformers,
embeddings), or an adaptive method with an extreme epsilon.

In a log: an early plateau or a very slow fall, although gradient norm and rate look usual. The gradient
norms of the layers differ widely.

Mistaken for: a rate that is too low, too little capacity.

Settled by: AdamW at 3e-4 (or SGD with momentum 0.9) on the same model.""",
        weights={
            "loss-falls-slowly": W(0.4), "loss-plateaus": W(0.4), "loss-plateaus:norm-healthy": W(0.3),
            "loss-flat-from-start:norm-healthy": W(0.3), "gradients-imbalanced": W(1.0, -0.3),
            "fact:plain-sgd": W(1.8, -0.3), "loss-not-finite": W(-1.0),
        },
        settles=(("the optimizer and its settings", "--fact optimizer=adamw --fact lr=0.0003"),),
    ),
    Cause(
        slug="undertrained",
        title="The run stopped before it had finished learning",
        family="optimization",
        prior=-2.4,
        page="""The budget was too small: the loss was still falling when the run ended.

In a log: a slope at the end that is clear of the noise, with usual updates and gradients.

Mistaken for: a learning rate that is too low (then more steps help, but slowly), a decayed schedule
(then more steps at that rate do not help).

Settled by: training on, and comparing with the forecast.""",
        weights={
            "loss-still-falling-at-end": W(2.3, -1.8), "loss-falls-slowly": W(0.3),
            "weights-start-badly-scaled": W(-4.0),
            "fact:few-updates": W(1.0, -0.3), "fact:finished": W(0.5, -0.3), "losses-stay-high": W(0.5),
            "loss-plateaus": W(-2.0), "loss-flat-from-start": W(-1.5),
            "loss-improves-too-little-noise-considered": W(0.5), "loss-diverges": W(-2.5),
            "loss-not-finite": W(-3.0), "validation-gap-grows": W(-1.8), "loss-oscillates": W(-0.5),
            "loss-drops-late": W(0.3),
        },
        settles=(
            ("the loss after as many steps again", "continue the run and compare it with the forecast"),
        ),
    ),
    Cause(
        slug="unbalanced-loss-terms",
        title="The terms of the loss are weighted wrongly",
        family="optimization",
        prior=-4.2,
        page="""A loss of several terms follows the largest one: a value loss that drowns the policy's, an
entropy bonus that is too large or has the wrong sign, a divergence (`beta`) that holds a model at its start
or empties its latent variables.

In a log: one term is a large multiple of the others, and the number that counts (rewards, reconstructions)
does not improve.

Mistaken for: a rate that is too low (then all terms stay), a task that is too hard.

Settled by: the gradient norm of each term by itself, or a tenth of the weight.""",
        weights={
            "loss-terms-unbalanced": W(6.0), "answers-leave-reference": W(4.0),
            "divergence-outweighs-rewards": W(7.0), "posterior-collapses": W(5.0),
            "divergence-left-out": W(7.0), "opponents-do-not-compete:unbounded": W(4.0),
            "policy-stops-exploring": W(0.5), "loss-flat-from-start": W(0.5), "loss-oscillates": W(0.5),
            "loss-plateaus": W(0.5), "rewards-fall-by-small-steps": W(-3.0),
        },
        settles=(("the size of each term, times its weight", "log every term of the loss"),),
    ),
    Cause(
        slug="unbalanced-opponents",
        title="One of two opposed networks is too strong",
        family="optimization",
        prior=-4.2,
        page="""A generator learns from the gradient that its discriminator gives it. A discriminator that is always
right saturates, and its gradient vanishes. One that is always wrong teaches nothing.

In a log: the discriminator's loss falls to almost 0 and stays there, while the generator's loss rises.

Mistaken for: a rate that is too high for both networks (then both losses jump).

Settled by: samples of the generator, and the discriminator's accuracy on real and on generated samples.""",
        weights={
            "discriminator-wins": W(5.0), "loss-diverges": W(0.5), "loss-flat-from-start": W(0.5),
            "loss-oscillates": W(0.5), "loss-plateaus": W(0.5), "metric-constant-or-impossible": W(0.5),
        },
        settles=(("the discriminator's accuracy on real and on generated samples", "log both every 1,000 steps"),),
    ),
    Cause(
        slug="unstable-bootstrapping",
        title="The critic learns from its own estimates",
        family="optimization",
        prior=-4.2,
        page="""A value is learned from the estimate of the next state. Without a target network, with a
discount of 1, or with ends of episodes that are ignored, errors feed themselves, and values grow without
bound.

In a log: Q values far beyond what an episode brings, while rewards stop rising or fall.

Mistaken for: a rate that is too high (then the loss jumps at once).

Settled by: a target network that is updated slowly, and a mask of zero for the last state of an episode.""",
        weights={
            "q-values-explode": W(6.5), "loss-diverges": W(0.5), "loss-flat-from-start": W(0.5),
            "loss-oscillates": W(0.5), "policy-stops-exploring": W(0.5), "loss-plateaus": W(0.5),
            "rewards-fall-by-small-steps": W(0.5),
        },
        settles=(("Q values next to the returns of episodes", "log both every 1,000 steps"),),
    ),
)  # fmt: skip
