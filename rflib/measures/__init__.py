"""Signed spectral measures: what the frequencies of a kernel are drawn from."""

from rflib.lazy import attach

MODULES = {
    "AtomicLadder": "atomic",
    "AtomicMeasure": "atomic",
    "Domain": "domain",
    "ProductMeasure": "base",
    "RadialMeasure": "base",
    "RangeWarning": "domain",
    "Sampling": "base",
    "exact_measure": "exact_measures",
}

__getattr__, __all__ = attach(__name__, MODULES)
