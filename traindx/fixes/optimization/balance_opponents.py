"""Balance the two networks.

Lower the learning rate of the stronger network (usually the discriminator) to a quarter, or train it less often.
Smooth its labels for real samples to 0.9, add noise to its inputs, or normalize its layers spectrally. A loss that
does not saturate (hinge, Wasserstein with a gradient penalty) also helps.

Verify: neither loss stays near zero, and the generated samples improve.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="lower the learning rate of the discriminator to a quarter, and smooth its labels to 0.9",
    applicability="patch",
    causes=("unbalanced-opponents",),
    expected="neither loss stays near zero, and the generated samples improve",
    touches=("lr",),
)
