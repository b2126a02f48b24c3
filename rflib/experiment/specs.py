"""Objects and short readable identities from specifications, which are plain mappings as in a study file."""

import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from rflib.kernels.base import Kernel
from rflib.kernels.width import KernelWithWidth
from rflib.keywords import Keywords
from rflib.maps.base import RandomFeatureMap
from rflib.validation import hint

Spec = Mapping[str, Any]

_PACKAGES = {"kernel": "rflib.kernels", "method": "rflib.maps", "learner": "rflib.learners"}
# what a study says about a learner besides its parameters: how it gets the features
LEARNER_TREATMENTS = ("row_norms", "path")
# By how many folds ridge regression of a study chooses among its alphas, as in liu2020, unless the study says it.
FOLDS = 5
LONGEST = 60


def canonical(spec: Any) -> str:
    """Return JSON with sorted keys and no spaces, which is equal for equal specifications."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"))


def module_of(role: str, type_name: str) -> str:
    """Return the module that defines a kernel, method or learner.

    ``type_name`` is a public name of the package, or "package.module:Class" for one from outside rflib.

    Raises
    ------
    ValueError
        If the name is unknown. The message suggests a similar name and lists all names.
    """
    if ":" in type_name:
        return type_name.split(":", 1)[0]
    package = _PACKAGES[role]
    modules = import_module(package).MODULES
    if type_name not in modules:
        raise ValueError(
            f"There is no {role} {type_name!r}.{hint(type_name, modules)} The {role}s are "
            f"{', '.join(sorted(modules))}."
        )
    return f"{package}.{modules[type_name]}"


def class_of(role: str, type_name: str) -> type:
    """Return the class that a type name stands for."""
    module = module_of(role, type_name)
    name = type_name.split(":")[-1]
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{role} {type_name!r} cannot be imported: {error}") from error


def streams_features(learner: Spec) -> bool:
    """Whether a learner can make features in blocks and on devices: ridge regression on untreated features."""
    has_device = "device" in _parameters(class_of("learner", learner["type"]))
    return has_device and learner.keys().isdisjoint(LEARNER_TREATMENTS)


def device_of(learner: Spec, device: str) -> str:
    """Return the device for a learner's features: the CPU if it makes them itself, as gradients do."""
    return "cpu" if is_streaming(learner) else device


def is_streaming(learner: Spec) -> bool:
    """Whether a learner makes its features itself in pieces, so that its score is a curve."""
    return hasattr(class_of("learner", learner["type"]), "staged_predict")


@cache
def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class with the defaults that they have in a study."""
    found = dict(inspect.signature(cls).parameters)
    if cls.__module__.startswith("rflib.learners.") and {"alphas", "cv"} <= found.keys():
        found["cv"] = found["cv"].replace(default=FOLDS)
    return found


def build(role: str, spec: Spec, **extra: Any) -> Any:
    """Make the object of a specification from its type, its parameters and ``extra`` ones.

    Raises
    ------
    ValueError
        For an unknown type, an unknown parameter, or a value out of range.
    """
    options = {key: value for key, value in spec.items() if key != "type"}
    cls = class_of(role, spec["type"])
    known = _parameters(cls)
    if known.keys() >= {"alphas", "cv"} and known["cv"].default == FOLDS:
        options.setdefault("cv", FOLDS)
    for key in options:
        if key not in known:
            remedy = cls._called_here(key, options[key]) if issubclass(cls, Keywords) else None
            explained = f" {remedy}" if remedy else hint(key, known)
            raise ValueError(
                f"{spec['type']} has no parameter {key!r}.{explained} Its parameters are {', '.join(known)}."
            )
    try:
        return cls(**options, **extra)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{role} {canonical(spec)}: {error}") from error


def build_kernel(spec: Spec) -> Kernel:
    """Make the kernel of a specification. Lists become tuples, so that it can be hashed.

    Raises
    ------
    ValueError
        As `build` does, and if the width depends on the rows, because all cells must have the same kernel.
    """
    kernel: Kernel = build("kernel", {k: tuple(v) if isinstance(v, list) else v for k, v in spec.items()})
    if isinstance(kernel, KernelWithWidth) and not kernel.is_for_rows:
        raise ValueError(
            f"kernel {canonical(spec)}: a study needs a number for {kernel.width_parameter}, because all "
            "repetitions and steps share the kernel. Give the number that kernel.for_rows(X) finds."
        )
    return kernel


def build_map(spec: Spec, kernel: Kernel, **extra: Any) -> RandomFeatureMap:
    """Make the feature map of a method's specification for a kernel.

    A method that uses another one (CRAFT) has its specification as ``base``.
    """
    if isinstance(spec.get("base"), Mapping):
        base = build_map(spec["base"], kernel)
        return build("method", {k: v for k, v in spec.items() if k != "base"}, base=base, **extra)
    return build("method", spec, kernel=kernel, **extra)


def normalised(role: str, spec: Spec) -> dict[str, Any]:
    """Return the specification in its normal form, which is the same for all that mean the same object.

    Parameters with default values are left out, whole numbers are integers, and tuples are lists.
    """
    parameters = _parameters(class_of(role, spec["type"]))
    found = {"type": spec["type"]}
    for key, value in spec.items():
        if key == "base" and isinstance(value, Mapping):
            found[key] = normalised(role, value)
            continue
        default = parameters[key].default if key in parameters else inspect.Parameter.empty
        if key != "type" and _plain(value) != _plain(default):
            found[key] = _plain(value)
    return found


def identity(spec: Spec) -> str:
    """Return a short name for a normalised specification, from its type and parameters.

    It is safe as a file name. The end of a long name is replaced by a hash.
    """
    return shorten(_text(spec))


def meaning(role: str, spec: Spec) -> str:
    """Return the type of a specification with the values that differ from the defaults, sorted, without names.

    So it stays the same if a parameter is renamed, or a new one has its default value.
    """
    return _values(normalised(role, spec))


def shorten(name: str, longest: int = LONGEST) -> str:
    """Make a name safe as a file name. If it is long or had to be changed, it ends in its hash."""
    safe = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name)
    if safe == name and len(safe) <= longest:
        return safe
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{safe[: longest - 9]}-{digest}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _values(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _text(value)
    words = [value["type"]] if "type" in value else []
    return "-".join(words + sorted(_values(item) for key, item in value.items() if key != "type"))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        words = [value["type"].replace(":", ".")] if "type" in value else []
        return "-".join(words + [f"{key}={_text(value[key])}" for key in sorted(value) if key != "type"])
    if isinstance(value, list):
        return "_".join(map(_text, value))
    return str(value)
