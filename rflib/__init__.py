"""Random feature maps for kernel methods, definite and indefinite."""

from rflib.lazy import attach

__version__ = "0.2.0.dev0"

MODULES, __getattr__, __dir__, __all__ = attach(__name__, __file__)
