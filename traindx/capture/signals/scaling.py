"""Loss scaling and clipping, as the loop reports them."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("scaling", ("clip_ratio", "loss_scale", "skipped_steps"), "scalar", "step", Cost(2.0))
