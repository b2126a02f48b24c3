"""Checks of parameters, whose messages have one form: ``Class: parameter must be ..., got ....``.

Each check reads the parameter from its owner, an estimator or a kernel, and raises ValueError if it is not valid.
Where a word is looked up in a list, ``hint`` suggests the most similar one.
"""

import difflib
from collections.abc import Collection, Iterable
from math import isfinite, nan
from numbers import Integral, Real
from operator import ge, gt, le
from typing import NoReturn


def refuse(owner: object, name: str, expected: str) -> NoReturn:
    """Raise the ValueError that says which values a parameter takes, and which it was given."""
    raise ValueError(f"{type(owner).__name__}: {name} must be {expected}, got {getattr(owner, name)!r}.")


def check_integer(owner: object, name: str, *, at_least: int, or_none: bool = False) -> None:
    """Raise ValueError unless the parameter is an integer (not a bool, not 2.0) of at least ``at_least``."""
    value = getattr(owner, name)
    if or_none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        refuse(owner, name, f"an integer of at least {at_least}" + " or None" * or_none)


def check_number(
    owner: object,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    or_none: bool = False,
) -> None:
    """Raise ValueError unless the parameter is a finite real number (not a bool) within the bounds."""
    value = getattr(owner, name)
    if or_none and value is None:
        return
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    limits = (("above", above, gt), ("of at least", at_least, ge), ("of at most", at_most, le))
    bounds = [(words, bound, holds) for words, bound, holds in limits if bound is not None]
    if not isfinite(number) or not all(holds(number, bound) for _, bound, holds in bounds):
        expected = " and ".join(f"{words} {bound}" for words, bound, _ in bounds)
        refuse(owner, name, f"a number {expected}".rstrip() + " or None" * or_none)


def check_choice(owner: object, name: str, choices: Collection[object]) -> None:
    """Raise ValueError unless the parameter is one of the choices."""
    value = getattr(owner, name)
    plain = isinstance(value, str | Integral) and not isinstance(value, bool)
    if not any(value is c or (plain and not isinstance(c, bool) and value == c) for c in choices):
        refuse(owner, name, "one of " + ", ".join(map(repr, choices)))


def check_flag(owner: object, name: str) -> None:
    """Raise ValueError unless the parameter is True or False."""
    check_choice(owner, name, (True, False))


def hint(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return " Did you mean ...?" with the most similar known word, or "" if no known word is similar."""
    words = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(word).lower(), words, n=1, cutoff=likeness)
    return f" Did you mean {words[near[0]]!r}?" if near else ""
