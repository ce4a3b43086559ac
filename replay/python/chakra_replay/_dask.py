"""Points of a sweep as tasks of Dask."""

from __future__ import annotations

import hashlib
import importlib
import os
import queue
import threading
import time
from typing import Any, Callable, Mapping, Sequence, Tuple

from . import _core
from ._traces import load

_BATCH_SECONDS = 0.25  # that a task takes: enough that the scheduler's own time does not count
_MOST_IN_BATCH = 256
_TRIES = 5  # of a task whose workers die
_TELL_EVERY = 0.1

# A point: its token, and its words.
Point = Tuple[int, Sequence[str]]


class _Here:
    """What a worker's process holds: one for each sweep that it takes part in, the last few of them."""

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
    """Writes the files that were sent; where they are here, and where they were."""
    # Goes with the worker. Checkers of types need not read all of Dask.
    worker = importlib.import_module("distributed").get_worker()
    folder = os.path.join(worker.local_directory, f"chakra-replay-{sweep['id']}")
    places = []
    for i, root in enumerate(sweep["roots"]):
        # The last part of the name stays: it may be a prefix, and tells the format.
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
    """On a worker: runs points one after the other, and gives their records."""
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
        self._files: Any = None
        roots = list(swept._core.traces)
        digest = hashlib.sha256(swept._core.to_text().encode())
        if ship == "bytes":
            files = _files_of(roots)
            for path in sorted(files):
                digest.update(path.encode() + b"\0" + hashlib.sha256(files[path]).digest())
            # Once to each worker: a task that needs it takes it from whoever has it.
            self._files = client.scatter(files, hash=True, broadcast=True) if files else None
        self._sweep = {"id": digest.hexdigest()[:16], "version": _core.VERSION, "trace_cache": trace_cache,
                       "roots": roots}
        self._ended: queue.Queue[Any] = queue.Queue()
        self._running: dict[Any, tuple[list[Point], int]] = {}  # by future: its points, and how often it was tried
        self._seconds = 0.0  # of a point, as measured
        self._told = 0.0

    def serve(self, source: _core.PointsSource) -> None:
        """Until each point has ended."""
        try:
            while True:
                self._fill(source)
                self._tell(source)
                if not self._running and source.done():
                    return
                try:
                    future = self._ended.get(timeout=0.2)
                except queue.Empty:
                    continue
                self._take(source, future)
        finally:
            for future in self._running:
                future.cancel()
            self._running.clear()

    def _threads(self) -> int:
        return sum(self._client.nthreads().values())

    def _fill(self, source: _core.PointsSource) -> None:
        most = 2 * max(1, self._threads())
        size = 1 if self._seconds == 0 else min(_MOST_IN_BATCH, max(1, int(_BATCH_SECONDS / self._seconds)))
        while len(self._running) < most:
            batch: list[Point] = []
            while len(batch) < size and (taken := source.take()) is not None:
                batch.append(taken)
            if not batch:
                return
            self._submit(batch, 1)

    def _submit(self, batch: list[Point], tried: int) -> None:
        future = self._client.submit(run_batch, batch, self._sweep, self._files, pure=False)
        self._running[future] = (batch, tried)
        future.add_done_callback(self._ended.put)

    def _take(self, source: _core.PointsSource, future: Any) -> None:
        if future not in self._running:
            return
        batch, tried = self._running.pop(future)
        if future.status == "finished":
            for token, record in future.result():
                self._finish(source, token, record)
            return
        error = future.exception() if future.status == "error" else None
        if error is not None and type(error).__name__ != "KilledWorker":
            raise error  # the worker lacks the package, or something of this kind: no point is at fault
        if tried >= _TRIES:
            for token, _ in batch:
                source.fail(token, f"the workers that ran it died, {tried} times")
        elif len(batch) > 1:  # one of them may kill workers: the others are not to go with it
            for point in batch:
                self._submit([point], tried)
        else:
            self._submit(batch, tried + 1)

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

