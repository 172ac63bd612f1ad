"""Models as source text: one class of a stem, a body and a head, small enough for seconds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Net:
    """`kind`: mlp, cnn, segment (a CNN without pooling), rnn (last state), rnn-lm, transformer, transformer-lm.
    `hidden`: widths or channels by layer; of sequence models (width, layers). `cut` is put behind the stem, `out`
    behind the head; `norm` is "", "batch" or "layer"; `norm_options` are further arguments of the norm."""

    kind: str
    inputs: int
    outputs: int
    hidden: tuple[int, ...] = (64,)
    act: str = "nn.ReLU()"
    norm: str = ""
    norm_options: str = ""
    dropout: float = 0.0
    cell: str = "GRU"
    cell_options: str = ""
    squeeze: bool = False
    cut: str = ""
    out: str = ""

    def source(self) -> str:
        """The class `Net`."""
        build = {"mlp": mlp, "cnn": cnn, "segment": cnn}.get(self.kind, sequence)
        init, forward = build(self)
        forward = [
            *forward,
            *self.out.splitlines(),
            "return out.squeeze(1)" if self.squeeze else "return out",
        ]
        if self.cut:
            forward.insert(1, self.cut)
        return "\n".join(
            [
                "class Net(nn.Module):",
                "    def __init__(self):",
                "        super().__init__()",
                *(f"        {line}" for line in init),
                "",
                "    def forward(self, x):",
                *(f"        {line}" for line in forward),
            ]
        )


def stack(blocks: list[list[str]], name: str) -> list[str]:
    """`self.name = nn.Sequential(...)` of layers."""
    layers = [layer for block in blocks for layer in block]
    return [f"self.{name} = nn.Sequential(", *(f"    {layer}," for layer in layers), ")"]


def mlp(net: Net) -> tuple[list[str], list[str]]:
    widths = (net.inputs, *net.hidden)
    blocks = []
    for a, b in pairwise(widths):
        block = [f"nn.Linear({a}, {b})"]
        if net.norm:
            block.append(
                f"nn.{'BatchNorm1d' if net.norm == 'batch' else 'LayerNorm'}({b}{net.norm_options})"
            )
        block += [net.act] * bool(net.act) + [f"nn.Dropout({net.dropout})"] * bool(net.dropout)
        blocks.append(block)
    return with_head(blocks, f"nn.Linear({widths[-1]}, {net.outputs})")


def with_head(blocks: list[list[str]], head: str) -> tuple[list[str], list[str]]:
    init, forward = stack(blocks[:1], "stem"), ["h = self.stem(x)"]
    if len(blocks) > 1:
        init, forward = [*init, *stack(blocks[1:], "body")], [*forward, "h = self.body(h)"]
    return [*init, f"self.head = {head}"], [*forward, "out = self.head(h)"]


def cnn(net: Net) -> tuple[list[str], list[str]]:
    channels = (net.inputs, *net.hidden)
    blocks = []
    for i, (a, b) in enumerate(pairwise(channels)):
        block = [f"nn.Conv2d({a}, {b}, 3, padding=1)"]
        if net.norm:
            block.append(f"nn.BatchNorm2d({b}{net.norm_options})")
        block += [net.act] * bool(net.act)
        if net.kind == "cnn" and i < 2:
            block.append("nn.MaxPool2d(2)")
        blocks.append(block)
    if net.kind == "segment":
        return with_head(blocks, f"nn.Conv2d({channels[-1]}, {net.outputs}, 1)")
    blocks[-1] += ["nn.Flatten()"] + [f"nn.Dropout({net.dropout})"] * bool(net.dropout)
    return with_head(blocks, f"nn.LazyLinear({net.outputs})")


def sequence(net: Net) -> tuple[list[str], list[str]]:
    width, layers = net.hidden
    drop = f"nn.Dropout({net.dropout})" if net.dropout else "nn.Identity()"
    language = net.kind.endswith("-lm")
    init = [
        f"self.stem = nn.{f'Embedding({net.inputs}, {width})' if language else f'Linear({net.inputs}, {width})'}"
    ]
    forward = ["h = self.stem(x)"]
    if net.kind.startswith("rnn"):
        init.append(
            f"self.body = nn.{net.cell}({width}, {width}, {layers}, batch_first=True{net.cell_options})"
        )
        forward.append("h, _ = self.body(h)")
    else:
        layer = f"nn.TransformerEncoderLayer({width}, 4, {2 * width}, {net.dropout}, batch_first=True, norm_first=True)"
        init += [
            f"self.position = nn.Parameter(torch.randn(1, 64, {width}) * 0.02)",
            f"self.body = nn.TransformerEncoder({layer}, {layers}, enable_nested_tensor=False)",
        ]
        forward.append("h = h + self.position[:, : x.shape[1]]")
        if language:
            forward += [
                "mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])",
                "h = self.body(h, mask=mask, is_causal=True)",
            ]
        else:
            forward.append("h = self.body(h)")
    if not language:
        forward.append("h = h[:, -1]" if net.kind == "rnn" else "h = h.mean(1)")
    init += [f"self.drop = {drop}", f"self.head = nn.Linear({width}, {net.outputs})"]
    forward.append("out = self.head(self.drop(h))" + (".transpose(1, 2)" if language else ""))
    return init, forward
