"""Fingerprints of code: a hash over the syntax trees of modules and of what they import, without docstrings.

A job carries the fingerprint of the code that decides its result as a parameter, so an edit reruns just the jobs
that it can change: not those of another method, and none for a comment, a docstring or the layout.

Names that a package offers lazily (a table ``MODULES`` in its ``__init__``) are followed to their module; the
``__init__`` itself is left out, so that a new method leaves the others' fingerprints alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


@cache
def fingerprint(*modules: str) -> str:
    """Return 16 hexadecimal digits for the modules and everything that they import in their own packages."""
    digest = hashlib.sha256()
    for name in sorted(closure(*modules)):
        digest.update(f"{name} {_digest(name)}\n".encode())
    return digest.hexdigest()[:16]


def closure(*modules: str) -> set[str]:
    """Return the modules and everything that they import in their own packages."""
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_imports(name))
    return reached


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ValueError(f"The module {module!r} has no Python source to take a fingerprint of.")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"), spec.origin)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] if isinstance(first.value.value, str) else node.body
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


@cache
def _digest(module: str) -> str:
    return hashlib.sha256(ast.dump(_tree(module)).encode()).hexdigest()


@cache
def _imports(module: str) -> tuple[str, ...]:
    packages = {"rflib", module.split(".", 1)[0]}
    return tuple(sorted(set(_imported(module, packages)) - {module}))


def _imported(module: str, packages: set[str]) -> Iterator[str]:
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            within = base.split(".", 1)[0] in packages
            names = [_defining(base, alias.name) for alias in node.names] if within else []
        else:
            continue
        yield from (name for name in names if name.split(".", 1)[0] in packages and not _is_package(name))


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
    return f"{base}.{name}" if find_spec(f"{base}.{name}") else base


@cache
def _is_package(module: str) -> bool:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.submodule_search_locations is not None
