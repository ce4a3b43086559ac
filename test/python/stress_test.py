"""Memory over a thousand runs, and speed."""

import gc
import os
import resource
import time
import unittest

import chakra_replay as cr
from testing import STEP


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * resource.getpagesize()


def used() -> float:
    """User time of this process: other processes do not count."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


class Memory(unittest.TestCase):
    def grows(self, run, times):
        for _ in range(times // 4):
            run()
        gc.collect()
        before = resident()
        for _ in range(times):
            run()
        gc.collect()
        return resident() - before

    def test_replays(self):
        traces = cr.load(STEP)
        cluster = cr.Cluster.preset("dgx-h100")

        def run():
            report = cr.replay(traces, cluster, fabric="fluid")
            report.ranks.to_dict()
            report.to_json()

        self.assertLess(self.grows(run, 1000), 4 << 20)

    def test_errors_and_clusters(self):
        def run():
            cluster = cr.Cluster.preset("dgx-h100", nodes=2)
            cluster.topology.dimension.add(kind="RING", size=2, bandwidth_gbytes_per_s=1)
            for wrong in ({"lanes": "many"}, {"set": "nothing=1"}):
                try:
                    cr.replay(STEP, cluster, **wrong)
                except cr.Error:
                    continue
                raise AssertionError("no error")

        self.assertLess(self.grows(run, 300), 4 << 20)

    def test_traces(self):
        def run():
            traces = cr.load(STEP)
            nodes = traces.nodes["id"]
            rank = traces[0].id
            del traces
            return int(nodes[0]) + int(rank[0])

        self.assertLess(self.grows(run, 200), 4 << 20)


class Speed(unittest.TestCase):
    """Of the user's own time on this machine, with room for a slower one: bench/README.md has figures."""

    def test_replays_with_other_bandwidths(self):
        traces = cr.load(STEP)
        cluster = cr.Cluster.preset("dgx-h100")
        link = cluster.topology.dimension[0]
        runs = int(os.environ.get("CHAKRA_PYTHON_RUNS", "500"))
        begin = used()
        makespans = set()
        for i in range(runs):
            link.bandwidth_gbytes_per_s = 100 + i * 0.1
            makespans.add(cr.replay(traces, cluster).makespan_ps)
        each = (used() - begin) / runs
        print(f"a replay of transformer_step: {each * 1e3:.3f} ms of user time", flush=True)
        self.assertGreater(len(makespans), runs // 2)
        self.assertLess(each, 4e-3)

    def test_a_million_nodes_to_pandas(self):
        traces = cr.load(f"{STEP}/workload.0.et.zst", ranks=6372)
        self.assertGreater(traces.node_count, 1_000_000)
        import pandas  # noqa: F401: it is not what is measured

        begin, wall = used(), time.perf_counter()
        frame = traces.to_pandas()
        seconds, wall = used() - begin, time.perf_counter() - wall
        print(f"{traces.node_count:,} nodes to pandas: {seconds:.3f} s of user time, {wall:.3f} s", flush=True)
        self.assertEqual(len(frame), traces.node_count)
        self.assertLess(seconds, 2)


if __name__ == "__main__":
    unittest.main()
