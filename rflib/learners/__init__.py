"""Learners on random features, and learners with the exact kernel, which they approximate."""

from rflib.lazy import attach

MODULES, __getattr__, __dir__, __all__ = attach(__name__, __file__)
