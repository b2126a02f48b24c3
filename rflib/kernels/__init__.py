"""Exact kernels, one file each."""

from rflib.lazy import attach

MODULES = {
    "ArcCosine": "arc_cosine",
    "Cauchy": "cauchy",
    "DeltaGaussian": "delta_gaussian",
    "Gaussian": "gaussian",
    "Laplacian": "laplacian",
    "Matern": "matern",
    "NeuralTangent": "arc_cosine",
    "Polynomial": "polynomial",
    "RadialFunction": "radial_function",
    "Similarity": "similarity",
    "SphericalPolynomial": "polynomial",
}

__getattr__, __all__ = attach(__name__, MODULES)
