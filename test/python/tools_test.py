"""edit, collective, plan, topology, kernels."""

import csv
import io
import json
import os
import signal
import threading
import time
import unittest

import numpy as np

import chakra_replay as cr
from testing import GLOO, STEP, FolderTest, binary


class Edit(FolderTest):
    def test_in_memory(self):
        traces = cr.load(STEP)
        edited = cr.edit(traces, scale={"mlp": 0.5})
        mlp = np.array(["mlp" in name for name in traces.nodes["name"]])
        np.testing.assert_array_equal(edited.nodes["duration_ps"][mlp] * 2, traces.nodes["duration_ps"][mlp])
        np.testing.assert_array_equal(edited.nodes["duration_ps"][~mlp], traces.nodes["duration_ps"][~mlp])
        twice = cr.edit(edited, scale="mlp=0.5")
        self.assertEqual(twice.nodes["duration_ps"][mlp].sum() * 4, traces.nodes["duration_ps"][mlp].sum())
        report = cr.replay(edited, "dgx-h100")
        self.assertEqual(len(report.edits.outcomes), 1)
        self.assertEqual(report.to_json(), binary("replay", STEP, "--cluster", "dgx-h100", "--scale", "mlp=0.5", "--format", "json"))

    def test_to_a_folder(self):
        did = cr.edit(STEP, self.path("out"), scale="mlp=0.5")
        binary("edit", STEP, "-o", self.path("binary"), "--scale", "mlp=0.5", "-q")
        self.assertEqual(len(did.outcomes), 1)
        for rank in range(8):
            with open(self.path(f"out/workload.{rank}.et.zst"), "rb") as a, \
                    open(self.path(f"binary/workload.{rank}.et.zst"), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_errors(self):
        with self.assertRaisesRegex(cr.Error, "expects an edit"):
            cr.edit(STEP, self.path("out"))
        with self.assertRaises(cr.Error):
            cr.edit(STEP, scale="nothing_of_this_name=0.5")
        with self.assertRaisesRegex(TypeError, "scale"):
            cr.edit(STEP, self.path("out"), scales="mlp=0.5")


class Collective(unittest.TestCase):
    def test_equals_the_binary(self):
        table = cr.collective("all_reduce", "dgx-h100", ranks=16, bytes="1KiB..1GiB")
        told = list(csv.DictReader(io.StringIO(binary("collective", "all_reduce", "--cluster", "dgx-h100", "--ranks", 16,
                                                      "--bytes", "1KiB..1GiB", "--format", "csv"))))
        self.assertEqual(len(table), len(told))
        for row, line in zip(table, told):
            self.assertEqual((row.bytes, row.algorithm, f"{row.time_us:.3f}"),
                             (int(line["bytes"]), line["algorithm"], line["time_us"]))
        self.assertIn("<table>", table._repr_html_())

    def test_clusters_and_errors(self):
        cluster = cr.Cluster.preset("dgx-h100")
        slow = cluster.copy()
        slow.topology.dimension[0].bandwidth_gbytes_per_s = 10
        fast = cr.collective("all_gather", cluster, bytes="1GiB")
        self.assertGreater(cr.collective("all_gather", slow, bytes="1GiB")["time_us"][0], 5 * fast["time_us"][0])
        with self.assertRaisesRegex(cr.Error, "all_reduce"):
            cr.collective("all_reduced")
        with self.assertRaisesRegex(TypeError, "ranks"):
            cr.collective("all_reduce", rank=8)


class Plan(FolderTest):
    def test_equals_the_binary(self):
        told = binary("plan", "--model", "llama3-8b", "--training", "seq=4096,global_batch=64", "--cluster", "dgx-h100",
                      "--ranks", 16, "--top", 3, "--format", "json")
        progress = []
        plan = cr.plan(model="llama3-8b", training={"seq": 4096, "global_batch": 64}, cluster="dgx-h100", ranks=16, top=3,
                       progress=lambda *p: progress.append(p))
        self.assertEqual(plan.to_json(), told)
        self.assertEqual(len(plan), 3)
        self.assertEqual(list(plan.rows["place"]), [1, 2, 3])
        self.assertEqual(progress[-1][0], 1.0)
        self.assertIn("<html", plan.html(self.path("p.html")))
        self.assertIn("tp", str(plan))
        self.assertTrue(plan.to_csv())
        self.assertEqual(list(plan.to_pandas()["place"]), [1, 2, 3])

    def test_errors(self):
        with self.assertRaisesRegex(cr.Error, "WORKLOAD or"):
            cr.plan()

    def test_interrupt(self):
        # Without the signal it takes seconds. The signal arrives in the search or in a replay.
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            cr.plan(model="deepseek-v3", training={"seq": 4096, "global_batch": 4096}, cluster="dgx-h100", ranks=1024,
                    threads=1)
        self.assertLess(time.monotonic() - begin, 3)


class Topology(FolderTest):
    def test_equals_the_binary(self):
        net = cr.topology("fat_tree:k=4")
        told = json.loads(binary("topology", "check", "fat_tree:k=4", "--format", "json"))
        self.assertEqual((net.devices, net.diameter, net.links), (told["devices"], told["diameter"], int(told["links"])))
        self.assertEqual(len(net.findings), len(told["finding"]))
        self.assertEqual(net.to_text(), binary("topology", "show", "fat_tree:k=4"))
        self.assertEqual(str(net.draw(self.path("n.svg"))), binary("topology", "draw", "fat_tree:k=4"))
        with open(self.path("n.svg"), encoding="utf-8") as read:
            self.assertEqual(read.read(), net._repr_svg_())
        self.assertIn("graph", net.draw(self.path("n.dot")))
        self.assertIsNone(net.draw(format="dot")._repr_svg_())

    def test_clusters(self):
        cluster = cr.Cluster.preset("dgx-h100", nodes=2)
        self.assertEqual(cr.topology(cluster).draw(), cr.topology("dgx-h100:nodes=2").draw())
        self.assertEqual(cr.topology("dgx-h100", 32).devices, 32)
        cluster.topology.dimension[-1].size = 4
        self.assertEqual(cr.topology(cluster).devices, 32)

    def test_errors(self):
        with self.assertRaises(cr.Error) as caught:
            cr.topology("fat_treee:k=4")
        self.assertEqual(str(caught.exception), binary("topology", "show", "fat_treee:k=4", fails=True))
        with self.assertRaises(cr.Error):
            cr.topology("fat_tree:k=4").draw(layout="grid")


class Kernels(FolderTest):
    ROWS = [{"op": "gemm", "dtype": "bf16", "m": 4096, "n": 4096, "k": k} for k in (128, 4096)]

    def test_predict(self):
        table = cr.kernels.predict(self.ROWS, "H100")
        with open(self.path("rows.csv"), "w", encoding="utf-8") as out:
            out.write("op,dtype,m,n,k\ngemm,bf16,4096,4096,128\ngemm,bf16,4096,4096,4096\n")
        told = list(csv.DictReader(io.StringIO(binary("kernels", "predict", self.path("rows.csv"), "--device", "H100"))))
        np.testing.assert_allclose(table["time_us"], [float(row["time_us"]) for row in told])
        import pandas as pd

        for rows in (pd.DataFrame(self.ROWS), {"m": [4096], "n": [4096], "k": [128], "op": ["gemm"], "dtype": ["bf16"]}):
            self.assertEqual(cr.kernels.predict(rows, "H100")["time_us"][0], table["time_us"][0])
        self.assertEqual(cr.kernels.predict(self.ROWS, cr.Cluster.preset("dgx-h100"))["m"][0], 4096)
        self.assertIn("gemm", [op["op"] for op in cr.kernels.ops()])
        self.assertIn("V100", " ".join(cr.kernels.devices()))
        with self.assertRaisesRegex(cr.Error, "H1000"):
            cr.kernels.predict(self.ROWS, "H1000")

    def test_calibrate(self):
        rows = [{**row, "measured_us": 3 * t} for row, t in zip(self.ROWS, cr.kernels.predict(self.ROWS, "H100")["time_us"])]
        device = cr.kernels.calibrate(rows, "H100")
        cluster = cr.Cluster.preset("dgx-h100")
        cluster.device = device
        self.assertEqual(cluster.device.kernel_scale.rows, 2)
        self.assertGreater(cr.kernels.predict(self.ROWS, cluster)["time_us"][1], 0)

    def test_tables(self):
        table = cr.kernels.KernelTable.collect(GLOO, host_operations=True, device_name="CPU")
        binary("kernels", "collect", GLOO, "--host-operations", "--device-name", "CPU", "-o", self.path("b.csv"))
        table.save(self.path("t.csv"))
        for name in ("t.csv", "b.csv"):
            self.assertEqual(len(cr.kernels.KernelTable.load(self.path(name))), len(table))
        with open(self.path("t.csv"), encoding="utf-8") as a, open(self.path("b.csv"), encoding="utf-8") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(table.device, "CPU")
        self.assertEqual(len(cr.kernels.KernelTable.merge(table, table)), len(table))
        self.assertGreater(table.rows["duration_us"].min(), 0)
        again = cr.kernels.KernelTable.load(self.path("t.csv"))
        self.assertEqual(again.to_csv(), table.to_csv())
        moved = again.transfer("H100", from_device="V100")
        self.assertIn("H100", moved.device)


if __name__ == "__main__":
    unittest.main()
