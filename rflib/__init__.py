"""Random feature maps for kernel methods, definite and indefinite."""

__version__ = "0.2.0.dev0"
