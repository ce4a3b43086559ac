"""Tables that are stored as columns."""

from __future__ import annotations

import html
from typing import Any, Callable, Dict, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from . import _core

_ROWS_SHOWN = 20


class Row(Dict[str, Any]):
    """One row of a table: its columns by name, also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'the row has no "{name}"; known: {", ".join(self)}') from None


class Table:
    """A table that is stored as columns.

    `table["end_ps"]`, or `table.end_ps`, is a read-only NumPy array that shares its memory with the table; texts are
    arrays of str. A column whose name ends in _ps has whole picoseconds; the name without _ps gives seconds. `table[3]`
    is a row, `to_pandas()` a DataFrame. Readers of Arrow accept the table itself: `polars.from_arrow(table)`,
    `duckdb.sql("select * from table")`, `pyarrow.table(table)`.
    """

    def __init__(self, columns: _core.Columns, row_of: Callable[[int], Any] | None = None, name: str = "") -> None:
        self._columns = columns
        self._row_of = row_of
        self._name = name
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._columns.names()

    def doc(self, column: str) -> str:
        """The description of a column, with its unit."""
        return self._columns.doc(column)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array. Raises KeyError if there is no such column."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._make(name)
        return found

    def _make(self, name: str) -> npt.NDArray[Any]:
        scaled = self._scaled(name)
        if scaled is not None:
            out: npt.NDArray[Any] = self._columns.array(scaled[0]) * scaled[1]
            return out
        words = self._columns.words(name)
        codes = self._columns.array(name)
        if words is None:
            return codes
        texts: npt.NDArray[Any] = np.array([*words, None], dtype=object)[codes]  # -1: None
        texts.flags.writeable = False
        return texts

    def _scaled(self, name: str) -> tuple[str, float] | None:
        names = self._columns.names()
        if name in names:
            return None
        for of, factor in ((name + "_ps", 1e-12), (name.replace("joules", "microjoules"), 1e-6),
                           (name.replace("_bytes_per_s", "_gbytes_per_s"), 1e9)):
            if of != name and of in names:
                return of, factor
        return None

    def __len__(self) -> int:
        return self._columns.rows

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        at = key + len(self) if key < 0 else key
        if not 0 <= at < len(self):
            raise IndexError(f"row {key}: the table has {len(self)}")
        if self._row_of is not None:
            return self._row_of(at)
        return Row((name, self.column(name)[at]) for name in self.columns)

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.column(name)
        except KeyError as e:
            raise AttributeError(str(e.args[0])) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name."""
        return {name: self.column(name) for name in self.columns}

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame; columns with few distinct texts are categories."""
        import pandas as pd  # type: ignore[import]

        data = {}
        for name in self.columns:
            words = self._columns.words(name) if self._columns.is_category(name) else None
            if words is None:
                data[name] = self.column(name)
            else:
                kind = pd.CategoricalDtype(pd.Index(words, dtype=object))
                data[name] = pd.Categorical.from_codes(self._columns.array(name), dtype=kind)
        return pd.DataFrame(data, copy=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table for readers of Arrow's C stream interface; numbers are not copied."""
        return self._columns.arrow()

    def __repr__(self) -> str:
        return f"<Table {self._name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return table_html(self, self.columns)


def text_of(value: Any) -> str:
    """A value as text for display."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return f"{value:,}"
    return str(value)


def table_html(table: Table, columns: Sequence[str], most: int = _ROWS_SHOWN) -> str:
    """A table as HTML for notebooks, with at most `most` rows."""
    shown = min(len(table), most)
    head = "".join(f"<th title='{html.escape(table.doc(c) if c in table.columns else '', True)}'>{html.escape(c)}</th>"
                   for c in columns)
    arrays = [table.column(c) for c in columns]
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(text_of(a[i]))}</td>" for a in arrays) + "</tr>"
                   for i in range(shown))
    more = f"<p>{len(table) - shown:,} more rows</p>" if shown < len(table) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"
