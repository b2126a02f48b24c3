"""Nystroem's method in single precision throughout, for learners whose ridge is above the rounding."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.learners.kernel_products import SingleKernel
from rflib.maps.nystroem import Nystroem
from rflib.maps.row_blocks import filled

# Numbers in a block of kernel values, and columns that are computed at a time from the landmarks that they use.
_BLOCK_ELEMENTS, _PANEL = 1 << 18, 256
# The largest squared norm of a column of the normalisation, for a kernel with values up to one, that single
# precision serves: rounding is then less than a tenth of the column.
_LARGEST = 1e6


class SingleNystroem(Nystroem):
    """`Nystroem` of a radial kernel, whose columns at rows of single precision are computed in it alone.

    `Nystroem` computes columns that amplify rounding in double precision. This map takes half of its time.
    """

    def _columns(self, X: Any) -> NDArray:
        normalization, places = self.normalization_, np.arange(self.n_components_)
        if X.dtype != np.float32 or (normalization**2).sum(axis=0).max() > _LARGEST:
            found: NDArray = super()._columns(X)
            return found
        kernel, single = SingleKernel(self.kernel_, self.landmarks_), normalization.astype(np.float32)
        panels = list(pairwise([*places[::_PANEL], len(places)]))

        def fill(block: NDArray, out: NDArray) -> None:
            values = kernel(*kernel.placed(block))
            for first, stop in panels:
                np.matmul(values[:, :stop], single[:stop, first:stop], out=out[:, first:stop])

        made: NDArray = filled(X, len(places), fill, _BLOCK_ELEMENTS // len(places))
        return made
