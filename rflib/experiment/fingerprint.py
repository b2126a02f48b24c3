"""Fingerprints of code: a hash of the syntax trees of modules and of all that they import, without docstrings.

The fingerprint of the code that decides the result of a job is a parameter of the job. So an edit reruns only the
jobs whose results it can change. An edit of another method, a comment, a docstring or the layout reruns nothing.

Imports are followed into rflib, into the module's own package, and into modules and packages in the same folder,
as scripts have them; not into installed packages. Names that a package offers lazily, in a table ``MODULES`` of
its ``__init__``, are followed to their modules without the ``__init__``. Those of rflib are left out everywhere,
so that a new method does not change the fingerprints of the others.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path

_PARTS = ("body", "handlers", "orelse", "finalbody", "cases")
_INSTALLED = ("site-packages", "dist-packages")


@cache
def fingerprint(*modules: str) -> str:
    """Return 16 hexadecimal digits for the modules and all that they import, except for installed packages."""
    digest = hashlib.sha256()
    for name in sorted(closure(*modules)):
        digest.update(f"{name} {_parsed(name)[0]}\n".encode())
    return digest.hexdigest()[:16]


def closure(*modules: str) -> set[str]:
    """Return the modules and all that they import, except for installed packages."""
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_parsed(name)[1])
    return reached


def is_installed(module: str) -> bool:
    """Whether a module is of an installed package other than rflib, so that its versions tell its code."""
    top = module.split(".", 1)[0]
    return top != "rflib" and _folder(top) is None


@cache
def _parsed(module: str) -> tuple[str, tuple[str, ...]]:
    """Return a digest of a module's syntax tree, and the modules that it imports and that are followed."""
    spec = _spec(module)
    if spec is not None and spec.origin is None and spec.submodule_search_locations is not None:
        return "", ()  # a folder without an __init__
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ValueError(f"The module {module!r} has no Python source, so it has no fingerprint.")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"), spec.origin)
    found: set[str] = set()
    nodes: list[ast.AST] = [tree]
    while nodes:  # statements and what has statements; imports and docstrings are never in an expression
        node = nodes.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] if isinstance(first.value.value, str) else node.body
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if _is_followed(alias.name, module))
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            if _is_followed(base, module):
                found.update(_defining(base, alias.name) for alias in node.names)
        for part in _PARTS:
            nodes.extend(getattr(node, part, ()))
    imports = {name for name in found - {module} if name.split(".", 1)[0] != "rflib" or not _is_package(name)}
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(imports))


def _is_followed(imported: str, module: str) -> bool:
    """Whether a module's import is of rflib, of its own package, or of what lies in the same folder."""
    top, own = imported.split(".", 1)[0], module.split(".", 1)[0]
    return top in ("rflib", own) or (_folder(top) is not None and _folder(top) == _folder(own))


@cache
def _folder(top: str) -> Path | None:
    """Return the folder that holds a module or package; None for installed ones and for those without source."""
    spec = _spec(top)
    places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec is not None else []
    if not places or (not _is_package(top) and not places[0].endswith(".py")):
        return None
    folder = Path(places[0]).parent
    installed = {get_path(kind) for kind in ("stdlib", "purelib", "platlib")}
    return None if str(folder) in installed or folder.name in _INSTALLED else folder


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parent = module.split(".") if _is_package(module) else module.split(".")[:-1]
    parts = parent[: len(parent) - node.level + 1]
    return ".".join(parts + ([node.module] if node.module else []))


def _defining(base: str, name: str) -> str:
    """Return the module that ``from base import name`` gets the name from."""
    if not _is_package(base):
        return base
    table = getattr(import_module(base), "MODULES", {})
    if name in table:
        return f"{base}.{table[name]}"
    return f"{base}.{name}" if _spec(f"{base}.{name}") else base


def _is_package(module: str) -> bool:
    spec = _spec(module)
    return spec is not None and spec.submodule_search_locations is not None


@cache
def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None
