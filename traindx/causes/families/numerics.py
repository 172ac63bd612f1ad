"""Causes in the arithmetic (where the numbers come from: see `optimization`)."""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="unstable-numerics",
        title="An operation is numerically unstable",
        family="numerics",
        prior=-3.1,
        page="""Weights and gradients are finite, and one operation turns them into NaN: log(0), a
division by zero, the gradient of a root at 0, exp of a large number. Some losses clamp instead (Caffe's
87.3365 is -ln of the smallest normal float32).

In a log: NaN without warning, often late, after a gradient norm that was normal.

Mistaken for: a learning rate that is too high (then the norm or the loss grows first), a corrupt sample
(NaN at the same batch again), half precision.

Settled by: the first operation with a non-finite result, and replaying that batch in float64.""",
        weights={
            "loss-not-finite": W(2.2, -1.2), "loss-not-finite:norm-normal-before": W(1.7),
            "loss-not-finite:norm-grew-before": W(-1.4), "loss-not-finite:loss-grew-before": W(-1.0),
            "loss-not-finite:late": W(0.6), "loss-not-finite:early": W(-0.7),
            "loss-not-finite:from-start": W(1.2), "fact:clamped-loss": W(3.5),
            "fact:half-precision": W(-0.8), "loss-spikes-then-fails": W(0.8),
            "gradient-not-finite": W(1.5, -0.2), "activations-not-finite": W(1.5),
            "loss-diverges": W(-0.5), "loss-diverges:gradual": W(-0.8), "gradient-norm-grows": W(-0.6),
            "gradient-norm-explodes": W(-0.3), "inputs-not-finite": W(-2.0), "loss-oscillates": W(-0.8),
            "loss-plateaus": W(-0.4), "validation-gap-grows": W(-1.5), "updates-too-large": W(-1.0),
            "weights-start-badly-scaled": W(-1.5), "targets-not-normalized": W(-1.0),
            "inputs-not-normalized": W(-1.0),
        },
        settles=(
            ("the first module and step with a non-finite value", "traindx run -- python train.py"),
            ("the gradient norm in the steps before",
             "log the norm that clip_grad_norm_ returns, every step"),
        ),
    ),
    Cause(
        slug="half-precision-range",
        title="Values leave the range of half precision",
        family="numerics",
        prior=-3.2,
        page="""float16 ends at 65504 and loses gradients under 6e-8; a loss scale tries to keep them in
between. bfloat16 has the range but only 8 bits, so small updates are rounded away.

In a log: the loss scale halves again and again, steps are skipped, or the loss is NaN or exactly 0 under
mixed precision although the norm was normal. In bfloat16, weights do not move.

Mistaken for: a learning rate that is too high, which also drives the scale down.

Settled by: the same steps in float32 or bfloat16. A few skipped steps at the start are normal.""",
        weights={
            "fact:scale-exhausted": W(4.0), "fact:half-precision": W(1.6, -3.0), "fact:bfloat16": W(-0.5),
            "loss-scale-collapses": W(3.2, -0.6), "loss-scale-collapses:training-lost": W(0.4),
            "steps-skipped-often": W(2.8, -0.6), "half-precision-overflows": W(3.8, -1.0),
            "half-precision-underflows": W(3.8, -1.0), "loss-not-finite": W(1.0, -0.2),
            "loss-not-finite:norm-normal-before": W(1.6), "loss-not-finite:norm-grew-before": W(-0.4),
            "gradient-not-finite": W(0.8), "loss-diverges": W(0.6), "loss-spikes-then-fails": W(0.5),
            "loss-near-zero-early": W(0.4), "validation-gap-grows": W(-1.5), "updates-too-large": W(0.5),
            "metric-constant-or-impossible": W(0.5), "activations-not-finite": W(0.5),
            "predictions-collapse": W(0.5), "losses-stay-high": W(0.5), "updates-too-small": W(0.5),
            "loss-flat-from-start": W(0.5),
        },
        settles=(
            ("the number format", "--fact precision=fp16"),
        ),
    ),
)  # fmt: skip
