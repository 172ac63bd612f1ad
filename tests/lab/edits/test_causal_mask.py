"""Causal masks for the attention of PyTorch, and what is left to a person."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit

ENCODER = """\
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)

    def forward(self, h):
        return self.blocks(h)
"""
HEADS = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x, y):
        return self.attention(x, x, x)[0]
"""
FUSED = """\
import torch.nn.functional as F

def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=False)
"""
MASK = "nn.Transformer.generate_square_subsequent_mask"


def masked(text: str) -> Patch | Advice:
    return edit({"train.py": text}, "train.py", "mask-the-future")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ENCODER, "blocks(h)", f"blocks(h, mask={MASK}(h.size(1), device=h.device), is_causal=True)"),
        (HEADS, "(x, x, x)", f"(x, x, x, attn_mask={MASK}(x.size(0), device=x.device), is_causal=True)"),
        (FUSED, "is_causal=False", "is_causal=True"),
    ],
)
def test_the_only_attention_gets_a_mask_once(text: str, old: str, new: str) -> None:
    found = masked(text)
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(old, new)}
    again = masked(found.after["train.py"])
    assert isinstance(again, Patch)
    assert again.after == {}


@pytest.mark.parametrize(
    "text",
    [
        HEADS.replace("(x, x, x)", "(x, y, y)"),
        FUSED + FUSED.partition("\n\n")[2].replace("attend", "again"),
        FUSED.replace("is_causal=False", "attn_mask=padding"),
    ],
    ids=["another sequence", "two places", "a mask of its own"],
)
def test_what_might_have_to_see_everything_is_left_to_a_person(text: str) -> None:
    assert isinstance(masked(text), Advice)
