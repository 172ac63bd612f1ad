"""Modules and parameters."""

from functools import partial

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import change

UNFREEZE = Intervention(
    "unfreeze", "model", ("all",),
    help="""All parameters of the models that the optimizer partly trains require gradients, from the first call with
    gradients on. Whether they are also updated is up to the optimizer: `register=all` adds the parameters that it was
    not given. What the script freezes later stays frozen.""",
)  # fmt: skip

INIT = Intervention(
    "init", "model", ("he", "xavier", "orthogonal"), order=1,
    help="""New weights, by module type, when a model is called for the first time.

    Linear and convolution layers get biases of 0 and weights of variance 2 / fan-in (`he`), of variance
    2 / (fan-in + fan-out) (`xavier`), or orthogonal weights with gain sqrt(2) (`orthogonal`). Recurrent layers get
    such input weights with gain 1, orthogonal recurrent weights, and biases of 0 (1 for an LSTM's forget gate).
    Embeddings get variance 1, or 1 / width where a layer shares them. Normalization layers start at 1 and 0 with
    fresh running statistics. Frozen parameters do not change, and neither do parameters that a module of the script
    holds directly. The new weights follow from the script's seed and draw nothing from its random numbers.

    Refused where the script loads weights into the model, because training is meant to start from them. Sources: He
    et al. 2015 (arXiv 1502.01852); Glorot and Bengio 2010; Saxe et al. 2014 (arXiv 1312.6120).""",
)  # fmt: skip

REGISTER = Intervention(
    "register", "model", ("all",), order=1,
    help="""Parameters that the loss depends on but no optimizer holds are added to an optimizer: to the first group of
    the one that holds most of the others. Such parameters were left out of the optimizer's list, or belong to modules
    in a plain list, which their model does not know. Their gradients are cleared after each step. The first 20
    backward passes are searched.""",
)  # fmt: skip

ACTIVATION = Intervention(
    "activation", "model", ("relu", "gelu", "leaky_relu"), order=2,
    help="""Another activation in the hidden layers: sigmoid, tanh, their hard forms and softsign become the one given,
    and ReLU becomes GELU or leaky ReLU. This covers modules, functions and methods (`nn.Tanh`, `torch.relu`,
    `x.sigmoid()`).

    Only hidden activations change. A trial pass of each model, which leaves no trace, shows where the result of each
    call goes. These calls stay as they are: calls that no layer with weights follows (the output, and what the loss
    does); calls whose result is multiplied with something else that was computed (gates of recurrent cells, attention,
    GLU); calls whose result comes back through the same weights (the state of a recurrent net); calls outside of the
    model's pass; and what runs inside PyTorch's own recurrent layers. The facts `activation_left_...` count them.
    Activation modules are replaced. Weights stay as they are: combine it with `init=he`.

    Refused for compiled models and for models that cannot be called twice on the same inputs.""",
)  # fmt: skip

NORMALIZE = Intervention(
    "normalize", "model", ("layer", "batch"), order=3,
    help="""Normalization between a layer and the hidden activation that directly follows it (a trial pass finds them,
    see `activation`). Linear layers get layer or batch normalization of their features. Convolutions get normalization
    over all channels, or of each channel over the batch. A layer that a norm already follows gets none. The new scales
    and shifts begin at 1 and 0 and join the optimizer, in the group of the layer's bias (or weight). A script without
    an optimizer object trains them if it goes through `model.parameters()` in each step.

    Not added between two layers without an activation, in recurrent layers, or after layers that the script defines.
    The model's `state_dict` has new entries (`traindx_norm`). Refused for models that are compiled or wrapped by
    DistributedDataParallel or FSDP, and for models that cannot be called twice on the same inputs.""",
)  # fmt: skip

DROPOUT = Intervention(
    "dropout", "model", ("0", "0.2", "*0.33"), order=4, read=partial(change, high=0.99),
    help="""`0.2` sets the rate of every active dropout, `0` removes it, `*0.33` scales it: modules, functions, and the
    dropout of attention and of recurrent layers. Where a model calls no dropout at all, a rate above 0 adds it
    after the hidden activations (see `activation`), in training passes only.

    The script's random numbers continue unchanged: a removed dropout still draws its mask and does not use it, and an
    added one has its own generator (exception: a recurrent layer's own dropout set to 0). Dropout that the script also
    applies in evaluation is changed there, too. In a compiled model the rates of the modules are set, and a mask that
    is not needed is not drawn. Where a model without dropout is compiled, or cannot be called twice on the same inputs,
    none can be added: refused.""",
)  # fmt: skip

MODE = Intervention(
    "mode", "forward", ("train",),
    help="""Models that are called with gradients on are in training mode for that call, with all their modules (also
    norms that were frozen on purpose). The script itself still sees its own mode. Validation that leaves gradients on
    counts as training. Modules whose mode is used only by functions (`F.dropout(x, training=self.training)` outside of
    any call) are not reached.""",
)  # fmt: skip

EVAL_MODE = Intervention(
    "eval_mode", "forward", ("eval",), order=1,
    help="""Models that are called with gradients off (`no_grad`, `inference_mode`) are in evaluation mode for that
    call. The script itself still sees its own mode. This also affects what a script computes without gradients while it
    trains: targets of a teacher, samples of a generator.""",
)  # fmt: skip
