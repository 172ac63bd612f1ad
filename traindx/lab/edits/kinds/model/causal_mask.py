"""A causal mask for the attention of a model (fix `mask-the-future`).

In `scaled_dot_product_attention`, in PyTorch's encoder and multi-head attention, and before a softmax of scores that
are the product of queries and keys, written by hand. One kind of attention alone, and no mask of the script's own:
otherwise a person decides."""

from collections.abc import Callable, Iterator

from traindx.lab.edits.api import (
    Found,
    Project,
    argument,
    cst,
    dotted_name,
    leaf_nodes,
    resolve,
    with_argument,
    writes,
)

FUSED = "torch.nn.functional.scaled_dot_product_attention"
SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax")
ENCODER, HEADS = "torch.nn.TransformerEncoder", "torch.nn.MultiheadAttention"
LOWER = ".tril() == 0"
WRITE = "a causal mask (is_causal=True, or a lower triangle of ones)"
Place = tuple[Found, Callable[[Found], None]]


@writes(fixes=("mask-the-future",))
def mask_the_future(project: Project, _value: str) -> None:
    found = [*fused_attention(project), *modules(project), *handwritten_attention(project)]
    masked = [one for one, _ in found if "mask" in one.source.text.lower() or "tril(" in one.source.text]
    if any(LOWER in source.text for source in project.sources):
        return
    if not found:
        raise project.doubt(WRITE, "no attention was found in the source")
    if masked and all(is_masked(one) for one in masked):
        return
    if masked or len({one.call for one, _ in found}) != 1:
        why = "there is a mask already" if masked else f"{len(found)} places could need it"
        raise found[0][0].doubt(WRITE, why)
    one, change = found[0]
    change(one)
    one.source.say(one.call, "no token attends to later ones")


def is_masked(one: Found) -> bool:
    """Whether the attention at a place is causal already."""
    causal = argument(one.call, "is_causal", 5)
    return causal is not None and one.source.code(causal.value) == "True"


def fused_attention(project: Project) -> Iterator[Place]:
    for one in project.calls(FUSED):
        yield one, set_causal


def set_causal(one: Found) -> None:
    one.source.set_argument(one.call, "is_causal", "True", place=5)


def modules(project: Project) -> Iterator[Place]:
    """The calls of an encoder or of a multi-head attention of PyTorch on its own inputs."""
    for one in project.calls():
        home, made = resolve(project, one.source, one.call.func)
        kind = home.name(made.func) if isinstance(made, cst.Call) and made is not one.call else ""
        if kind not in (ENCODER, HEADS) or not one.call.args:
            continue
        first = isinstance(made, cst.Call) and "batch_first=True" not in home.text
        same = {one.source.code(arg.value) for arg in one.call.args if arg.keyword is None}
        if kind == ENCODER or len(same) == 1:
            yield one, square(0 if first else 1, "mask" if kind == ENCODER else "attn_mask")


def square(dimension: int, name: str) -> Callable[[Found], None]:
    """Passes the usual mask of PyTorch, as long as a dimension of the input."""

    def change(one: Found) -> None:
        home = one.source.how_written("torch.nn.Transformer", "torch.nn", "torch")
        x = dotted_name(one.call.args[0].value)
        if not (home and x):
            raise one.doubt(WRITE, "what it is called with has no name")
        mask = f"{home}.generate_square_subsequent_mask({x}.size({dimension}), device={x}.device)"
        one.source.change(
            one.call, lambda call: with_argument(with_argument(call, name, mask), "is_causal", "True")
        )

    return change


def handwritten_attention(project: Project) -> Iterator[Place]:
    """A softmax of scores, which are a product with a transposed tensor, assigned to the name that it gets."""
    for one in project.calls():
        source, call = one
        method = isinstance(call.func, cst.Attribute) and call.func.attr.value == "softmax"
        whole = source.name(call.func) in SOFTMAX
        if not (whole or method) or (whole and not call.args):
            continue
        scores = call.args[0].value if whole else call.func.value  # type: ignore[attr-defined]
        home, value = resolve(project, source, scores)
        if home is source and is_product(source.code(value)) and any_product(value):
            yield one, lower_triangle


def is_product(code: str) -> bool:
    return any(word in code for word in ("transpose(", ".mT", ".permute(", "einsum("))


def any_product(value: cst.CSTNode) -> bool:
    """Whether an expression multiplies matrices."""
    for node in leaf_nodes(value):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
            return True
        if isinstance(node, cst.Call) and dotted_name(node.func).rpartition(".")[2] in (
            "matmul",
            "bmm",
            "einsum",
        ):
            return True
    return False


def lower_triangle(one: Found) -> None:
    """Scores of later tokens become minus infinity before the softmax."""
    source, call = one.source, one.call
    whole = source.name(call.func) in SOFTMAX
    scores = call.args[0].value if whole else call.func.value  # type: ignore[attr-defined]
    if not isinstance(scores, cst.Name):
        raise one.doubt(WRITE, "the scores have no name")
    name = scores.value
    line = f'{name} = {name}.masked_fill({name}.new_ones({name}.shape){LOWER}, float("-inf"))'
    source.insert_before(one.small, line)
