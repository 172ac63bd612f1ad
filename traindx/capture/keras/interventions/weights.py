"""The weights that a training begins with, and which of them are trained."""

from keras.src.models.model import Model

from traindx.capture.keras.alter import fresh_optimizer, steps_made
from traindx.capture.keras.interventions.api import Any, Site, applies, keras, plain_layers

SEED = 0x7ACE  # of the first layer; the script's generators draw none of this
GAIN = 2**0.5


def initializer(kind: str, seed: int) -> Any:
    if kind == "he":
        return keras.initializers.HeNormal(seed=seed)
    if kind == "xavier":
        return keras.initializers.GlorotNormal(seed=seed)
    return keras.initializers.Orthogonal(GAIN, seed=seed)


@applies("init", unused="no layer of a known type was found")
def init(site: Site, kind: str) -> None:
    """New weights before the first step, by the kind of layer, as in PyTorch: matrices and filters with the variance
    given, biases of 0, embeddings of variance 1 / width, norms at 1 and 0 with fresh statistics. Recurrent layers get
    such input weights, orthogonal recurrent weights, and biases of 0 (1 for an LSTM's forget gate). Frozen layers do
    not change. Refused where the script loads weights into the model, because training is meant to start from them."""
    loaded: list[Any] = []

    def load(original: Any, model: Any, *args: Any, **named: Any) -> Any:
        loaded.append(model)
        return original(model, *args, **named)

    def load_whole(original: Any, *args: Any, **named: Any) -> Any:
        loaded.append(original(*args, **named))
        return loaded[-1]

    def fresh(model: Any) -> None:
        if any(one is model or one in model._flatten_layers() for one in loaded):
            site.refuse("the script has loaded weights into the model")
        for i, layer in enumerate(plain_layers(model)):
            if layer.trainable and reinitialize_layer(layer, kind, SEED + i):
                site.touched("layers")

    site.wrap(Model, "load_weights", load)
    for home in (keras.models, keras.saving):
        site.wrap(home, "load_model", load_whole)
    site.on_model(fresh)


def reinitialize_layer(layer: Any, kind: str, seed: int) -> bool:
    """Set a layer's weights, or what they will be made of. False where its kind is not known."""
    kernel = "depthwise_kernel" if hasattr(layer, "depthwise_kernel") else "kernel"
    fillers: dict[str, Any] = {}
    name = type(layer).__name__
    if name == "Dense" or ("Conv" in name and "LSTM" not in name):
        fillers = {kernel: initializer(kind, seed), "bias": keras.initializers.Zeros()}
    elif name == "Embedding":
        spread = layer.output_dim**-0.5
        fillers = {"embeddings": keras.initializers.RandomNormal(stddev=spread, seed=seed)}
    elif name in ("LSTM", "GRU", "SimpleRNN"):
        layer.cell.kernel_initializer = initializer("xavier", seed)
        return reinitialize_cell(layer.cell, seed)
    elif "Normalization" in name:
        ones, zeros = keras.initializers.Ones(), keras.initializers.Zeros()
        fillers = {"gamma": ones, "beta": zeros, "moving_mean": zeros, "moving_variance": ones}
    else:
        return False
    for variable, filler in fillers.items():
        fill(layer, variable, filler)
    return True


def reinitialize_cell(cell: Any, seed: int) -> bool:
    fill(cell, "kernel", keras.initializers.GlorotNormal(seed=seed))
    fill(cell, "recurrent_kernel", keras.initializers.Orthogonal(seed=seed))
    fill(cell, "bias", keras.initializers.Zeros())
    if type(cell).__name__ == "LSTMCell" and cell.built and cell.bias is not None:
        ones = keras.ops.convert_to_numpy(cell.bias).copy()
        ones[cell.units : 2 * cell.units] = 1  # of input, forget, cell and output gates
        cell.bias.assign(ones)
    return True


def fill(layer: Any, name: str, filler: Any) -> None:
    """A variable that is there is assigned; one that is to come is made so."""
    setting = f"{name}_initializer"
    if hasattr(layer, setting) and name in ("kernel", "depthwise_kernel", "embeddings", "recurrent_kernel"):
        setattr(layer, setting, filler)
    variable = getattr(layer, name, None) if layer.built else None
    if variable is not None:
        variable.assign(filler(variable.shape, dtype=variable.dtype))


@applies("unfreeze", unused="no layer is frozen")
def unfreeze(site: Site, _value: str) -> None:
    """All layers of a model are trained. What the script freezes later stays frozen."""

    def thaw(model: Any) -> None:
        frozen = [layer for layer in model._flatten_layers() if not layer.trainable]
        held = [layer for layer in frozen if layer.weights]
        for layer in frozen:
            layer.trainable = True
        if held:
            if steps_made(model):
                site.refuse("the model's optimizer has already made steps")
            fresh_optimizer(model)
            site.touched("layers", len(held))

    site.on_model(thaw)
