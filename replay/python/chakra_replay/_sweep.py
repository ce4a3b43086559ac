"""Sweeps: many replays over axes, on threads or on a cluster of machines."""

from __future__ import annotations

import json
import os
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Literal, Mapping, Sequence, Union

from . import _core
from ._records import written
from ._replay import progress_of
from ._tables import Table

#: A sweep (proto/sweep.proto): a SweepSpec, a file, its text, or a dict of its fields.
SpecLike = Union["SweepSpec", str, "os.PathLike[str]", Mapping[str, Any]]
#: Called when a point ends, with its number, its metrics and its error ("": none).
OnResult = Callable[[int, Mapping[str, float], str], Any]

_TELL_EVERY = 0.2  # seconds


def _plain(value: Any) -> Any:
    """A spec in the form of JSON: values of axes are texts."""
    if isinstance(value, Mapping):
        return {k: [str(v) for v in one] if k == "value" and not isinstance(one, str) else _plain(one)
                for k, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


class SweepSpec:
    """A sweep and its points.

    `SweepSpec("sweep.txtpb")` reads a file of proto/sweep.proto; a dict has the same fields:
    `SweepSpec({"trace": ["step"], "replay": "--cluster dgx-h100", "axis": [{"name": "fabric", "option": "--fabric",
    "value": ["analytical", "fluid"]}]})`.
    """

    def __init__(self, spec: SpecLike, name: str = "sweep") -> None:
        if isinstance(spec, SweepSpec):
            self._core: _core.SweepSpec = spec._core
        elif isinstance(spec, Mapping):
            self._core = _core.SweepSpec.of_text(json.dumps(_plain(spec)), name)
        elif isinstance(spec, str) and ("\n" in spec or "{" in spec):
            self._core = _core.SweepSpec.of_text(spec, name)
        else:
            self._core = _core.SweepSpec.read(os.fsencode(spec))

    @property
    def name(self) -> str:
        """The name of the sweep, also that of its results."""
        return self._core.name

    def __len__(self) -> int:
        return len(self._core)

    def words(self, point: int) -> list[str]:
        """The command line of a point, as arguments of `replay`."""
        return self._core.words(point)

    def __repr__(self) -> str:
        return f"<SweepSpec {self.name}: {len(self):,} points>"


class SweepResults:
    """Results of a sweep, from sweep() or SweepResults.load(): the axes and metrics of each point."""

    def __init__(self, core: _core.SweepRows, summary: Mapping[str, Any] | None = None) -> None:
        self._core = core
        #: Counts of the run: points, run, done_before, failed, left, search, seconds.
        self.summary = dict(summary or {})
        self._rows: Table | None = None

    @classmethod
    def load(cls, *folders: str | os.PathLike[str]) -> SweepResults:
        """Reads the results of a folder, or of several folders with parts of one sweep."""
        return cls(_core.SweepRows.load([os.fsencode(f) for f in folders]))

    @property
    def rows(self) -> Table:
        """A row for each point: its number, id, axes, metrics (NaN: none) and error."""
        if self._rows is None:
            self._rows = Table(self._core.rows(), name="points")
        return self._rows

    @property
    def axes(self) -> list[str]:
        """Names of axes."""
        return self._core.axes

    @property
    def metrics(self) -> list[str]:
        """Names of metrics."""
        return self._core.metrics

    @property
    def failed(self) -> int:
        """Number of points that failed."""
        return self._core.failed

    @property
    def warnings(self) -> list[str]:
        """Warnings from reading the results."""
        return self._core.warnings

    def __len__(self) -> int:
        return len(self.rows)

    def best(self, by: str = "", top: int = 10, where: str = "") -> Table:
        """The best points by a metric or an expression ("max:mfu"); "": the sweep's objective."""
        return Table(self._core.best(by, top, where), name="best")

    def pareto(self, *aims: str, where: str = "") -> Table:
        """The Pareto-optimal points: no other point is better in all of the given metrics."""
        return Table(self._core.pareto(list(aims), where), name="pareto")

    def table(self, rows: str, columns: str = "", show: str = "", take: Literal["best", "mean"] = "best",
              where: str = "") -> Table:
        """A metric by the values of one or two axes."""
        return Table(self._core.table(rows, columns, show, take == "mean", where), name="table")

    def to_pandas(self) -> Any:
        """`rows` as a pandas.DataFrame."""
        return self.rows.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """`rows` for readers of Arrow's C stream interface."""
        return self.rows.__arrow_c_stream__(requested_schema)

    def to_csv(self, timing: bool = False) -> str:
        """The same bytes as results.csv of `chakra-replay sweep`."""
        return self._core.to_csv(timing)

    def html(self, path: str | os.PathLike[str] | None = None, where: str = "", by: str = "") -> str:
        """The results as one HTML page. `path`: also writes the page to this file."""
        return written(self._core.html(where, by), path)

    def __repr__(self) -> str:
        return f"<SweepResults: {len(self):,} points, {self.failed:,} failed>"

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()


def _serve_threads(jobs: int, kept: int, on_result: OnResult,
                   progress: Callable[..., Any] | None) -> Callable[[_core.PointsSource], None]:
    """Runs points on threads of this process, and reports each result."""
    points = _core.SweepPoints(kept, max(1, (os.cpu_count() or 1) // jobs))

    def serve(source: _core.PointsSource) -> None:
        running: dict[Future[bytes], int] = {}
        pool = ThreadPoolExecutor(jobs)
        try:
            while True:
                while len(running) < 2 * jobs and (taken := source.take()) is not None:
                    running[pool.submit(points.run, taken[1])] = taken[0]
                if not running:
                    return
                done, _ = wait(running, timeout=_TELL_EVERY, return_when=FIRST_COMPLETED)
                for future in done:
                    token = running.pop(future)
                    finish(source, token, future.result(), on_result)
                if progress is not None:
                    ended, _, total, _ = source.progress()
                    progress(ended / total if total else 1.0, ended, total)
        finally:
            points.stop()  # if this ends early, running points are abandoned
            pool.shutdown(cancel_futures=True)

    return serve


def finish(source: _core.PointsSource, token: int, record: bytes, on_result: OnResult | None) -> None:
    """Ends a point, and reports its result."""
    source.finish(token, record)
    if on_result is not None:
        told = _core.read_record(record)
        on_result(token, told["metrics"], told["error"])


def sweep(spec: SpecLike, output: str | os.PathLike[str] | None = None, *, jobs: int | None = None,
          client: Any = None, ship: Literal["paths", "bytes"] = "paths",
          progress: Callable[[float, int, int], Any] | bool | None = None, on_result: OnResult | None = None,
          retry_failed: bool = False, continue_changed: bool = False, limit: int = 0,
          trace_cache: int = 2) -> SweepResults:
    """Replays all points of a sweep, and keeps their results.

    `spec`: a SweepSpec, a file, a text or a dict (proto/sweep.proto). `output`: the folder of the results and of a
    journal, from which a stopped sweep continues; without it the results are only in memory. `jobs`: number of points
    that run at once; default: the machine's cores.

    `client`: a dask.distributed.Client. Points run on its workers, whose machines need this package. If a worker dies,
    other workers run its points; if there is no worker, a warning says that the sweep waits for one. Each worker reads
    the traces once, from the same paths (ship="paths": a shared file system), or receives them once (ship="bytes").

    `progress` is called with the finished share, the number of finished points, and the number of all points; True
    shows a bar. `on_result` is called when a point ends. `retry_failed`: runs failed points of the folder again.
    `continue_changed`: keeps the results of equal points although the spec changed. `limit`: maximum number of points
    to run. `trace_cache`: number of sets of traces in memory. Results are the same as those of `chakra-replay sweep`.
    Raises Error.
    """
    swept = SweepSpec(spec)
    threads = jobs or os.cpu_count() or 1
    serve: Any = None
    if client is not None:
        from ._dask import Workers

        serve = Workers(client, swept, ship, trace_cache, on_result, progress_of(progress)).serve
    elif on_result is not None:
        serve = _serve_threads(threads, trace_cache, on_result, progress_of(progress))
    with tempfile.TemporaryDirectory(prefix="chakra-replay-") as scratch:
        folder = scratch if output is None else os.fspath(output)
        summary = _core.run_sweep(swept._core, os.fsencode(folder), threads, retry_failed, continue_changed, limit, trace_cache,
                                  _core.VERSION, progress_of(progress), serve)
        results = SweepResults(_core.SweepRows.load([os.fsencode(folder)]), summary)
        if output is not None:
            with open(os.path.join(folder, "results.csv"), "w", encoding="utf-8", newline="") as out:
                out.write(results.to_csv())
    return results
