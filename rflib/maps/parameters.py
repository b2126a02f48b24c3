"""Constructors of maps from the annotated parameters in the bodies of their classes, and choices of these."""

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

T = TypeVar("T")
Directions = Literal["iid", "orthogonal", "frame", "halton", "sobol"]
Radii = Literal["iid", "paired", "stratified", "halton"]
Layout = Literal["cos_sin", "phase"]


@dataclass_transform(eq_default=False)
def with_parameters(cls: type[T]) -> type[T]:
    """Give a class an ``__init__`` that sets its annotated parameters, of which those after KW_ONLY have a name.

    It is that of a dataclass, but the class is none, because its fitted attributes are part of its objects too.
    """
    made = dataclass(eq=False, repr=False, match_args=False)(cls)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        delattr(made, name)
    return made
