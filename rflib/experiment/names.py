"""From specifications (plain mappings, as in a study file) to objects, and to short readable identities."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rflib.kernels.base import Kernel
from rflib.maps.base import RandomFeatureMap

Spec = Mapping[str, Any]

_PACKAGES = {"kernel": "rflib.kernels", "method": "rflib.maps", "learner": "rflib.learners"}
_LONGEST = 60


def canonical(spec: Any) -> str:
    """JSON text with sorted keys and no spaces: equal for equal specifications."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"))


def module_of(role: str, type_name: str) -> str:
    """Return the module that defines a kernel, method or learner.

    ``type_name`` is a public name of the package, or "package.module:Class" for one from outside rflib.

    Raises
    ------
    ValueError
        If the name is unknown; the message lists what there is, the nearest first.
    """
    if ":" in type_name:
        return type_name.split(":", 1)[0]
    package = _PACKAGES[role]
    modules = import_module(package).MODULES
    if type_name not in modules:
        near = difflib.get_close_matches(type_name, modules, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"unknown {role} {type_name!r}: {hint}There are {', '.join(sorted(modules))}.")
    return f"{package}.{modules[type_name]}"


def class_of(role: str, type_name: str) -> type:
    """Return the class that a type name stands for."""
    module = module_of(role, type_name)
    name = type_name.split(":")[-1]
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{role} {type_name!r} cannot be imported: {error}") from error


def build(role: str, spec: Spec, **extra: Any) -> Any:
    """Make the object of a specification: its type with its parameters, and ``extra`` ones.

    Raises
    ------
    ValueError
        For an unknown type, an unknown parameter, or a value out of range.
    """
    options = {key: value for key, value in spec.items() if key != "type"}
    cls = class_of(role, spec["type"])
    known = inspect.signature(cls).parameters
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{role} {spec['type']} has no parameter {key!r}{hint} It has {', '.join(known)}."
            )
    try:
        return cls(**options, **extra)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{role} {canonical(spec)}: {error}") from error


def build_kernel(spec: Spec) -> Kernel:
    """Make the kernel of a specification; lists become tuples, so that it can be hashed."""
    return build("kernel", {k: tuple(v) if isinstance(v, list) else v for k, v in spec.items()})


def build_map(spec: Spec, kernel: Kernel, **extra: Any) -> RandomFeatureMap:
    """Make the feature map of a method's specification for a kernel.

    A method over another one (CRAFT) has that one's specification as ``base``.
    """
    if isinstance(spec.get("base"), Mapping):
        base = build_map(spec["base"], kernel)
        return build("method", {k: v for k, v in spec.items() if k != "base"}, base=base, **extra)
    return build("method", spec, kernel=kernel, **extra)


def identity(role: str, spec: Spec) -> str:
    """Return a short name for a specification: its type and the parameters that are not defaults.

    Two specifications of the same object have the same identity, whatever a study calls them. It is safe as a
    file name; the tail of a long one is replaced by a hash.
    """
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(class_of(role, spec["type"])).parameters.items()
    }
    words = [spec["type"].split(":")[-1]]
    for key in sorted(spec):
        value = tuple(spec[key]) if isinstance(spec[key], list) else spec[key]
        if key != "type" and value != defaults.get(key, inspect.Parameter.empty):
            text = identity(role, value) if key == "base" and isinstance(value, Mapping) else _text(value)
            words.append(f"{key}={text}")
    return shorten("-".join(words))


def shorten(name: str) -> str:
    """Make a name safe as a file name, and a hash of its tail if it is long."""
    safe = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name)
    if len(safe) <= _LONGEST:
        return safe
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{safe[: _LONGEST - 9]}-{digest}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "+".join(
            [str(value["type"]) if "type" in value else ""]
            + [f"{k}={_text(v)}" for k, v in sorted(value.items()) if k != "type"]
        ).lstrip("+")
    if isinstance(value, tuple | list):
        return "_".join(_text(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
