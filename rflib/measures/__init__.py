"""Signed spectral measures: what the frequencies of a kernel are drawn from."""

from rflib.lazy import attach

MODULES, __getattr__, __dir__, __all__ = attach(__name__, __file__)
