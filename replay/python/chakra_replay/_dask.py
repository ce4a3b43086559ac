"""Points of a sweep as tasks of Dask."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import importlib
import os
import queue
import threading
import time
import warnings
from typing import Any, Callable, Mapping, Sequence, Tuple

from . import _core
from ._errors import Error
from ._traces import load

_BATCH_SECONDS = 0.25  # time of a task; long enough to hide the scheduler's own time
_MOST_IN_BATCH = 256
_TRIES = 5  # how often a task may lose its worker
_DROPS = 20  # how often the scheduler may drop a task
_TELL_EVERY = 0.1
_ALONE_SECONDS = 5.0  # time without any worker before the warning

# A point: its token, and its words.
Point = Tuple[int, Sequence[str]]


@dataclasses.dataclass
class _Task:
    """A batch of points."""

    points: list[Point]
    tried: int = 1  # attempts so far; in all but the last one the workers died
    dropped: int = 0


class _Here:
    """The SweepPoints of a worker's process, one for each sweep. Only the last few are kept."""

    lock = threading.Lock()
    points: dict[str, _core.SweepPoints] = {}

    @classmethod
    def of(cls, sweep: Mapping[str, Any], files: Mapping[str, bytes] | None) -> _core.SweepPoints:
        with cls.lock:
            found = cls.points.get(sweep["id"])
            if found is None:
                while len(cls.points) >= 4:
                    cls.points.pop(next(iter(cls.points)))
                sent = _unpack(sweep, files) if files is not None else []
                found = cls.points[sweep["id"]] = _core.SweepPoints(sweep["trace_cache"], 1, sent)
            return found


def _unpack(sweep: Mapping[str, Any], files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Writes the received files. Returns, for each root, its path here and its original path."""
    # The folder is deleted with the worker. The import is dynamic so that type checkers need not read all of Dask.
    worker = importlib.import_module("distributed").get_worker()
    folder = os.path.join(worker.local_directory, f"chakra-replay-{sweep['id']}")
    places = []
    for i, root in enumerate(sweep["roots"]):
        # Keeps the last part of the name, which may be a prefix and determines the format.
        local = os.path.join(folder, str(i), os.path.basename(os.path.normpath(root)))
        places.append((local, root))
        for path, content in files.items():
            if path == root or path.startswith(root):
                to = local + path[len(root):]
                os.makedirs(os.path.dirname(to), exist_ok=True)
                with open(to, "wb") as out:
                    out.write(content)
    return places


def run_batch(points: Sequence[Point], sweep: Mapping[str, Any],
              files: Mapping[str, bytes] | None = None) -> list[tuple[int, bytes]]:
    """On a worker: runs points one after the other, and returns their records."""
    if sweep["version"] != _core.VERSION:
        raise RuntimeError(f"the worker has chakra_replay {_core.VERSION}, the sweep is of {sweep['version']}")
    held = _Here.of(sweep, files)
    return [(token, held.run(words)) for token, words in points]


def _files_of(roots: Sequence[str]) -> dict[str, bytes]:
    files = {}
    for root in roots:
        for found in load(root).inputs:
            with open(found["path"], "rb") as content:
                files[found["path"]] = content.read()
    return files


class Workers:
    """Hands the points of a sweep to the workers of a client."""

    def __init__(self, client: Any, swept: Any, ship: str, trace_cache: int,
                 on_result: Callable[[int, Mapping[str, float], str], Any] | None,
                 progress: Callable[..., Any] | None) -> None:
        if ship not in ("paths", "bytes"):
            raise ValueError(f'ship is {ship!r}; expected "paths" or "bytes"')
        self._client, self._on_result, self._progress = client, on_result, progress
        roots = list(swept._core.traces)
        digest = hashlib.sha256(swept._core.to_text().encode())
        self._content = _files_of(roots) if ship == "bytes" else {}
        for path in sorted(self._content):
            digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(self._content[path]).digest())
        self._files: Any = None  # a future of the content
        self._sweep = {"id": digest.hexdigest()[:16], "version": _core.VERSION, "trace_cache": trace_cache,
                       "roots": roots}
        self._ended: queue.Queue[Any] = queue.Queue()
        self._running: dict[Any, _Task] = {}  # by future
        self._waiting: list[_Task] = []  # tasks that were not sent yet
        self._seconds = 0.0  # measured time of a point; a moving average
        self._told = 0.0
        self._alone_since: float | None = None  # since when there is no worker; inf: the warning was given

    def serve(self, source: _core.PointsSource) -> None:
        """Runs until all points have ended."""
        try:
            while True:
                if (threads := self._threads()) > 0:
                    self._fill(source, 2 * threads)
                    self._send()
                self._tell(source)
                if not self._running and not self._waiting and source.done():
                    return
                try:
                    future = self._ended.get(timeout=0.2)
                except queue.Empty:
                    continue
                self._take(source, future)
        finally:
            with contextlib.suppress(OSError, TimeoutError, asyncio.TimeoutError):  # the scheduler is gone
                for future in self._running:
                    future.cancel()
            self._running.clear()

    def _threads(self) -> int:
        """Number of threads of all workers. Warns if there is none for long; raises Error if the scheduler is gone."""
        try:
            threads: int = sum(self._client.nthreads().values())
        except (OSError, TimeoutError, ValueError) as e:
            threads = self._lost(e)
        if self._client.status in ("closed", "closing"):
            threads = self._lost(None)
        if threads > 0:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > _ALONE_SECONDS:
            self._alone_since = float("inf")
            warnings.warn(f"sweep: {self._scheduler()} has no worker; the sweep waits until one comes", stacklevel=4)
        return threads

    def _scheduler(self) -> str:
        where = getattr(getattr(self._client, "scheduler", None), "address", "")
        return f"the scheduler {where}".rstrip()

    def _lost(self, why: Exception | None) -> int:
        told = f": {why}" if why is not None and str(why) else ""
        raise Error(f"sweep: {self._scheduler()} cannot be reached any more{told}; points that ended are kept",
                    "unavailable") from why

    def _fill(self, source: _core.PointsSource, most: int) -> None:
        size = 1 if self._seconds == 0 else min(_MOST_IN_BATCH, max(1, int(_BATCH_SECONDS / self._seconds)))
        while len(self._running) + len(self._waiting) < most:
            batch: list[Point] = []
            while len(batch) < size and (taken := source.take()) is not None:
                batch.append(taken)
            if not batch:
                return
            self._waiting.append(_Task(batch))

    def _send(self) -> None:
        while self._waiting:
            if self._content and (self._files is None or self._files.status != "finished"):
                # Sent once to each worker; tasks find it there. The key is new each time, since keys made from
                # content or paths may belong to data that is being released.
                try:
                    [self._files] = self._client.scatter([self._content], hash=False, broadcast=True)
                except (OSError, TimeoutError, asyncio.TimeoutError):
                    return  # the workers have left meanwhile
            task = self._waiting.pop(0)
            future = self._client.submit(run_batch, task.points, self._sweep, self._files, pure=False)
            self._running[future] = task
            future.add_done_callback(self._ended.put)

    def _take(self, source: _core.PointsSource, future: Any) -> None:
        if future not in self._running:
            return
        task = self._running.pop(future)
        records = self._records(future)
        if records is not None:
            for token, record in records:
                self._finish(source, token, record)
            return
        error = future.exception(timeout=_ALONE_SECONDS) if future.status == "error" else None
        if error is None:
            return self._drop(task)
        if type(error).__name__ != "KilledWorker":
            raise error  # for example, the worker lacks the package: no point is at fault
        if task.tried >= _TRIES:
            for token, _ in task.points:
                source.fail(token, f"the workers that ran it died, {task.tried} times")
        elif len(task.points) > 1:  # one point may kill workers: run each by itself
            self._waiting += [_Task([point], task.tried) for point in task.points]
        else:
            self._waiting.append(_Task(task.points, task.tried + 1))

    @staticmethod
    def _records(future: Any) -> list[tuple[int, bytes]] | None:
        """The records of a task; None: it did not end, or the worker with its result is gone."""
        if future.status != "finished":
            return None
        try:
            return list(future.result(timeout=_ALONE_SECONDS))
        except (concurrent.futures.CancelledError, asyncio.TimeoutError, TimeoutError):
            return None

    def _drop(self, task: _Task) -> None:
        """Sends a task again whose data or result was lost with a worker. The task did not kill a worker."""
        task.dropped += 1
        if task.dropped > _DROPS:
            raise Error(f"sweep: {self._scheduler()} dropped a task {task.dropped} times; points that ended are kept",
                        "unavailable")
        self._waiting.append(task)

    def _finish(self, source: _core.PointsSource, token: int, record: bytes) -> None:
        told = _core.read_record(record)
        share = 0.1 if self._seconds else 1.0
        self._seconds += share * (told["seconds"] - self._seconds)
        source.finish(token, record)
        if self._on_result is not None:
            self._on_result(token, told["metrics"], told["error"])

    def _tell(self, source: _core.PointsSource) -> None:
        now = time.monotonic()
        if self._progress is None or now - self._told < _TELL_EVERY:
            return
        self._told = now
        done, _, total, _ = source.progress()
        self._progress(done / total if total else 1.0, done, total)
