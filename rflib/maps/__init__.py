"""Random feature maps, one file each; all are scikit-learn transformers."""

from rflib.lazy import attach

MODULES = {
    "AutoMap": "auto",
    "CRAFT": "craft",
    "DIGMM": "digmm",
    "FourierFeatures": "fourier",
    "GORF": "gorf",
    "GRFF": "grff",
    "LeverageRFF": "leverage",
    "MVORF": "mvorf",
    "MomentMatching": "moment_matching",
    "Nystroem": "nystroem",
    "ORF": "orf",
    "OptimizedMaclaurin": "optimized_maclaurin",
    "QMC": "qmc",
    "QuadratureRFF": "quadrature",
    "RFF": "rff",
    "RandomFeatureMap": "base",
    "RandomMaclaurin": "maclaurin",
    "SORF": "sorf",
    "SRF": "srf",
    "SurrogateLeverageRFF": "leverage",
    "TensorSketch": "tensor_sketch",
}

__getattr__, __all__ = attach(__name__, MODULES)
