"""Packages whose public names load on first use: a quick start, and no module loaded that is not needed.

The names stand once, as the imports of the package's stub ``__init__.pyi``, where type checkers read them too.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rflib.validation import hint

# Names of scikit-learn and GPyTorch, and what to take here.
_ELSEWHERE = {
    **dict.fromkeys(
        ("GaussianProcessRegressor", "ExactGP"),
        "KRR(feature_map=MercerFeatures(), criterion='marginal_likelihood'), with predict(X, return_std=True)",
    ),
    **dict.fromkeys(("SVC", "NuSVC"), "KernelClassifier(), or ExactKernelSVC() as it is"),
    **dict.fromkeys(("SVR", "NuSVR"), "KernelRegressor(), or ExactKernelSVR() as it is"),
    "GaussianProcessClassifier": "KernelClassifier(), with predict_proba",
    "KernelRidge": "KRR(feature_map=MercerFeatures()), or ExactKRR() as it is",
    "LinearSVC": "LinearSVM()",
    **dict.fromkeys(("RBFSampler", "RFFKernel"), "RFF(), or MercerFeatures() with less error"),
    "PolynomialCountSketch": "OptimizedMaclaurin(), or TensorSketch() as it is",
    **dict.fromkeys(("RBF", "RBFKernel"), "Gaussian()"),
    **dict.fromkeys(("WhiteKernel", "GaussianLikelihood"), "KRR, which estimates the noise: noise_variance_"),
    **dict.fromkeys(
        ("ConstantKernel", "ScaleKernel"), "KRR, which chooses a ridge that acts as a factor does"
    ),
    "MaternKernel": "Matern()",
    "PolynomialKernel": "Polynomial()",
}


def attach(
    package: str, file: str
) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``(MODULES, __getattr__, __dir__, __all__)`` for the package in ``file`` (PEP 562).

    MODULES is the table of public name -> submodule that the stub holds. Submodules themselves, and the names of
    subpackages of which all are imported, are public too.
    """
    modules = _names(Path(file).parent)
    names = sorted(modules)

    def getattr_(name: str) -> Any:
        if name not in modules:
            # With the name, the interpreter adds no other hint of its own.
            found = f" Take {_ELSEWHERE[name]}." if name in _ELSEWHERE else hint(name, names)
            raise AttributeError(f"module {package!r} has no attribute {name!r}.{found}", name=name)
        module = import_module(f"{package}.{modules[name]}")
        return module if name == modules[name] else getattr(module, name)

    return modules, getattr_, names.copy, names


def _names(folder: Path) -> dict[str, str]:
    """Return the names in the stub of the package in a folder, and the modules below it that have them."""
    found: dict[str, str] = {}
    stub = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    for node in (node for node in stub.body if isinstance(node, ast.ImportFrom)):
        for alias in node.names:
            if alias.name == "*":
                inner = _names(folder / str(node.module))
                found |= {name: f"{node.module}.{module}" for name, module in inner.items()}
            else:
                found[alias.name] = node.module or alias.name
    return found
