"""Rows of unit norm, and what the classes of laws declare as parameters of the laws."""

from inspect import isfunction

import pytest

from .laws import MapLaws
from .rows import X as ROWS
from .rows import Y as TARGETS
from .rows import sphere as sphere

DECLARED = {
    "case": ("unbiased", "biased"),
    "unbiased_case": ("unbiased",),
    "streamed_case": ("unbiased", "biased", "streamed"),
    "general_case": ("general",),
    "gradient_case": ("gradients",),
    "variant": ("variants",),
    "noticing": ("notices",),
}


def pytest_generate_tests(metafunc):
    if metafunc.cls and issubclass(metafunc.cls, MapLaws):
        for name in (name for name in DECLARED if name in metafunc.fixturenames):
            values = [value for part in DECLARED[name] for value in getattr(metafunc.cls, part)]
            metafunc.parametrize(name, values, ids=described)


def described(value):
    kernel, options = value if isinstance(value, tuple) else ("", value)
    kernel = "profile" if isfunction(kernel) else kernel
    said = "_".join(f"{name}={option}" for name, option in options.items())
    return "_".join(filter(None, [f"{kernel}".replace(" ", ""), said]))[:60] or "default"


@pytest.fixture(scope="session")
def X():
    return ROWS


@pytest.fixture(scope="session")
def y():
    return TARGETS
