"""Learners on random features, and the exact-kernel learners that they approximate."""

from rflib.lazy import attach

MODULES = {
    "DoublyStochasticClassifier": "doubly_stochastic",
    "DoublyStochasticRegressor": "doubly_stochastic",
    "ExactKRR": "exact",
    "ExactKRRClassifier": "exact",
    "ExactKernelSVC": "exact",
    "ExactKernelSVR": "exact",
    "HardMarginSVM": "hard_margin",
    "KRR": "krr",
    "KRRClassifier": "krr",
    "LinearSVM": "svm",
    "LinearSVR": "svm",
    "signed_columns": "signed",
}

__getattr__, __all__ = attach(__name__, MODULES)
