"""Reports of replays."""

from __future__ import annotations

import html
import os
from typing import Any, Literal, Sequence

from . import _core
from ._errors import expect
from ._records import Recorded, written
from ._tables import Table, table_html


class Report(Recorded):
    """The report of a run, from replay() or Report.from_file().

    Fields of proto/report.proto are attributes: `makespan_ps` is a whole number of picoseconds, `makespan` is the time
    in seconds; sizes are bytes. Tables have names in the plural: `ranks`, `collectives`, `links`, `operators`, `lanes`.
    """

    def __init__(self, core: _core.RunReport) -> None:
        self._core = core
        self._record = core.record()

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Report:
        """Reads a report: JSON, text format or binary. Such a report has no traces, so it cannot be run again."""
        return cls(_core.read_report(os.fsencode(path)))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._record)})

    @property
    def makespan(self) -> float:
        """The simulated time of the run, in seconds."""
        return self._core.makespan_ps() * 1e-12

    @property
    def makespan_ps(self) -> int:
        """The simulated time of the run, in whole picoseconds."""
        return self._core.makespan_ps()

    @property
    def ranks(self) -> Table:
        """A row for each rank: its end, and its time of computation, communication, exposed communication, idling."""
        table: Table = self._record.rank
        return table

    @property
    def collectives(self) -> Table:
        """A row for each kind of collective on each group."""
        table: Table = self._record.collective
        return table

    @property
    def lanes(self) -> Table:
        """A row for each lane, over all ranks: its name, its nodes, and their time. `lane_policy` says how nodes were
        assigned to lanes."""
        table: Table = self._record.lane
        return table

    @property
    def lane_policy(self) -> str:
        """The value of `lanes` in replay(): "recorded", "single" or "unlimited"."""
        return str(self._record.lanes)

    @property
    def memory(self) -> Table | None:
        """The peak memory of ranks, by stage. None: the traces are not a generated step."""
        training = self._record.training
        return None if training is None else training.memory

    @property
    def critical_path(self) -> Any:
        """The critical path of the run: `cause`, `rank`, `operator`, `link`, `sensitivity`, `longest`, ....

        Repeats the run, with the same result, if replay() was called without critical_path=True.
        """
        own = self._record.critical_path
        return own if own is not None or not self._core.made() else self._core.whole().critical_path

    def compare(self, other: Report, merge_numbers: bool = False) -> Comparison:
        """How `other` differs from this report. merge_numbers: names that differ only in numbers count as one."""
        return Comparison(self, expect(other, Report, "Report.compare"), merge_numbers)

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as one HTML page, with charts and the critical path. `path`: also writes the page to this file."""
        return written(self._core.html(), path)

    def timeline(self, path: str | os.PathLike[str], *, format: Literal["perfetto", "json"] | None = None,
                 ranks: str | Sequence[int] | None = None, nodes: int = _core.TIMELINE_NODES) -> str:
        """Every node on its lane over time, for ui.perfetto.dev (.pftrace, .perfetto-trace) or chrome://tracing
        (.json); .gz compresses. `ranks`: the ranks to show, as "0-7,16" or a list. `nodes`: maximum number of nodes;
        ranks beyond it are left out; 0: no limit. Returns a description of what was left out.
        """
        if ranks is not None and not isinstance(ranks, str):
            ranks = ",".join(map(str, ranks))
        return self._core.timeline(path, format or "", ranks or "", nodes)

    def to_json(self) -> str:
        """The same bytes as `replay --format json`."""
        return self._core.to_json()

    def to_text(self) -> str:
        """The text that `replay` prints."""
        return self._core.to_text()

    def to_csv(self) -> str:
        """The same bytes as `replay --format csv`: a row for each rank."""
        return self._core.to_csv()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._record == other._record

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._core.bytes(),)

    def __repr__(self) -> str:
        return f"<Report: {self.bound}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        figures = [("makespan", f"{self.makespan * 1e3:.6g} ms"), ("ranks", f"{len(self.ranks):,}"),
                   ("nodes", f"{self._record.nodes:,}"), ("cluster", self._record.cluster),
                   ("fabric", self._record.fabric)]
        top = "".join(f"<td style='text-align:left;padding-right:2em'><small>{name}</small><br>"
                      f"<b>{html.escape(str(value))}</b></td>" for name, value in figures if value)
        warnings = "".join(f"<li>{html.escape(w)}</li>" for w in self._record.warning)
        columns = ["rank", "end", "compute_busy", "comm_busy", "exposed_comm", "idle"]
        return (f"<table><tr>{top}</tr></table><p>{html.escape(self._record.bound)}</p>"
                + (f"<ul>{warnings}</ul>" if warnings else "") + "<p>Ranks, in seconds</p>"
                + table_html(self.ranks, columns, 8))


def _unpickle(data: bytes) -> Report:
    return Report(_core.RunReport.from_bytes(data))


class Comparison(Recorded):
    """How report B differs from report A. Fields of proto/compare.proto are attributes."""

    def __init__(self, a: Report, b: Report, merge_numbers: bool) -> None:
        self._a, self._b, self._merge = a, b, merge_numbers
        self._record = a._core.compare(b._core, merge_numbers)

    @property
    def identical(self) -> bool:
        """Whether the reports have no differences."""
        return bool(self._record.identical)

    def to_text(self, top: int = 10) -> str:
        """The comparison as text, with at most `top` rows of each section; 0: all rows."""
        return self._a._core.print_compared(self._b._core, self._merge, "text", top)

    def to_csv(self, top: int = 0) -> str:
        """The comparison as CSV: a row for each measure that differs."""
        return self._a._core.print_compared(self._b._core, self._merge, "csv", top)

    def __repr__(self) -> str:
        return f"<Comparison: {'identical' if self.identical else 'different'}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.to_text())}</pre>"
