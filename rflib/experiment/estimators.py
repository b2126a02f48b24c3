"""Estimators of scikit-learn's kind as a study file declares them: classes by their import paths, with parameters.

A mapping with the key ``type`` is an object of that class, at any depth: a pipeline's steps, the encoder of some
columns, the estimator of a search. The other keys are the parameters of the class. A type is
"package.module:Class" or a public name of rflib. A list of a name and objects, such as a step of a pipeline,
becomes a tuple.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from rflib.experiment.specs import Spec, canonical
from rflib.validation import hint

TASKS = ("classification", "regression")
# What a study says of an estimator besides its type and parameters.
ABOUT = ("task", "optional", "datasets")
_RFLIB = import_module("rflib")
_PUBLIC: dict[str, str] = {name: module for name, module in _RFLIB.MODULES.items() if name != module}


def of_task(asked: Spec, task: str) -> Spec | None:
    """Return the specification of the estimator for a task; None if the study has none for it.

    Raises
    ------
    ValueError
        If the entry has neither a type nor one for each task, or has both.
    """
    given = [key for key in TASKS if key in asked]
    if ("type" in asked) == bool(given):
        raise ValueError(
            "give either type, with the estimator's parameters, or an estimator under classification, regression "
            f"or both; got the keys {', '.join(asked)}."
        )
    if given:
        if other := [key for key in asked if key not in (*TASKS, *ABOUT)]:
            known = ", ".join((*TASKS, *ABOUT))
            raise ValueError(f"unknown key {other[0]!r} beside {given[0]}. The keys are {known}.")
        return asked.get(task)
    spec = {key: value for key, value in asked.items() if key not in ABOUT}
    return spec if asked.get("task", task) == task else None


def build_estimator(spec: Any, seed: int | None = None) -> Any:
    """Return the unfitted estimator of a specification.

    Parameters
    ----------
    spec : mapping
        The specification. A part of it may be any value.
    seed : int, optional
        Every parameter ``random_state`` that is None gets this number, in the estimator and in its parts.

    Raises
    ------
    ValueError
        For a type that cannot be imported, an unknown parameter, or a value that the class refuses.
    """
    estimator = _built(spec)
    if seed is not None and hasattr(estimator, "get_params"):
        values = estimator.get_params().items()
        unset = [name for name, value in values if name.split("__")[-1] == "random_state" and value is None]
        estimator.set_params(**dict.fromkeys(unset, seed))
    return estimator


def missing_packages(spec: Spec) -> list[str]:
    """Return the packages of a specification's types that are not installed."""
    packages = dict.fromkeys(module.split(".")[0] for module in modules_of(spec))
    return [package for package in packages if find_spec(package) is None]


def libraries(spec: Spec) -> str:
    """Return the versions of a specification's packages that are installed under their own names."""
    packages = sorted({module.split(".")[0] for module in modules_of(spec)} - {"rflib", "sklearn"})
    found = []
    for package in packages:
        with suppress(PackageNotFoundError):
            found.append(f"{package}={version(package)}")
    return " ".join(found)


def modules_of(spec: Any) -> Iterator[str]:
    """Yield the module of each type of a specification, at any depth."""
    if isinstance(spec, Mapping):
        name = str(spec.get("type", ""))
        if ":" in name:
            yield name.split(":")[0]
        elif name in _PUBLIC:
            yield f"rflib.{_PUBLIC[name]}"
    if isinstance(spec, Mapping | list):
        for item in spec.values() if isinstance(spec, Mapping) else spec:
            yield from modules_of(item)


def _built(value: Any) -> Any:
    if isinstance(value, list):
        parts = [_built(item) for item in value]
        named = value and isinstance(value[0], str) and any(isinstance(item, Mapping) for item in value)
        return tuple(parts) if named else parts
    if not isinstance(value, Mapping):
        return value
    parameters = {key: _built(item) for key, item in value.items() if key != "type"}
    if "type" not in value:
        return parameters
    cls = _class_of(value["type"])
    known = inspect.signature(cls).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        for key in parameters:
            if key not in known:
                raise ValueError(
                    f"{value['type']} has no parameter {key!r}.{hint(key, known)} Its parameters are "
                    f"{', '.join(known)}."
                )
    try:
        return cls(**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{canonical(value)}: {error}") from error


def _class_of(name: str) -> Any:
    if ":" not in name:
        if name not in _PUBLIC:
            raise ValueError(
                f"rflib has no class {name!r}.{hint(name, _PUBLIC)} A class of another package is "
                "package.module:Class."
            )
        return getattr(_RFLIB, name)
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{name!r} cannot be imported: {error}. An estimator of a library that may be missing has the key "
            "optional: true."
        ) from error
