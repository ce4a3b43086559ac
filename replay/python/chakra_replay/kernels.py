"""Kernel tables, and the kernel model, which predicts times of kernels that were not measured.

`predict([{"op": "gemm", "m": 4096, "n": 4096, "k": 4096, "dtype": "bf16"}], "H100")`
"""

from __future__ import annotations

import csv
import io
import os
from typing import Any, Mapping, Sequence, Union

from . import _core
from ._errors import expect
from ._options import Paths
from ._tables import Table
from ._traces import Traces, core_of

#: A device: its name ("H100"), a preset or a cluster file that has it, or a Cluster that has it.
DeviceLike = Union[str, _core.Cluster]
#: Rows as dicts, columns by name, a DataFrame, or CSV.
RowsLike = Union[str, Sequence[Mapping[str, Any]], Mapping[str, Sequence[Any]], Any]


def _csv_of(rows: RowsLike) -> str:
    if isinstance(rows, str):
        return rows
    if hasattr(rows, "to_csv"):
        return str(rows.to_csv(index=False))
    if isinstance(rows, Mapping):
        names = list(rows)
        rows = [dict(zip(names, values)) for values in zip(*rows.values())]
    header = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def predict(rows: RowsLike, device: DeviceLike, op: str = "") -> Table:
    """Predicts times of kernels by the kernel model. Returns the rows with the columns time_us, low_us, high_us (90 of
    100 measurements are between them) and from. `op`: the op of all rows; without it the rows need a column op. ops()
    lists the columns of each op. If a row cannot be predicted, its times are empty, and `from` says why. Raises Error.
    """
    return Table(_core.predict(_csv_of(rows), device, op), name="kernels")


def calibrate(rows: RowsLike, device: DeviceLike) -> Any:
    """The device, fitted to measured rows (with a column measured_us): `cluster.device = calibrate(rows, "H100")`."""
    return _core.calibrate(_csv_of(rows), device).device


def ops() -> list[dict[str, str]]:
    """The known ops: a dict for each, with op, its required columns, and its optional columns."""
    return _core.kernel_ops()


def devices() -> list[str]:
    """Names of devices."""
    return _core.device_names()


class KernelTable:
    """A kernel table: measured times of kernels, for replay(kernels=FILE)."""

    def __init__(self, core: _core.Kernels) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelTable:
        """Reads a kernel table: CSV, JSON, text format or binary."""
        return cls(_core.Kernels.load(os.fsencode(path)))

    @classmethod
    def collect(cls, traces: Traces | Paths, host_operations: bool = False, device_name: str = "",
                threads: int = os.cpu_count() or 1) -> KernelTable:
        """The recorded kernels of traces. `host_operations`: also those of the host. Reads traces in memory again."""
        if isinstance(traces, Traces):
            return cls(_core.Kernels.collect_of(core_of(traces), host_operations, device_name, threads))
        return cls(_core.Kernels.collect(traces, host_operations, device_name, threads))

    @classmethod
    def merge(cls, *tables: KernelTable, any_device: bool = False) -> KernelTable:
        """Merges several tables. They must be for one device, unless any_device is set."""
        return cls(_core.Kernels.merge([expect(t, cls, "KernelTable.merge")._core for t in tables], any_device))

    def transfer(self, to: DeviceLike, from_device: DeviceLike | None = None, dtype: str = "") -> KernelTable:
        """Converts the table to another device, by the kernel model and by rooflines."""
        return KernelTable(self._core.transfer(to, from_device, dtype))

    @property
    def device(self) -> str:
        """The device on which the times were measured."""
        return str(self._core.record().device)

    @property
    def rows(self) -> Table:
        """A row for each kernel: name, shapes, dtypes, duration_us, ..."""
        table: Table = self._core.record().row
        return table

    def __len__(self) -> int:
        return len(self.rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table: .csv, .json, .txtpb, else binary."""
        self._core.save(os.fsencode(path))

    def to_csv(self) -> str:
        """The table as CSV."""
        return self._core.to_csv()

    def __repr__(self) -> str:
        return f"<KernelTable of {self.device or 'no device'}: {len(self)} rows>"
