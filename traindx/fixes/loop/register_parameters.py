"""Give the optimizer all parameters.

Build the optimizer from model.parameters() after the model is complete (moved, wrapped, its head replaced); keep
layers in ModuleList, not in plain lists. Add late parts with add_param_group.

Verify: the ids of the optimizer's parameters are those of the model.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "build the optimizer from all parameters of the final model"


FIX = Fix(
    slug="register-parameters",
    title="Give the optimizer all parameters",
    applicability="patch",
    causes=("params-not-in-optimizer", "frozen-parameters"),
    expected="all layers move",
    page=page(__doc__),
    propose=propose,
    interventions=("register=all",),
)
