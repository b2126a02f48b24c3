"""Random feature maps, one file each; all are scikit-learn transformers."""

from rflib.lazy import attach

MODULES, __getattr__, __dir__, __all__ = attach(__name__, __file__)
