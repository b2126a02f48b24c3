"""Products of functions on several axes, each its parent product times one function more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, namespace, take_rows
from rflib.maps.row_blocks import row_blocks

# Rows for which products are evaluated at a time, so that these stay in the cache of a core.
_ROWS = 32


class Level(NamedTuple):
    """Products with the same number of factors: the places of their parents and the numbers of their functions."""

    parents: NDArray[np.int64]
    functions: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProductTree:
    """Products of one function on each axis, where most axes have their first function.

    The first product is that of all first functions. Any other is its parent times a ratio: a function on an axis
    after those of the parent, over the first function on this axis. Of each product (n_products,) there are the
    number of the parent, which is smaller, and the axis and the number of this function; -1, -1, 0 for the first.
    """

    parents: NDArray[np.int64]
    axes: NDArray[np.int64]
    powers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parents)

    def of(self, chosen: NDArray[np.int64]) -> tuple[ProductTree, NDArray[np.int64]]:
        """Return the tree of the chosen products and of their ancestors, and their numbers in this tree."""
        needed = np.zeros(len(self), dtype=bool)
        needed[0] = needed[chosen] = True
        for number in range(len(self) - 1, 0, -1):
            if needed[number]:
                needed[self.parents[number]] = True
        places = np.cumsum(needed) - 1
        parents = np.append(-1, places[self.parents[needed][1:]])
        return ProductTree(parents, self.axes[needed], self.powers[needed]), np.flatnonzero(needed)

    @cached_property
    def functions(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the axes and the powers of the functions that occur, sorted, and each product's function."""
        pairs = np.stack([self.axes[1:], self.powers[1:]], axis=1).reshape(-1, 2)
        found, which = np.unique(pairs, axis=0, return_inverse=True)
        return found[:, 0], found[:, 1], np.append(-1, which.ravel())

    @cached_property
    def steps(self) -> list[Level]:
        """Return how the products are computed: level by level those that have children, then all but the first.

        Parents are numbered in the order in which the levels list the products, after the first one.
        """
        depth = np.zeros(len(self), dtype=np.int64)
        for number, parent in enumerate(self.parents[1:].tolist(), start=1):
            depth[number] = depth[parent] + 1
        inner = np.union1d(self.parents[1:], 0)
        inner = inner[np.argsort(depth[inner], kind="stable")]
        places = np.zeros(len(self), dtype=np.int64)
        places[inner] = np.arange(len(inner))
        cuts = np.searchsorted(depth[inner], np.arange(1, depth[inner[-1]] + 2))
        which = self.functions[2]
        listed = [*(inner[start:stop] for start, stop in pairwise(cuts)), np.arange(1, len(self))]
        return [Level(places[self.parents[numbers]], which[numbers]) for numbers in listed]

    def indices(self, number: int) -> list[tuple[int, int]]:
        """Return the axes and powers of a product whose power is above 0."""
        found = []
        while number > 0:
            found.append((int(self.axes[number]), int(self.powers[number])))
            number = int(self.parents[number])
        return found[::-1]


def largest_products(values: NDArray, n: int) -> tuple[ProductTree, NDArray[np.float64]]:
    """Return the n products with the largest eigenvalues, and these, descending; fewer if no more are above 0.

    The eigenvalues on each axis (n_axes, J) are descending, 0 where there are no more. The search is best-first
    and takes O(n log n), because each product is reached from one other only: on axes sorted by the ratio of their
    first two eigenvalues, the next power on the last axis, the next axis in place of the last, and one axis more.
    """
    shares = values / values[:, :1]
    second = shares[:, 1] if shares.shape[1] > 1 else np.zeros(len(shares))
    order = np.argsort(-second, kind="stable")
    order = order[: np.count_nonzero(second[order])]
    ratios: list[list[float]] = [row[row > 0].tolist() for row in shares[order]]
    places = order.tolist()
    found: list[tuple[int, int, int]] = [(-1, -1, 0)]
    sizes = [1.0]
    heap: list[tuple[float, int, int, int, float]] = []
    if places:
        heappush(heap, (-ratios[0][1], 0, 0, 1, 1.0))
    # An entry: minus its share, its parent, its last axis and power, and its parent's share.
    while heap and len(found) < n:
        negative, parent, axis, power, before = heappop(heap)
        number, share, own = len(found), -negative, ratios[axis]
        found.append((parent, places[axis], power))
        sizes.append(share)
        if power + 1 < len(own):
            heappush(heap, (-before * own[power + 1], parent, axis, power + 1, before))
        if axis + 1 < len(ratios):
            following = ratios[axis + 1][1]
            if power == 1:
                heappush(heap, (-before * following, parent, axis + 1, 1, before))
            heappush(heap, (-share * following, number, axis + 1, 1, share))
    table = np.array(found, dtype=np.int64)
    return ProductTree(*table.T), np.array(sizes) * float(np.prod(values[:, 0]))


def evaluate(tree: ProductTree, root: Array, ratios: Array, out: Array) -> None:
    """Write the products at n rows into an array (n, n_products).

    Given are the first product (n,), and the ratios (n_functions, n) in the order of `ProductTree.functions`.
    """
    xp, n = namespace(root), root.shape[0]
    out[:, 0] = root
    if len(tree) == 1:
        return
    steps, last = tree.steps, tree.steps[-1]
    if xp is not np:
        inner = root[None, :]
        for step in steps:
            found = take_rows(inner, step.parents) * take_rows(ratios, step.functions)
            inner = found if step is last else xp.concat([inner, found], axis=0)
        out[:, 1:] = inner.T
        return
    n_inner = 1 + sum(len(step.parents) for step in steps[:-1])
    work = np.empty((n_inner + 2 * len(last.parents)) * min(n, _ROWS), dtype=root.dtype)
    for rows in row_blocks(n, _ROWS):
        block = np.ascontiguousarray(ratios[:, rows])
        parts = work[: len(work) // min(n, _ROWS) * block.shape[1]].reshape(-1, block.shape[1])
        inner, products, factors = np.split(parts, [n_inner, n_inner + len(last.parents)])
        inner[0] = root[rows]
        end = 1
        for step in steps:
            begin, end = end, end + len(step.parents)
            found, factor = (products if step is last else inner[begin:end]), factors[: len(step.parents)]
            # "clip" spares numpy a copy of the result
            np.take(inner, step.parents, axis=0, out=found, mode="clip")
            np.take(block, step.functions, axis=0, out=factor, mode="clip")
            found *= factor
        out[rows, 1:] = products.T
