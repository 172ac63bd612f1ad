"""Give the optimizer all parameters.

Build the optimizer from model.parameters() after the model is complete (moved, wrapped, its head
replaced). Keep layers in a ModuleList, not in a plain list. Add parameters created later with
add_param_group.

Verify: the optimizer holds exactly the parameters of the model (compare their ids).
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="build the optimizer from all parameters of the final model",
    idioms={
        "torch": "optim(model.parameters())",
        "keras": "layers as attributes of the model, before compile",
        "jax": "tx.init(params) of all parameters",
    },
    applicability="patch",
    causes=("params-not-in-optimizer", "frozen-parameters"),
    expected="the weights of all layers change",
    interventions=("register=all",),
)
