"""Causes in quantization-aware training (where the numbers come from: see `optimization`)."""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="quantization-gap",
        title="The model loses quality when it is quantized",
        family="quantization",
        prior=-5.0,
        page="""The loss with simulated quantization is far above the loss without it. The ranges are
badly calibrated, the groups are too coarse, or quantization began before (or long after) the weights had
settled.

In a log: a quantized metric far below the float one, with a gap that widens.

Mistaken for: validation data prepared differently.

Settled by: the loss of one batch with and without fake quantization.""",
        weights={
            "quantization-gap-widens": W(5.0, -2.0), "quantized-much-worse": W(6.0, -2.0),
            "quantized-much-worse:metric": W(1.0), "quantized-weights-clipped": W(4.0),
            "quantized-inputs-clipped": W(4.0), "quantized-weights-oscillate": W(2.0),
            "fact:quantized": W(1.5, -4.0), "ternary-weights-collapse": W(0.7), "modes-disagree": W(0.7),
            "losses-stay-high": W(0.5), "validation-gap-grows": W(0.5), "metric-contradicts-loss": W(0.5),
            "validation-rises-then-falls": W(0.5), "validation-drops-late": W(0.5),
            "loss-improves-too-little-noise-considered": W(0.5), "predictions-collapse": W(0.5),
            "loss-diverges": W(0.5), "loss-at-chance": W(0.5), "loss-flat-from-start": W(0.5),
            "loss-oscillates": W(0.5), "gradient-norm-explodes": W(0.5), "gradient-norm-spikes": W(0.5),
            "loss-plateaus": W(0.5), "relu-units-dead": W(0.5), "metric-constant-or-impossible": W(0.5),
            "simple-model-does-better": W(0.5),
        },
        settles=(("loss with and without fake quantization", "log quant/loss_gap"),),
    ),
    Cause(
        slug="ternary-collapse",
        title="Ternary weights collapse to one level",
        family="quantization",
        prior=-5.2,
        page="""Nearly all weights of a layer round to one of the levels -1, 0 and 1, usually 0, so the
layer computes almost nothing.

In a log: a zero fraction near 1 where it is logged, a loss at chance, or a sudden drop in quality.

Mistaken for: bad initialization.

Settled by: the share of each level per layer, and a lower threshold.""",
        weights={
            "ternary-weights-collapse": W(7.0, -3.0), "loss-at-chance": W(0.5),
            "quantized-much-worse": W(0.8), "fact:quantized": W(1.2, -4.0), "relu-units-dead": W(0.5),
            "activations-collapse": W(0.7), "quantized-gradients-imbalanced:larger": W(-2.5),
            "predictions-collapse": W(0.7), "input-has-no-effect": W(0.7), "loss-flat-from-start": W(0.5),
            "losses-stay-high": W(0.5), "loss-plateaus": W(0.5),
            "loss-improves-too-little-noise-considered": W(0.5), "gradients-imbalanced": W(0.5),
            "gradients-vanish-with-depth": W(0.5), "gradient-is-zero": W(0.5),
            "gradient-norm-vanishes": W(0.5), "graph-detached": W(0.5),
            "weights-start-badly-scaled": W(0.5), "updates-too-small": W(0.5),
        },
        settles=(("share of each level per layer", "log quant/zero_fraction"),),
    ),
    Cause(
        slug="quantized-layer-gradient-imbalance",
        title="Quantized layers have much larger or smaller gradients",
        family="quantization",
        prior=-5.4,
        page="""The straight-through estimator and the scales of the quantizer give gradients a hundred
times larger or smaller than those of the float layers. Without a straight-through estimator quantized
layers get no gradient at all.

In a log: divergence or a plateau that begins with quantization. In a recording: the gradient of the
float weights differs from that of their quantized copies.

Mistaken for: a learning rate that is too high.

Settled by: comparing the gradient norms of quantized and other layers; a separate rate for the scales.""",
        weights={
            "quantized-gradients-imbalanced": W(7.0, -2.5), "quantized-weights-get-no-gradient": W(7.0),
            "gradients-imbalanced": W(0.5), "loss-diverges": W(0.5), "fact:quantized": W(1.2, -4.0),
            "loss-not-finite": W(0.5), "activations-not-finite": W(0.5), "gradient-norm-explodes": W(0.5),
            "gradient-norm-grows": W(0.5), "gradient-norm-spikes": W(0.5),
            "weights-grow-unbounded": W(0.5), "updates-too-large": W(0.5), "updates-too-small": W(0.5),
            "gradients-vanish-with-depth": W(0.5), "relu-units-dead": W(0.5),
            "activations-collapse": W(0.5), "predictions-collapse": W(0.5), "input-has-no-effect": W(0.5),
            "loss-flat-from-start": W(0.5), "loss-at-chance": W(0.5), "losses-stay-high": W(0.5),
            "loss-plateaus": W(0.5), "loss-oscillates": W(0.5), "loss-spikes-recur": W(0.5),
            "loss-spikes-then-fails": W(0.5), "parameters-frozen": W(0.5),
            "loss-improves-too-little-noise-considered": W(0.5), "curvature-beyond-stability": W(0.5),
            "ternary-weights-collapse": W(0.7), "quantized-much-worse": W(0.7),
            "loss-falls-slowly": W(0.5),
        },
        settles=(("gradient norms of quantized and of other layers", "traindx run -- python train.py"),),
    ),
)  # fmt: skip
