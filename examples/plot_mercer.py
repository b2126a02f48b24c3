"""
Eigenfunctions on the rows' own axes
====================================

``MercerFeatures`` multiplies functions of one coordinate each, which are eigenfunctions of the kernel along an
axis of the rows. This example shows them on two axes of real rows, and compares the error of their products
with that of other maps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.maps import ORF, MercerFeatures, Nystroem, OptimizedMaclaurin
from rflib.plotting import KernelErrorDisplay

X = StandardScaler().fit_transform(load_breast_cancer().data)
kernel = Gaussian("median").for_rows(X)

# %%
# With one coordinate as the only input column, the columns of the map are the eigenfunctions themselves, each
# multiplied by the square root of its eigenvalue. The left picture is for the first principal axis, along which
# the rows differ most, and the right one for the fifth. The grey bars show where the rows are. The sign of an
# eigenfunction is arbitrary; here all have a positive mean.

coordinates = PCA().fit_transform(X)
styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
fig, panels = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for panel, number in zip(panels, (1, 5), strict=True):
    u = coordinates[:, [number - 1]]
    functions = MercerFeatures(kernel, len(styles), axes="input", random_state=0).fit(u)
    line = np.linspace(u.min(), u.max(), 300)[:, None]
    signs = np.where(functions.transform(u).mean(axis=0) < 0, -1, 1)
    for j, style in enumerate(styles):
        label = f"number {j + 1}" if number == 1 else None
        panel.plot(line, functions.transform(line)[:, j] * signs[j], linestyle=style, label=label)
    shares = np.full(len(u), 3 / len(u))
    panel.hist(u.ravel(), bins=40, weights=shares, bottom=-1.5, color="#999999", alpha=0.5)
    panel.set(title=f"principal axis {number}", xlabel="coordinate", ylim=(-1.5, 1.2))
panels[0].set_ylabel("eigenfunction x root of eigenvalue")
fig.legend(loc="outside lower center", ncols=5)
plt.show()

# %%
# The first function is a bump about the middle of the rows, the second one has one zero, and so on. Along the
# fifth axis the rows differ by less than the width of the kernel: the first function is almost 1, and the others
# are small. So a product with the first function on most axes is large, and one with later functions on several
# axes is tiny. ``MercerFeatures`` takes the largest products.
#
# The error of the kernel matrix is measured on rows that the maps have not seen, as the mean over three seeds.

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for marker, method in zip("sDxo", (ORF, OptimizedMaclaurin, Nystroem, MercerFeatures), strict=True):
    KernelErrorDisplay.from_estimator(
        method(kernel), X, n_components=(15, 30, 60, 120, 240), marker=marker, ax=ax
    )
plt.show()

# %%
# On these rows, whose columns are strongly correlated measurements, few products hold most of the kernel.
# ``Nystroem`` must store D training rows, and the other maps store none. With a kernel that is narrow beside the
# distances of the rows, no few functions hold much of it, and sampled waves such as those of ``ORF`` catch up:
# divide the width by four to see it. ``MVORF`` has both kinds of columns, as many of each as serve best.
