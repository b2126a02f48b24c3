"""Arrays of other libraries than numpy, and what they do not allow: to be copied to the host.

The tests need SCIPY_ARRAY_API=1 before scipy is imported: `make test-arrays`. Else they are skipped by name.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn import config_context


class Home(NamedTuple):
    """A library and one of its devices."""

    xp: ModuleType
    device: Any
    dtypes: tuple[str, ...] = ("float64", "float32")

    def array(self, values: Any, dtype: str | None = None) -> Any:
        values = np.asarray(values)
        return self.xp.asarray(values if dtype is None else values.astype(dtype), device=self.device)

    def holds(self, values: Any) -> bool:
        return isinstance(values, type(self.array([0.0], "float32"))) and str(values.device) == str(
            self.array([0.0], "float32").device
        )


def strict(device: str, *dtypes: str) -> Home:
    xp = pytest.importorskip("array_api_strict")
    return Home(xp, xp.Device(device), dtypes or Home._field_defaults["dtypes"])


def torch_on(device: str) -> Home:
    xp = pytest.importorskip("torch")
    if device == "cuda" and not xp.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return Home(xp, xp.device(device))


def cupy() -> Home:
    pytest.importorskip("cupy")
    return Home(importlib.import_module("array_api_compat.cupy"), None)


HOMES: dict[str, Callable[[], Home]] = {
    "strict": lambda: strict("device1"),
    "strict without float64": lambda: strict("no_float64", "float32"),
    "torch": lambda: torch_on("cpu"),
    "torch on CUDA": lambda: torch_on("cuda"),
    "CuPy": cupy,
}


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("SCIPY_ARRAY_API=1 is not set")
    pytest.importorskip("array_api_compat")
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest) -> Home:
    return HOMES[request.param]()


@pytest.fixture
def stays_there(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a context in which no array with more than so many numbers may be copied to the host."""

    @contextmanager
    def guarded(most: int = 1) -> Iterator[None]:
        def refusing(method: Callable[..., Any]) -> Callable[..., Any]:
            def refused(array: Any, *args: Any, **options: Any) -> Any:
                assert isinstance(array, np.ndarray) or int(np.prod(array.shape)) <= most, array.shape
                return method(array, *args, **options)

            return refused

        with monkeypatch.context() as patch:
            patch.setattr(np, "from_dlpack", refusing(np.from_dlpack))
            if torch := sys.modules.get("torch"):
                for name in ("numpy", "cpu", "tolist", "__array__", "__dlpack__"):
                    patch.setattr(torch.Tensor, name, refusing(getattr(torch.Tensor, name)))
            yield

    return guarded
