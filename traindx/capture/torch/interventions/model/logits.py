"""Logits instead of probabilities to the loss."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("logits", stage="forward", values=("on",), order=1)
def logits(value: str) -> Apply:
    """Takes softmax and sigmoid away where they stand before a loss that applies them itself or is more exact without
    them: `cross_entropy` of softmax or sigmoid, `binary_cross_entropy_with_logits` of sigmoid (both double), `nll_loss`
    of softmax (the logarithm is missing), `binary_cross_entropy` of sigmoid (the same loss, computed without overflow),
    and either binary loss of a softmax over one unit (which is always 1). In evaluation, too.

    The scores are those that the function was called with; where that was not seen (inside of a compiled model, or
    changed on the way) and classes sum to 1, the logarithm of the probabilities takes their place, which has the same
    softmax. What the script itself does with the probabilities is as before. The recorded loss is another one, with
    ln k at chance."""
    one_of(value, "logits", ("on",))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.logits import Logits
        from traindx.capture.torch.alter.script import script_of

        Logits(site, script_of(site))
        site.unused = "no cross-entropy was fed with probabilities"

    return apply
