"""Random feature maps, one file each; all are scikit-learn transformers."""

from rflib.lazy import attach

MODULES = {
    "DIGMM": "digmm",
    "FourierFeatures": "fourier",
    "GORF": "gorf",
    "GRFF": "grff",
    "MVORF": "mvorf",
    "ORF": "orf",
    "QMC": "qmc",
    "RFF": "rff",
    "RandomFeatureMap": "base",
    "SRF": "srf",
}

__getattr__, __all__ = attach(__name__, MODULES)
