"""Packages whose public names load on first use: a quick start, and no module loaded that is not needed.

The names stand once, as the imports of the package's stub ``__init__.pyi``, where type checkers read them too.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str
) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``(MODULES, __getattr__, __dir__, __all__)`` for the package in ``file`` (PEP 562).

    MODULES is the table of public name -> submodule that the stub holds.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    modules = dict(sorted((alias.name, str(node.module)) for node in imports for alias in node.names))
    names = list(modules)

    def getattr_(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return modules, getattr_, names.copy, names
