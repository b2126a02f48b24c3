"""The versions of what rflib computes with, for reports of errors."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info

import rflib

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "liblinear-official"),
    *("pandas", "pyarrow", "dask", "torch", "snakemake"),
)


def show_versions() -> None:
    """Print the versions of rflib, Python and what rflib computes with, for a report of an error."""
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
        found[library["internal_api"]] = f"{library['version']}, {library['num_threads']} threads"
    width = max(map(len, found))
    print("\n".join(f"{name:>{width}}: {value}" for name, value in found.items()))
