"""What a fit has learned: the attributes whose names end with an underscore, as plain arrays and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.plain import flatten, is_plain, unflatten


def learned(estimator: Any) -> dict[str, Any]:
    """Return what an estimator has learned, by name."""
    return {name: vars(estimator)[name] for name in sorted(vars(estimator)) if _is_learned(name)}


def forget(estimator: Any, *kept: str) -> None:
    """Delete what an estimator has learned, but for some names."""
    for name in learned(estimator).keys() - {*kept}:
        delattr(estimator, name)


def arrays_of(values: Mapping[str, Any]) -> dict[str, NDArray]:
    """Return the arrays that stand for what was learned, without what is not plain (`rflib.plain`).

    What has a ``state`` of its own, such as a map, is that: its name and a dot come before those of the arrays.
    """
    found: dict[str, Any] = {}
    inner: dict[str, NDArray] = {}
    for name, value in values.items():
        if hasattr(value, "state"):
            inner |= {f"{name}.{part}": array for part, array in value.state().items()}
            continue
        if issparse(value):
            value = value.toarray()
        elif name == "feature_names_in_":
            value = value.astype(str)
        if is_plain(value):
            found[name] = value
    return flatten(found) | inner


def put_back(estimator: Any, arrays: Mapping[str, NDArray]) -> None:
    """Set what `arrays_of` stands for; a map inside the estimator is its ``_unfitted``, restored at the end."""
    names = {re.split("[.@]", name)[0] for name in arrays}
    inside = {name for name in names if f"{name}.signature_" in arrays}
    for name in filter(_is_learned, names - inside):
        value = unflatten(arrays, name)
        setattr(estimator, name, value.astype(object) if name == "feature_names_in_" else value)
    for name in inside:
        state = {k.removeprefix(f"{name}."): v for k, v in arrays.items() if k.startswith(f"{name}.")}
        setattr(estimator, name, estimator._unfitted(name).restore(state))


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("__")
