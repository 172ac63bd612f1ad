"""The fitted files that the package ships, decoded."""

import pkgutil
from typing import TypeVar

import msgspec

Kind = TypeVar("Kind", bound=msgspec.Struct)


def load_shipped(name: str, kind: type[Kind]) -> Kind:
    """`data/<name>.json`, or an empty `kind` where there is no such file, as before the first fit."""
    try:
        data = pkgutil.get_data("traindx.causes", f"data/{name}.json")
    except FileNotFoundError:
        return kind()
    return msgspec.json.decode(data or b"{}", type=kind)
