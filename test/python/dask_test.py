"""Sweeps on a cluster of Dask with a scheduler and two workers, one of which is killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

import chakra_replay as cr
from testing import GLOO, STEP, FolderTest

try:
    from distributed import Client
except ImportError:
    Client = None

POINTS = int(os.environ.get("CHAKRA_DASK_POINTS", "600"))
SPEC = {"name": "bandwidths", "trace": [STEP], "replay": "--cluster dgx-h100",
        "axis": [{"name": "gbytes", "field": "topology.dimension[0].bandwidth_gbytes_per_s",
                  "range": {"from": 100, "to": 450, "steps": POINTS}}]}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Task:
    """A future that is already done."""

    def __init__(self, status, result=None, error=None):
        self.status, self._result, self._error = status, result, error

    def add_done_callback(self, call):
        call(self)

    def result(self, timeout=None):
        return self._result

    def exception(self, timeout=None):
        return self._error

    def cancel(self):
        pass


class KilledWorker(Exception):
    pass


class FakeClient:
    """Runs tasks in this process, unless `dropped` returns a status or an error for the task."""

    status = "running"

    def __init__(self, dropped, threads=(2,)):
        self._dropped, self._threads, self.sent = dropped, list(threads), 0

    def nthreads(self):
        return {"a": self._threads.pop(0) if len(self._threads) > 1 else self._threads[0]}

    def scatter(self, data, **unused):
        self.sent += 1
        return [Task("finished") for _ in data]

    def submit(self, run, points, sweep, files, pure):
        end = self._dropped(points)
        if isinstance(end, str):
            return Task(end)
        if end is not None:
            return Task("error", error=end)
        return Task("finished", run(points, sweep, None))


class OnTasks(FolderTest):
    """The handling of tasks, with a fake client."""

    SPEC = {**SPEC, "axis": [{**SPEC["axis"][0], "range": {"from": 100, "to": 450, "steps": 6}}]}

    def test_dropped_points_run_again(self):
        for status in ("cancelled", "lost"):
            drops = {}

            def dropped(points):
                times = drops[points[0][0]] = drops.get(points[0][0], 0) + 1
                return status if times <= 7 else None

            client = FakeClient(dropped)
            results = cr.sweep(self.SPEC, self.path(status), client=client, ship="bytes")
            self.assertEqual((len(results), results.failed), (6, 0))
            self.assertEqual(results.to_csv(), cr.sweep(self.SPEC).to_csv())
            again = cr.sweep(self.SPEC, self.path(status))
            self.assertEqual((again.summary["done_before"], again.summary["failed"]), (6, 0))

    def test_points_that_kill_workers_fail(self):
        results = cr.sweep(self.SPEC, client=FakeClient(lambda points: KilledWorker() if points[0][0] == 2 else None))
        self.assertEqual([bool(e) for e in results.rows["error"]], [i == 2 for i in range(6)])
        self.assertIn("died, 5 times", results.rows["error"][2])

    def test_error_if_every_task_is_dropped(self):
        with self.assertRaisesRegex(cr.Error, "dropped a task"):
            cr.sweep(self.SPEC, self.path("out"), client=FakeClient(lambda points: "cancelled"))
        self.assertEqual(cr.sweep(self.SPEC, self.path("out")).summary["done_before"], 0)

    def test_warning_without_workers(self):
        from chakra_replay import _dask

        waits, _dask._ALONE_SECONDS = _dask._ALONE_SECONDS, 0.1
        self.addCleanup(setattr, _dask, "_ALONE_SECONDS", waits)
        with self.assertWarnsRegex(UserWarning, "has no worker; the sweep waits"):
            results = cr.sweep(self.SPEC, client=FakeClient(lambda points: None, threads=[0] * 20 + [2]))
        self.assertEqual(results.failed, 0)

    def test_error_without_a_scheduler(self):
        client = FakeClient(lambda points: None)
        client.status = "closed"
        with self.assertRaisesRegex(cr.Error, "cannot be reached any more"):
            cr.sweep(self.SPEC, client=client)

    def test_traces_of_an_axis_are_sent(self):
        spec = cr.SweepSpec({"axis": [{"name": "step", "option": "TRACE", "value": [STEP, GLOO]}]})
        self.assertEqual(spec._core.traces, [STEP, GLOO])


@unittest.skipIf(Client is None, "Dask is not installed (python3-distributed)")
class OnDask(FolderTest):
    def setUp(self):
        super().setUp()
        self.processes = []
        self.addCleanup(self.stop)
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        self.start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self.workers = [self.worker() for _ in range(2)]
        self.client = Client(self.address, timeout=60)
        self.addCleanup(self.client.close)
        self.client.wait_for_workers(2, timeout=60)

    def start(self, module, *words):
        with open(self.path(f"{len(self.processes)}.log"), "wb") as log:
            process = subprocess.Popen([sys.executable, "-m", module, *map(str, words)], stdout=log, stderr=log,
                                       cwd=self.folder)
        self.processes.append(process)
        return process

    def worker(self):
        return self.start("distributed.cli.dask_worker", self.address, "--nthreads", 1, "--no-nanny", "--no-dashboard",
                          "--local-directory", self.folder)

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def kill_one(self):
        self.workers[0].send_signal(signal.SIGKILL)
        self.workers[0].wait()

    def test_survives_a_killed_worker(self):
        alone = cr.sweep(SPEC, jobs=2)
        seen = []

        def told(point, metrics, error):
            seen.append(point)
            if len(seen) == POINTS // 10:
                self.kill_one()

        results = cr.sweep(SPEC, client=self.client, on_result=told)
        self.assertIsNotNone(self.workers[0].poll())
        self.assertEqual(sorted(seen), list(range(POINTS)))  # each point exactly once
        self.assertEqual(results.to_csv(), alone.to_csv())
        self.assertEqual(results.failed, 0)

    def test_traces_are_sent(self):
        folder = self.path("here alone")
        os.mkdir(folder)
        for name in os.listdir(STEP):
            with open(os.path.join(STEP, name), "rb") as read, open(os.path.join(folder, name), "wb") as out:
                out.write(read.read())
        spec = {**SPEC, "trace": [folder], "axis": [{**SPEC["axis"][0], "range": {"from": 100, "to": 450, "steps": 20}}]}
        alone = cr.sweep(spec, self.path("alone"))
        moved = []

        def away(point, metrics, error):  # the workers have only what was sent
            if not moved:
                moved.append(os.rename(folder, folder + "!"))

        results = cr.sweep(spec, self.path("sent"), client=self.client, ship="bytes", on_result=away)
        self.assertEqual(results.to_csv(), alone.to_csv())
        self.assertEqual(inputs_of(self.path("sent")), inputs_of(self.path("alone")))

    def test_waits_for_a_late_worker(self):
        self.kill_one()
        self.workers[1].send_signal(signal.SIGKILL)
        self.workers[1].wait()
        late = []

        def come(*unused):
            if not late:
                late.append(self.worker())

        spec = {**SPEC, "axis": [{**SPEC["axis"][0], "range": {"from": 100, "to": 450, "steps": 10}}]}
        results = cr.sweep(spec, client=self.client, progress=come)
        self.assertEqual((len(results), results.failed), (10, 0))

    def test_other_files_at_the_same_path(self):
        folder = self.path("step")
        for round in range(6):  # the data of the last round is being released
            shutil.rmtree(folder, ignore_errors=True)
            cr.edit(STEP, folder, scale={"mlp": 1 + round / 4})
            spec = {**SPEC, "trace": [folder], "axis": [{**SPEC["axis"][0], "range": {"from": 100, "to": 450, "steps": 12}}]}
            results = cr.sweep(spec, client=self.client, ship="bytes")
            self.assertEqual(results.failed, 0, list(results.rows["error"]))
            self.assertEqual(results.to_csv(), cr.sweep(spec).to_csv())

    def test_survives_a_killed_worker_with_the_files(self):
        killed = []

        def kill(*unused):
            if not killed:
                killed.append(self.kill_one())

        results = cr.sweep(SPEC, client=self.client, ship="bytes", on_result=kill)
        self.assertEqual(results.failed, 0, set(results.rows["error"]))

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "paths"):
            cr.sweep(SPEC, client=self.client, ship="post")

        def stop(*unused):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            cr.sweep(SPEC, client=self.client, on_result=stop)
        while any(self.client.processing().values()):  # running points are abandoned
            time.sleep(0.1)


def inputs_of(folder):
    """The files in the journal, whose lines otherwise differ only in times."""
    with open(folder + "/points.journal", encoding="utf-8") as read:
        return sorted({line.split('"inputs":"')[1].split('"')[0] for line in read if '"inputs":"' in line})


if __name__ == "__main__":
    unittest.main()
