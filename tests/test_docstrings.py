"""Docstrings of public classes: examples run as printed, and choices are those that type checkers know."""

import doctest
import inspect
import re
from typing import Any, Literal, get_args, get_origin

import pytest

from rflib import kernels, learners, maps, plotting
from rflib.metrics import PairedTTest

CLASSES = [
    PairedTTest,
    *(
        found
        for package in (kernels, maps, learners, plotting)
        for name in package.__all__
        if inspect.isclass(found := getattr(package, name)) and not issubclass(found, Warning)
    ),
]


@pytest.mark.parametrize("documented", CLASSES, ids=lambda each: each.__name__)
def test_a_class_says_what_is_like_it_and_shows_itself_at_work(documented: type) -> None:
    text = inspect.getdoc(documented) or ""
    like = text.partition("\nSee Also\n--------\n")[2].partition("\n\n")[0].splitlines()
    assert like and all(re.fullmatch(r"[\w.]+ : .*\.", line) for line in like)
    for name in (line.split(" : ")[0] for line in like):
        assert "." in name or any(each.__name__ == name for each in CLASSES), name
    (test,) = doctest.DocTestFinder(recurse=False).find(documented, globs={})
    assert documented.__name__ in "".join(example.source for example in test.examples)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def choices(annotation: Any) -> set[Any]:
    """The values of the Literals in an annotation."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return {value for part in get_args(annotation) for value in choices(part)}


def annotation_of(found: type, name: str) -> Any:
    """The annotation of a parameter, evaluated where it stands."""
    for base in found.__mro__:
        own = vars(base).get("__init__", base)
        written = (
            own if own is not base and own.__code__.co_filename != "<string>" else base
        )  # no dataclass's
        if (text := written.__annotations__.get(name)) is not None:
            return eval(text, vars(inspect.getmodule(base))) if isinstance(text, str) else text
    raise AssertionError(name)


def test_the_choices_of_a_parameter_are_known_to_type_checkers() -> None:
    """What a docstring writes in braces, or in quotes, a Literal has; that of a base may have more."""
    seen = 0
    for found in CLASSES:
        listed = re.findall(r"^(\w+) : (.*)$", inspect.getdoc(found) or "", re.M)
        for name, kind in listed:
            if name != "kernel" and name in inspect.signature(found).parameters:
                words = kind.partition(", default")[0]
                written = {eval(word) for word in re.findall(r'"\w+"|(?<=[{ ])\d(?=[,}])', words)}
                known = choices(annotation_of(found, name))
                assert written <= known and bool(written) == bool(known), (found.__name__, name)
                seen += bool(written)
    assert seen > 45
