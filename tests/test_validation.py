"""Checks of parameters: what they let through, and the words with which they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest

from rflib.validation import check_choice, check_flag, check_integer, check_number


@pytest.mark.parametrize("value", [1, np.int64(7)])
def test_integers_pass(value):
    check_integer(SimpleNamespace(n=value), "n", at_least=1)


@pytest.mark.parametrize("value", [0, True, 2.0, "2", None, float("nan")])
def test_other_things_are_no_integers(value):
    with pytest.raises(ValueError, match=r"^SimpleNamespace: n must be an integer of at least 1, got "):
        check_integer(SimpleNamespace(n=value), "n", at_least=1)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5)])
def test_numbers_pass(value):
    check_number(SimpleNamespace(c=value), "c", above=0)


@pytest.mark.parametrize(
    "value", [0, -1.0, "a", True, float("inf"), float("nan"), np.array([1.0, 2.0]), None]
)
def test_other_things_are_no_positive_numbers(value):
    with pytest.raises(ValueError, match=r"^SimpleNamespace: c must be a number above 0, got "):
        check_number(SimpleNamespace(c=value), "c", above=0)


def test_none_passes_where_it_is_allowed_and_is_named():
    owner = SimpleNamespace(c=None, n=None)
    check_number(owner, "c", above=0, or_none=True)
    check_integer(owner, "n", at_least=1, or_none=True)
    with pytest.raises(ValueError, match="a number of at least 0 and of at most 1 or None, got 2"):
        check_number(SimpleNamespace(c=2), "c", at_least=0, at_most=1, or_none=True)


def test_choices_are_listed():
    check_choice(SimpleNamespace(loss="hinge"), "loss", ("hinge", "squared_hinge"))
    check_choice(SimpleNamespace(loss=np.str_("hinge")), "loss", ("hinge", "squared_hinge"))
    with pytest.raises(ValueError, match="loss must be one of 'hinge', 'squared_hinge', got 'log'"):
        check_choice(SimpleNamespace(loss="log"), "loss", ("hinge", "squared_hinge"))
    with pytest.raises(ValueError, match=r"loss must be one of 'hinge', got array\("):
        check_choice(SimpleNamespace(loss=np.array(["hinge", "b"])), "loss", ("hinge",))


def test_a_flag_is_true_or_false_and_nothing_like_it():
    check_flag(SimpleNamespace(dual=False), "dual")
    with pytest.raises(ValueError, match="dual must be one of True, False, got 1"):
        check_flag(SimpleNamespace(dual=1), "dual")
