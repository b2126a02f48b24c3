"""The versions of what rflib computes with, for reports of errors."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info

import rflib

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "joblib", "numba", "liblinear-official"),
    *("pandas", "pyarrow", "dask", "torch", "matplotlib", "snakemake"),
)


def show_versions() -> None:
    """Print the versions of rflib, Python and what rflib computes with, for a report of an error."""
    import scipy.linalg  # noqa: F401  loads the libraries of threads that are listed below
    import sklearn.utils  # noqa: F401

    found = {
        "rflib": rflib.__version__,
        "python": sys.version.replace("\n", " "),
        "machine": platform.platform(),
    }
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    for library in threadpool_info():
        name = Path(library["filepath"]).name.split("-")[0]
        what = " ".join(filter(None, (library["internal_api"], library["version"])))
        found[name] = f"{what}, {library['num_threads']} threads"
    width = max(map(len, found))
    print("\n".join(f"{name:>{width}}: {value}" for name, value in found.items()))
