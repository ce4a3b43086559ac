"""The best splits of a workload on a cluster."""

from __future__ import annotations

import html
import os
from typing import Any, Callable, Mapping

from . import _core
from ._options import document
from ._records import Recorded, written
from ._replay import ClusterLike, cluster_of, progress_of
from ._tables import Table


class Plan(Recorded):
    """The best splits, the fastest first. Made by plan(). Fields of proto/plan.proto are attributes."""

    def __init__(self, core: _core.PlanReport) -> None:
        self._core = core
        self._record = core.record()

    @property
    def rows(self) -> Table:
        """A row for each reported split: tp, pp, dp, ..., its time (0: not replayed), closed form, MFU, memory."""
        table: Table = self._record.row
        return table

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """`rows` as a pandas.DataFrame."""
        return self.rows.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """`rows` for readers of Arrow's C stream interface."""
        return self.rows.__arrow_c_stream__(requested_schema)

    def to_json(self) -> str:
        """The same bytes as `plan --format json`."""
        return self._core.to_json()

    def to_csv(self) -> str:
        """The same bytes as `plan --format csv`."""
        return self._core.to_csv()

    def to_text(self) -> str:
        """The text that `plan` prints."""
        return self._core.to_text()

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The plan as one HTML page. `path`: also writes the page to this file."""
        return written(self._core.html(), path)

    def __repr__(self) -> str:
        return f"<Plan of {len(self)} splits>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.to_text())}</pre>"


@document("plan")
def plan(workload: str | os.PathLike[str] | None = None, cluster: ClusterLike = None, *,
         model: str | Mapping[str, Any] | None = None,
         progress: Callable[[float, int, int], Any] | bool | None = None, **options: Any) -> Plan:
    """Finds the fastest splits of a workload on a cluster that fit into its memory.

    `workload`: a file of proto/workload.proto, or `model` names one: `plan(model="llama3-70b",
    training={"seq": 8192, "global_batch": 512}, cluster="dgx-h100", ranks=512)`. Settings that are given are not
    varied. The option --try is named try_. Raises Error.
    """
    given = {("try" if name == "try_" else name): value for name, value in options.items()}
    return Plan(_core.plan(workload, {"model": model, **given}, cluster_of(cluster), progress_of(progress)))
