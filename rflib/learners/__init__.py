"""Learners on random features, and the exact-kernel learners that they approximate."""

from rflib.lazy import attach

MODULES = {
    "DoublyStochasticClassifier": "doubly_stochastic",
    "DoublyStochasticRegressor": "doubly_stochastic",
    "ExactKRR": "exact_ridge",
    "ExactKRRClassifier": "exact_ridge",
    "ExactKernelSVC": "exact_svm",
    "ExactKernelSVR": "exact_svm",
    "HardMarginSVM": "hard_margin",
    "KRR": "krr",
    "KRRClassifier": "krr",
    "LinearSVM": "svm",
    "LinearSVR": "svm",
    "SpectrumRepair": "spectrum_repair",
    "signed_columns": "signed_features",
}

__getattr__, __all__ = attach(__name__, MODULES)
