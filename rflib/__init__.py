"""Random feature maps for kernel methods, definite and indefinite."""

from rflib.lazy import attach

__version__ = "0.3.0"

MODULES, __getattr__, __dir__, _names = attach(__name__, __file__)
# What `from rflib import *` brings; datasets needs an extra.
__all__ = [name for name in _names if name != "datasets"]
