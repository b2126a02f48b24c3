"""Constructors of maps from the annotated parameters in the bodies of their classes, and choices of these."""

from dataclasses import Field, field, make_dataclass
from inspect import get_annotations
from typing import Any, Literal, TypeVar, dataclass_transform

T = TypeVar("T")
Directions = Literal["iid", "orthogonal", "frame", "halton", "sobol"]
Radii = Literal["iid", "paired", "stratified", "halton"]
Layout = Literal["cos_sin", "phase"]


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_parameters(cls: type[T]) -> type[T]:
    """Give a class an ``__init__`` that sets its parameters, by name but for those that are a `field`.

    They are the annotated attributes of its body, such as ``radii: str = "iid"``, and the parameters of its base
    class. One of the latter that the body sets without an annotation, as in ``measure = "exact"``, is fixed.
    """
    own: dict[str, tuple[Any, bool]] = {}
    for name, kind in get_annotations(cls).items():
        if name.strip("_") == name and "ClassVar" not in str(kind):
            given = getattr(cls, name)
            own[name] = kind, not isinstance(given, Field)
            if isinstance(given, Field):
                setattr(cls, name, given.default)
    inherited: dict[str, tuple[Any, bool]] = getattr(cls, "_parameters", {})
    found = {name: kind for name, kind in inherited.items() if name in own or name not in vars(cls)} | own
    found["random_state"] = found.pop("random_state")
    specs = [
        (name, kind, field(default=getattr(cls, name), kw_only=by_name))
        for name, (kind, by_name) in found.items()
    ]
    made: Any = make_dataclass(cls.__name__, specs, eq=False, repr=False)
    made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    for name, value in {"__init__": made.__init__, "_parameters": found}.items():
        setattr(cls, name, value)
    return cls
