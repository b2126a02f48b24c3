"""Products of functions on several axes, each its parent product times one function more."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, namespace, take_rows

# Rows for which products are evaluated at a time, so that these stay in the cache of a core.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class Level:
    """Products with the same number of factors: the places of their parents and the numbers of their functions."""

    parents: NDArray[np.int64]
    functions: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProductTree:
    """Products of one function on each axis, where most axes have their first function.

    The first product is that of all first functions. Any other is its parent times a ratio: a function on an axis
    that comes after those of the parent, divided by the first function on this axis.

    Attributes
    ----------
    parents : ndarray of shape (n_products,)
        The number of the parent, which is smaller than that of the product; -1 for the first product.
    axes, powers : ndarrays of shape (n_products,)
        Axis and number of the function that the product has and its parent has not; -1 and 0 for the first.
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

    def functions(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the axes and the powers of the functions that occur, sorted, and each product's function."""
        pairs = np.stack([self.axes[1:], self.powers[1:]], axis=1).reshape(-1, 2)
        found, which = np.unique(pairs, axis=0, return_inverse=True)
        return found[:, 0], found[:, 1], np.append(-1, which.ravel())

    def levels(self) -> tuple[NDArray[np.int64], list[Level]]:
        """Return the order of the products by their numbers of factors, and the levels of equal numbers in it."""
        depth = np.zeros(len(self), dtype=np.int64)
        for number, parent in enumerate(self.parents.tolist()):
            if number:
                depth[number] = depth[parent] + 1
        order = np.argsort(depth, kind="stable")
        places = np.argsort(order)
        which = self.functions()[2]
        cuts = np.searchsorted(depth[order], np.arange(1, depth.max() + 2))
        slices = [order[start:stop] for start, stop in pairwise(cuts)]
        return places, [Level(places[self.parents[level]], which[level]) for level in slices]

    def indices(self, number: int) -> list[tuple[int, int]]:
        """Return the axes and powers of a product whose power is above 0."""
        found = []
        while number > 0:
            found.append((int(self.axes[number]), int(self.powers[number])))
            number = int(self.parents[number])
        return found[::-1]


def largest_products(values: NDArray, n: int) -> tuple[ProductTree, NDArray[np.float64]]:
    """Return the n products with the largest eigenvalues, and these, descending.

    The search is best-first, and each product is reached from one other only: the axes are sorted by the ratio of
    their second eigenvalue to the first; after a product come the next power on its last axis, the next axis in
    place of its last one, and one axis more. So it takes O(n log n), however many axes there are.

    Parameters
    ----------
    values : ndarray of shape (n_axes, J)
        The eigenvalues on each axis, descending, 0 where there are no more.
    n : int
        Number of products. There may be fewer whose eigenvalue is above 0.
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


def evaluate(levels: list[Level], places: NDArray[np.int64], root: Array, ratios: Array, out: Array) -> None:
    """Write the products at some rows into an array (n, n_products).

    Parameters
    ----------
    levels, places
        What `ProductTree.levels` returned.
    root : array of shape (n,)
        The first product.
    ratios : array of shape (n_functions, n)
        The ratios, in the order of `ProductTree.functions`.
    out : array of shape (n, n_products)
        What is written to.
    """
    xp, n, size = namespace(root), root.shape[0], len(places)
    if xp is not np:
        found = [root[None, :]]
        for level in levels:
            above = xp.concat(found, axis=0) if len(found) > 1 else found[0]
            found.append(take_rows(above, level.parents) * take_rows(ratios, level.functions))
        out[:, :] = take_rows(xp.concat(found, axis=0), places).T
        return
    work = np.empty((3, size, min(n, _ROWS)), dtype=root.dtype)
    for start in range(0, n, _ROWS):
        rows = slice(start, min(start + _ROWS, n))
        products, parents, ordered = (
            work
            if rows.stop - start == work.shape[2]
            else np.empty((3, size, rows.stop - start), dtype=root.dtype)
        )
        block = np.ascontiguousarray(ratios[:, rows])
        products[0] = root[rows]
        end = 1
        for level in levels:
            begin, end = end, end + len(level.parents)
            # "clip" spares numpy a copy of the result
            np.take(products, level.parents, axis=0, out=parents[begin:end], mode="clip")
            np.take(block, level.functions, axis=0, out=products[begin:end], mode="clip")
            products[begin:end] *= parents[begin:end]
        out[rows] = np.take(products, places, axis=0, out=ordered, mode="clip").T
