"""The kernels of a study, by their labels."""

from collections.abc import Mapping
from typing import Any

from rflib.experiment.specs import build_kernel
from rflib.kernels.base import Kernel


def kernel_of(study: Mapping[str, Any], label: str) -> Kernel:
    """Return the kernel with this label."""
    spec = study["kernels"][label]
    return build_kernel({key: spec[key] for key in spec if key not in ("datasets", "methods", "preprocess")})
