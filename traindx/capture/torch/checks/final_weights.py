"""The weights at the end of a training, written when its process ends: numbers and names only, no code.

Format: safetensors (https://huggingface.co/docs/safetensors, "Format"): eight bytes with the length of a
JSON header, the header, and the bytes of the tensors. Tensors that share their memory are all written in
full."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from traindx.atomic_write import write_atomically
from traindx.capture.process.ranks import rank_of_process
from traindx.capture.session import Stream
from traindx.capture.session.events import ModelFound
from traindx.capture.torch.discover.models import unwrap_model

FILE = "model.safetensors"
MOST_BYTES = 2 << 30
KINDS = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


class NotPlain(Exception):
    """A state that the format cannot hold; says why."""


class FinalWeights:
    """Holds the models of a training to its end."""

    def __init__(self, stream: Stream, out: Path) -> None:
        self.stream, self.path = stream, out / FILE
        self.models: list[tuple[str, torch.nn.Module]] = []
        stream.hear(ModelFound, self.hold)

    def hold(self, event: ModelFound) -> None:
        """Hold a model: the script may free it before its process ends."""
        self.models.append((event.name, event.model))

    def write(self) -> None:
        """Write the file; where that is impossible, the record says why."""
        if not self.models or rank_of_process():  # of several processes, the first writes
            return
        try:
            tensors = state(self.models)
            self.stream.fact("model_sha256", write(self.path, tensors))
            self.stream.fact("model_tensors", len(tensors))
        except (NotPlain, OSError, RuntimeError) as why:  # RuntimeError: a tensor cannot be read on the host
            self.stream.fact("model_not_kept", str(why)[:200])
        self.models.clear()


def state(models: list[tuple[str, torch.nn.Module]]) -> dict[str, torch.Tensor]:
    """All parameters and buffers by name. Several models have their class names as prefixes. Raises
    NotPlain."""
    found: dict[str, torch.Tensor] = {}
    for name, model in models:
        for key, value in unwrap_model(model).state_dict().items():
            found[f"{name}.{key}" if name else key] = as_plain_tensor(key, value)
    size = sum(t.numel() * t.element_size() for t in found.values())
    if not found:
        raise NotPlain("the model has no state")
    if size > MOST_BYTES:
        raise NotPlain(
            f"the state has {size / 1e9:.1f} GB, more than the {MOST_BYTES / 1e9:.1f} that are kept"
        )
    return found


def as_plain_tensor(key: str, value: Any) -> torch.Tensor:
    """A dense tensor of plain numbers. Raises NotPlain."""
    if not isinstance(value, torch.Tensor):
        raise NotPlain(f"{key} is {type(value).__name__}, not a tensor")
    if value.layout is not torch.strided or value.is_quantized or value.dtype not in KINDS or value.is_meta:
        raise NotPlain(
            f"{key} is a tensor of {value.dtype}, {value.layout}, which safetensors does not hold"
        )
    return value.detach()


def write(path: Path, tensors: dict[str, torch.Tensor]) -> str:
    """Write the file atomically. Returns its SHA-256."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, tensor in tensors.items():
        end = place + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": KINDS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, end],
        }
        place = end
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)  # tensors begin at a multiple of eight bytes
    digest = hashlib.sha256()
    write_atomically(path, hash_pieces(pieces(encoded, tensors), digest))
    return digest.hexdigest()


def hash_pieces(pieces: Iterator[bytes], digest: Any) -> Iterator[bytes]:
    """The pieces, each added to the digest."""
    for piece in pieces:
        digest.update(piece)
        yield piece


def pieces(header: bytes, tensors: dict[str, torch.Tensor]) -> Iterator[bytes]:
    """The bytes of the file, piece by piece."""
    yield len(header).to_bytes(8, "little") + header
    for tensor in tensors.values():
        yield tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
