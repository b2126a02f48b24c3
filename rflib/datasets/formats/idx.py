"""The IDX format of MNIST and its kin: a big-endian header with the type and the shape, then the values."""

import struct
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Paths
from rflib.datasets.formats.checked import open_bytes, reading

_UNSIGNED_BYTES = 8


def read_images(paths: Paths) -> Blocks:
    """Read images as rows of grey levels, in single precision, which is exact for them.

    The files are training images, training labels, test images and test labels.
    """
    for part, images, labels in zip(TRAIN_TEST, paths[::2], paths[1::2], strict=True):
        X, y = read_idx(images), read_idx(labels)
        if len(X) != len(y):
            raise ValueError(f"{images} has {len(X):,} images, but {labels} has {len(y):,} labels.")
        yield Block(part, X.reshape(len(X), -1).astype(np.float32), y.astype(np.int64))


def read_idx(path: Path, limit: int = 1 << 30) -> NDArray[np.uint8]:
    """Return an array of unsigned bytes from an IDX file, which may be compressed with gzip.

    Raises
    ------
    ValueError
        If the file is damaged, holds another type, or has more than ``limit`` values. The message names the file.
    """
    with reading(path, "IDX data"), open_bytes(path) as file:
        zeros, kind, dimensions = struct.unpack(">HBB", file.read(4))
        if zeros or kind != _UNSIGNED_BYTES or not dimensions:
            raise ValueError(
                f"the header begins with {zeros}, {kind}, {dimensions}; expected 0, 8 and a dimension"
            )
        shape = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        if prod(shape) > limit:
            raise ValueError(
                f"the header promises {prod(shape):,} values, of which at most {limit:,} are accepted"
            )
        values = file.read(prod(shape) + 1)
        if len(values) != prod(shape):
            more = "more than " if len(values) > prod(shape) else f"{len(values):,} of "
            raise ValueError(f"it has {more}the {prod(shape):,} values that its header promises")
        return np.frombuffer(values, np.uint8).reshape(shape)
