"""Memory over a thousand runs."""

import gc
import resource
import unittest

import chakra_replay as cr
from testing import STEP


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * resource.getpagesize()


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


if __name__ == "__main__":
    unittest.main()
