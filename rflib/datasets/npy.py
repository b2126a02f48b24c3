"""Write a .npy file block by block, when the number of its rows is known only at the end."""

from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.lib.format import dtype_to_descr, write_array_header_1_0
from numpy.typing import NDArray


class NpyWriter:
    """Append blocks of rows to a .npy file; a context manager that writes the final shape when it ends.

    numpy leaves room in the header for the first axis to grow, so the header is written in place.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._dtype: np.dtype | None = None
        self._tail: tuple[int, ...] = ()
        self.rows = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what has been written."""
        return (self.rows, *self._tail)

    def append(self, block: NDArray) -> None:
        """Append rows; ValueError if they differ from the first ones in their other axes or their dtype."""
        if self._dtype is None:
            self._dtype, self._tail = block.dtype, block.shape[1:]
            self._write_header(block.dtype)
        elif (block.dtype, block.shape[1:]) != (self._dtype, self._tail):
            raise ValueError(
                f"a block of {block.dtype} {block.shape} does not continue {self._dtype} {self.shape}"
            )
        self._file.write(np.ascontiguousarray(block).data)
        self.rows += len(block)

    def _write_header(self, dtype: np.dtype) -> None:
        description = {"descr": dtype_to_descr(dtype), "fortran_order": False}
        write_array_header_1_0(self._file, description | {"shape": self.shape})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._dtype is not None:
            self._file.seek(0)
            self._write_header(self._dtype)
        self._file.close()
