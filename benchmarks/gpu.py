"""A GPU: transforms and ridge regression beside the card's own limits, peers, and the CPU.

``make bench-gpu`` writes docs/results/gpu.md. Without a CUDA device it says so and fails; ``--smoke --out PAGE``
runs small sizes on the CPU, to see that the script works. Peers are timed where they can be imported. Needs torch
and SCIPY_ARRAY_API=1.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn import config_context

from rflib.kernels import Gaussian, Polynomial
from rflib.learners import KRR
from rflib.maps import MVORF, RFF, OptimizedMaclaurin, TensorSketch
from rflib.maps.base import RandomFeatureMap

OUT = Path("docs/results/gpu.md")
ALPHAS = (1e-7, 1e-6, 1e-5, 1e-4)
PACKAGES = ("rflib", "torch", "array-api-compat", "numpy", "scikit-learn", "gpytorch", "falkon")
HEAD = """\
# A GPU

Written by `make bench-gpu`, in float32 without TF32. Times are medians of {runs} runs after one that is not
counted, with the device synchronised before and after; fits have one such run. The card's limits are measured in
the same run: products of square matrices of order {order:,}, and a copy of {copied:,} MB.

{when:%Y-%m-%d %H:%M UTC}; {machine}; {versions}. Matrix products: {tera:.1f} TFLOP/s. Memory: {giga:,.0f} GB/s.
"""
TRANSFORMS = """
## Transforms

{n:,} rows, in blocks of {block:,} rows whose features are dropped. The limit is the longer of two times: that of
the products with the map's frequencies or projections, and that of reading the rows and writing the features. The
goal is 70 % of it.

| d | D | what | seconds | limit, s | of the limit |
|--:|--:|---|--:|--:|--:|
"""
RIDGE = """
## Ridge regression

`KRR` with `RFF`, 5 folds and {ridges} ridges. The limit is the time of all rows' Gram matrix by a symmetric
product, n D² operations.

| n | d | D | rows are | seconds | limit, s | of the limit |
|--:|--:|--:|---|--:|--:|--:|
"""
AGREEMENT = """
## Agreement with the CPU

The largest difference from numpy's result in float32, over the largest size. The bound is 1e-4.

| what | difference |
|---|--:|
"""


@dataclass(frozen=True)
class Sizes:
    """What is run: rows, columns of X, features, rows of a block, and the sizes of what measures the limits."""

    n: int = 1_000_000
    dimensions: tuple[int, ...] = (64, 784)
    D: int = 16_384
    block: int = 65_536
    order: int = 8192
    copied: int = 2 * 10**9
    agree: int = 2000
    runs: int = 5


SMOKE = Sizes(n=1000, dimensions=(5,), D=64, block=400, order=256, copied=10**7, agree=100, runs=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--out", type=Path, help=f"the page; by default {OUT}")
    given = parser.parse_args()
    if given.smoke and given.out is None:
        parser.error("--smoke needs --out: its page is no result.")
    if not given.smoke and not torch.cuda.is_available():
        sys.exit("bench-gpu: torch finds no CUDA device, so nothing was measured or written.")
    torch.backends.cuda.matmul.allow_tf32 = False
    sizes, device = (SMOKE, "cpu") if given.smoke else (Sizes(), "cuda")
    with config_context(array_api_dispatch=True):
        page = "".join(lines(sizes, torch.device(device)))
    (given.out or OUT).write_text(page, encoding="utf-8")


def lines(sizes: Sizes, device: torch.device) -> Iterator[str]:
    """Yield the page in pieces, and print them."""
    flops, bandwidth = limits(sizes, device)
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    head = HEAD.format(
        runs=sizes.runs,
        order=sizes.order,
        copied=sizes.copied // 10**6,
        when=datetime.now(UTC),
        machine=f"{card}, {platform.machine()}, Python {platform.python_version()}",
        versions=versions(),
        tera=flops / 1e12,
        giga=bandwidth / 1e9,
    )
    texts = (
        [head + TRANSFORMS.format(n=sizes.n, block=sizes.block)],
        transforms(sizes, device, flops, bandwidth),
        [RIDGE.format(ridges=len(ALPHAS))],
        ridges(sizes, device, flops),
        [AGREEMENT],
        agreement(sizes, device),
    )
    for part in texts:
        for text in part:
            print(text, end="", flush=True)
            yield text


def limits(sizes: Sizes, device: torch.device) -> tuple[float, float]:
    """Return operations a second of a matrix product, and bytes a second that a copy reads and writes."""
    A = torch.randn(sizes.order, sizes.order, device=device)
    product = timed(lambda: A @ A, device, sizes.runs)
    source = torch.empty(sizes.copied // 4, device=device)
    target = torch.empty_like(source)
    copy = timed(lambda: target.copy_(source), device, sizes.runs)
    return 2 * sizes.order**3 / product, 2 * sizes.copied / copy


def transforms(sizes: Sizes, device: torch.device, flops: float, bandwidth: float) -> Iterator[str]:
    """Yield a row for each map and peer."""
    for d in sizes.dimensions:
        X = torch.randn(sizes.n, d, device=device)
        moved = 4 * sizes.n * (d + sizes.D) / bandwidth
        for name, n_products, transform in [*maps(d, sizes), *peers(d, sizes, device)]:
            limit = max(2 * sizes.n * n_products / flops, moved)
            work = partial(in_blocks, transform, X, sizes.block)
            seconds = timed(work, device, sizes.runs)
            yield f"| {d} | {sizes.D:,} | {name} | {seconds:.3g} | {limit:.3g} | {limit / seconds:.0%} |\n"


def maps(d: int, sizes: Sizes) -> Iterator[tuple[str, int, Callable[[Any], Any]]]:
    """Yield the maps: name, multiplications of a row, and transform."""
    for fitted in fitted_maps(d, sizes):
        # TensorSketch has no product with the rows, OptimizedMaclaurin one with complex numbers
        turns = getattr(fitted, "turns_", np.zeros(0))
        n_products = getattr(fitted, "frequencies_", np.zeros(0)).size + 2 * turns.size
        yield f"rflib {type(fitted).__name__}", n_products, fitted.transform


def fitted_maps(d: int, sizes: Sizes) -> list[RandomFeatureMap]:
    rows = np.random.default_rng(0).standard_normal((sizes.agree, d)).astype(np.float32)
    wide, quadratic = Gaussian(float(d) ** 0.5), Polynomial(2, 1 / d, 1.0)
    return [
        RFF(wide, sizes.D, random_state=0).fit(rows),
        MVORF(wide, sizes.D, random_state=0).fit(rows),
        OptimizedMaclaurin(wide, sizes.D, random_state=0).fit(rows),
        TensorSketch(quadratic, sizes.D, random_state=0).fit(rows),
    ]


def peers(d: int, sizes: Sizes, device: torch.device) -> Iterator[tuple[str, int, Callable[[Any], Any]]]:
    """Yield random Fourier features of others: torch by hand, and gpytorch if it is installed."""
    half = sizes.D // 2
    W, scale = torch.randn(d, half, device=device), half**-0.5

    def by_hand(X: torch.Tensor) -> torch.Tensor:
        product = X @ W
        return torch.cat([product.cos(), product.sin()], dim=1).mul_(scale)

    yield "torch by hand, RFF", d * half, by_hand
    if find_spec("gpytorch"):
        from gpytorch.kernels import RFFKernel

        kernel = RFFKernel(num_samples=half, num_dims=d).to(device)
        with torch.no_grad():
            yield "gpytorch RFFKernel", d * half, lambda X: kernel._featurize(X, normalize=True)


def ridges(sizes: Sizes, device: torch.device, flops: float) -> Iterator[str]:
    """Yield a row for rows on the device, one for rows in memory, and falkon's if it is installed."""
    d = sizes.dimensions[0]
    X = torch.randn(sizes.n, d, device=device)
    y = torch.sin(X[:, 0])
    feature_map = RFF(Gaussian(float(d) ** 0.5), sizes.D, random_state=0)
    model = KRR(feature_map=feature_map, alphas=ALPHAS, cv=5, block_size=sizes.block)
    in_memory = KRR(feature_map=feature_map, alphas=ALPHAS, cv=5, block_size=sizes.block, device=device)
    rows, targets = X.cpu().numpy(), y.cpu().numpy()
    entries: dict[str, Callable[[], Any]] = {
        "on the device": lambda: model.fit(X, y),
        "in memory": lambda: in_memory.fit(rows, targets),
    }
    if find_spec("falkon"):
        import falkon

        kernel = falkon.kernels.GaussianKernel(float(d) ** 0.5)
        learner = falkon.Falkon(kernel=kernel, penalty=ALPHAS[0], M=sizes.D)
        entries["in memory, falkon with D centres and one ridge"] = lambda: learner.fit(
            torch.from_numpy(rows), torch.from_numpy(targets)[:, None]
        )
    limit = sizes.n * sizes.D**2 / flops
    for where, fit in entries.items():
        seconds = timed(fit, device, runs=1)
        sides = f"{sizes.n:,} | {d} | {sizes.D:,} | {where}"
        yield f"| {sides} | {seconds:.3g} | {limit:.3g} | {limit / seconds:.0%} |\n"


def agreement(sizes: Sizes, device: torch.device) -> Iterator[str]:
    """Yield a row for each map and for ridge regression."""
    d = sizes.dimensions[0]
    X = np.random.default_rng(1).standard_normal((sizes.agree, d)).astype(np.float32)
    X_there, y = torch.asarray(X, device=device), np.sin(X[:, 0])
    feature_map = RFF(Gaussian(float(d) ** 0.5), min(sizes.D, 1024), random_state=0)
    model = KRR(feature_map=feature_map, alphas=1e-3)
    on_cpu = model.fit(X, y).predict(X)
    pairs = [(fitted.transform(X_there), fitted.transform(X)) for fitted in fitted_maps(d, sizes)]
    pairs.append((model.fit(X_there, torch.asarray(y, device=device)).predict(X_there), on_cpu))
    names = ("RFF", "MVORF", "OptimizedMaclaurin", "TensorSketch", "KRR, predictions")
    for name, (found, known) in zip(names, pairs, strict=True):
        difference = np.abs(found.cpu().numpy() - known).max() / np.abs(known).max()
        yield f"| {name} | {difference:.1e} |\n"


def in_blocks(transform: Callable[[Any], Any], X: torch.Tensor, block: int) -> None:
    for start in range(0, X.shape[0], block):
        transform(X[start : start + block])


def timed(run: Callable[[], Any], device: torch.device, runs: int) -> float:
    """Return the median of the seconds of some runs, after one that is not counted."""
    seconds = []
    for _ in range(runs + 1):
        synchronise(device)
        start = perf_counter()
        run()
        synchronise(device)
        seconds.append(perf_counter() - start)
    return median(seconds[1:])


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def versions() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"without {name}")
    return ", ".join(found)


if __name__ == "__main__":
    main()
