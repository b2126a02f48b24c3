"""Displays: pictures of maps and metrics in one line each, as scikit-learn's displays draw them."""

from rflib.lazy import attach

MODULES, __getattr__, __dir__, __all__ = attach(__name__, __file__)
