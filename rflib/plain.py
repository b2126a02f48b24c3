"""Values as named plain arrays and back, for files without pickled objects.

Values are arrays, numbers, texts, None, and tuples, lists, dictionaries and dataclasses of these. What is made of
others has a marker, whose name ends in "@", and the names of its parts begin with its own and a dot.
"""

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


def flatten(values: Mapping[str, Any]) -> dict[str, NDArray]:
    """Return the arrays that stand for named values. An object that occurs again is written once.

    Raises
    ------
    TypeError
        If a value is of another kind. The message names it.
    """
    found: dict[str, NDArray] = {}
    places: dict[int, str] = {}

    def put(name: str, value: Any) -> None:
        if value is None:
            found[f"{name}@"] = np.array(["None"])
            return
        if is_dataclass(value) and not isinstance(value, type):
            kind = [f"{type(value).__module__}:{type(value).__qualname__}"]
            parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        elif isinstance(value, tuple | list):
            kind, parts = (
                [type(value).__name__, str(len(value))],
                {str(i): item for i, item in enumerate(value)},
            )
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            kind, parts = ["dict", *value], value
        else:
            array = np.asarray(value)
            if array.dtype.kind not in "biufcUS":
                raise TypeError(f"{name} is no array, number or text, but {type(value).__name__}")
            found[name] = array
            return
        if id(value) in places:
            found[f"{name}@"] = np.array(["same", places[id(value)]])
            return
        places[id(value)] = name
        found[f"{name}@"] = np.array(kind)
        for part, inner in parts.items():
            put(f"{name}.{part}", inner)

    for name, value in values.items():
        put(name, value)
    return found


def is_plain(value: Any) -> bool:
    """Return whether `flatten` takes a value."""
    try:
        flatten({"": value})
        return True
    except TypeError:
        return False


def unflatten(arrays: Mapping[str, NDArray], name: str) -> Any:
    """Return the value of a name from the arrays that `flatten` made.

    Raises
    ------
    KeyError
        If there is none, or a part of it is missing.
    TypeError, ValueError
        If an array is not what `flatten` writes.
    """
    if f"{name}@" not in arrays:
        array = arrays[name]
        return array.item() if array.ndim == 0 else array
    kind, *rest = map(str, arrays[f"{name}@"])
    match kind:
        case "None":
            return None
        case "same":
            return unflatten(arrays, rest[0])
        case "dict":
            return {key: unflatten(arrays, f"{name}.{key}") for key in rest}
        case "tuple" | "list":
            items = [unflatten(arrays, f"{name}.{i}") for i in range(int(rest[0]))]
            return items if kind == "list" else tuple(items)
    cls = _dataclass(kind)
    return cls(
        **{field.name: unflatten(arrays, f"{name}.{field.name}") for field in fields(cls) if field.init}
    )


def _dataclass(kind: str) -> Any:
    """Return the dataclass "module:name", whose module is of rflib or has been imported already."""
    module, _, name = kind.partition(":")
    found = import_module(module) if module.startswith("rflib.") else sys.modules.get(module)
    cls = getattr(found, name, None)
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise TypeError(f"{kind!r} is no dataclass that is known here")
    return cls
