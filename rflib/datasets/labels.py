"""Labels of classes are texts, by one rule for all file formats, and their codes are their places in one order.

A CSV or LIBSVM file says the text, without the blanks around it. Formats with types give a whole number as its
digits, another number as Python shows it, and booleans as True and False. The order is that of the numbers if all
labels are numbers, and of the texts, by code points, otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.formats.numbers import is_number, is_text, plain, present

# Numbers with fractions are a measured quantity, not labels, if more than so many differ ...
_MANY = 100
# ... or more than these and half as many as there are rows.
_FEW = 2
# Labels that a message lists.
_LISTED = 20


def label_texts(path: Path, column: Any, missing: Sequence[str] = ()) -> Any:
    """Return the labels of a pyarrow column as texts, null where they are missing.

    Raises ValueError, which names the file, for a type without texts, such as lists.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    column = plain(column)
    kind = column.type
    if types.is_boolean(kind):
        column = pc.if_else(column, "True", "False")
    elif not is_text(kind):
        try:
            if types.is_float16(kind):  # of which pyarrow has no texts
                column = pa.array(column.to_numpy().astype(str).astype(np.float64), from_pandas=True)
            found = pc.unique(column)
            texts = found.cast(pa.string())
        except pa.ArrowException as error:
            raise ValueError(f"{path}: labels must be numbers or texts, not {kind} ({error}).") from error
        if types.is_floating(kind) or types.is_decimal(kind):
            texts = pa.array(map(_shown, found.to_pylist(), texts.to_pylist()), pa.string())
        column = texts.take(pc.index_in(column, value_set=found))
    return present(column, missing)


def coded(
    path: Path, texts: Any, known: Sequence[str] | None = None, decimal: str = "."
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the codes of labels (n,), and the labels in their order.

    Parameters
    ----------
    path : path
        The file, for messages.
    texts : pyarrow column
        What `label_texts` returned.
    known : sequence of str or None
        The labels of the training rows in their order; None if these are the training rows.
    decimal : {".", ","}
        Decimal mark of labels that are numbers.

    Raises
    ------
    ValueError
        If a row has no label or one that is not known, or if training rows have one label only or a measured
        quantity; the message names file and row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = np.flatnonzero(texts.is_null())
    if len(missing):
        raise ValueError(
            f"{path}: row {missing[0]} (from 0) has no target ({len(missing)} such rows). Remove such rows first."
        )
    if known is None:
        known = _in_order(path, texts, decimal)
    codes = (
        pc.index_in(texts, value_set=pa.array(known, texts.type)).fill_null(-1).to_numpy().astype(np.int64)
    )
    strange = np.flatnonzero(codes < 0)
    if len(strange):
        label = texts[int(strange[0])].as_py()
        alike = [ascii(text) for text in known if _looks(text, decimal) == _looks(label, decimal)]
        raise ValueError(
            f"{path}: row {strange[0]} (from 0) has the label {label!r}, which no training row has "
            f"({len(strange)} such rows). The training labels are {_listed(known)}."
            + (f" Labels are texts, so write {label!a} as {alike[0]} in both files." if alike else "")
        )
    return codes, [*known]


def _in_order(path: Path, texts: Any, decimal: str) -> list[str]:
    """Return the different labels of training rows, or raise ValueError if no classifier can learn them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = sorted(pc.unique(texts).to_pylist())
    if len(known) < 2:
        raise ValueError(
            f"{path}: all labels are {known[0]!r}, but classification needs at least two different ones."
        )
    infinite = [text for text in known if re.fullmatch("[+-]?inf(inity)?", text, re.IGNORECASE)]
    values = {text: value for text in known if (value := _value(text, decimal)) is not None}
    if len(values) + len(infinite) < len(known):
        return known
    fractions = [text for text, value in values.items() if value != value.to_integral_value()]
    if infinite or (fractions and (len(known) > _MANY or len(known) > max(_FEW, len(texts) / 2))):
        row = pc.index(pc.is_in(texts, value_set=pa.array(infinite or fractions, texts.type)), True).as_py()
        raise ValueError(
            f"{path}: row {row} (from 0) has the target {texts[row].as_py()}: classification needs labels, not a "
            "measured quantity. Is the task regression?"
        )
    return sorted(known, key=values.__getitem__)


def _value(text: str, decimal: str) -> Decimal | None:
    """Return the exact value of a text that is a number; None for other texts."""
    try:
        return Decimal(text.replace(decimal, ".")) if is_number(text, decimal) else None
    except InvalidOperation:  # an exponent with more than 18 digits
        return None


def _looks(text: str, decimal: str) -> Decimal | str:
    """Return what texts have in common that a reader may take for the same: the number, or letters of any case."""
    value = _value(text, decimal)
    return unicodedata.normalize("NFKC", text).strip().casefold() if value is None else value


def _shown(value: float | Decimal | None, text: str) -> str | None:
    """Return the text of a number, of which pyarrow shows this text in the number's precision; None for NaN."""
    if value is None or value != value:
        return None
    if isfinite(value) and int(value) == value:
        return str(int(value))
    return f"{value:f}".rstrip("0") if isinstance(value, Decimal) else repr(float(text))


def _listed(labels: Sequence[str]) -> str:
    return ", ".join([*labels[:_LISTED], *(["and others"] if len(labels) > _LISTED else [])])
