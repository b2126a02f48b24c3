"""
Kernel error against the number of columns
==========================================

How many columns does a map need? This example approximates the Gaussian kernel on the breast-cancer data
with seven maps and measures the relative error of the kernel matrix on rows that the maps have not seen.
``KernelErrorDisplay`` does so in one line for each map.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.maps import MVORF, ORF, QMC, RFF, MercerFeatures, Nystroem, OptimizedMaclaurin
from rflib.plotting import KernelErrorDisplay

X = StandardScaler().fit_transform(load_breast_cancer().data)

# %%
# Every map takes the kernel, the number of columns D and a seed. Each is fitted with three seeds, on three
# quarters of the rows, and measured on the others. The lines are the mean errors, and the bands reach from the
# least to the largest one.

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
methods = (RFF, QMC, ORF, OptimizedMaclaurin, MVORF, Nystroem, MercerFeatures)
for marker, method in zip("osv^DxP", methods, strict=True):
    KernelErrorDisplay.from_estimator(method(Gaussian("median")), X, marker=marker, ax=ax)
plt.show()

# %%
# The error of independent frequencies (``RFF``) falls like one over the square root of D: it takes four
# times as many columns to halve it. Orthogonal frequencies (``ORF``) have a lower error from the start. The
# low-discrepancy sequence of ``QMC`` does not pay here, in 30 dimensions and with few columns. ``MVORF``
# and ``OptimizedMaclaurin`` compute the leading part of the kernel exactly and sample only the rest.
#
# ``Nystroem`` does not draw frequencies. Its columns are the kernel itself at D training rows. Its price is
# a transform that evaluates the kernel at D rows, and a fit that stores these rows: see
# :ref:`sphx_glr_gallery_plot_time.py`. ``MercerFeatures`` has the least error. Its columns are the kernel's
# eigenfunctions along the axes of the rows (:ref:`sphx_glr_gallery_plot_mercer.py`); no row is stored.
