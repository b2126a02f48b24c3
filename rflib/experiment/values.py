"""Frozen values that are written, read and compared as JSON."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cached_property
from typing import Any, Self, cast, get_type_hints

from rflib.experiment.specs import canonical
from rflib.validation import hint


class Value:
    """A base class of frozen dataclasses whose fields are plain JSON or such values."""

    @property
    def content(self) -> dict[str, Any]:
        """The fields that are not at their defaults."""
        own = fields(cast(Any, self))
        found = {f.name: getattr(self, f.name) for f in own if getattr(self, f.name) != f.default}
        return {key: value.content if isinstance(value, Value) else value for key, value in found.items()}

    @cached_property
    def text(self) -> str:
        """The content as canonical JSON."""
        return canonical(self.content)

    @classmethod
    def of(cls, content: Any) -> Self:
        """Return the value with a content.

        Raises
        ------
        ValueError
            If the content is not a JSON object, or a key is unknown or missing. The message names the key.
        """
        names = [f.name for f in fields(cast(Any, cls))]
        if not isinstance(content, Mapping):
            raise ValueError(
                f"{cls.__name__} must be an object with the keys {', '.join(names)}, got {content!r}."
            )
        for key in content:
            if key not in names:
                raise ValueError(
                    f"{cls.__name__} has no key {key!r}.{hint(key, names)} Its keys are {', '.join(names)}."
                )
        missing = [f.name for f in fields(cast(Any, cls)) if f.default is MISSING and f.name not in content]
        if missing:
            raise ValueError(f"{cls.__name__}: the key {missing[0]!r} is missing.")
        types = get_type_hints(cls)
        return cls(**{key: _value(types[key], value) for key, value in content.items()})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def _value(wanted: Any, content: Any) -> Any:
    if isinstance(wanted, type) and issubclass(wanted, Value):
        return wanted.of(content)
    return tuple(content) if isinstance(content, list) else content
