"""Sweeps in this process."""

import unittest

import numpy as np

import chakra_replay as cr
from testing import SOURCE, STEP, FolderTest, binary

SPEC = {"name": "bandwidths", "trace": [STEP], "replay": "--cluster dgx-h100",
        "axis": [{"name": "fabric", "option": "--fabric", "value": ["analytical", "fluid"]},
                 {"name": "gbytes", "field": "topology.dimension[0].bandwidth_gbytes_per_s",
                  "range": {"from": 100, "to": 450, "steps": 8}}],
        "metric": [{"name": "ms", "expression": "makespan_ps / 1e9"}]}


class Sweeps(FolderTest):
    def csv_of_binary(self, spec, *words):
        with open(self.path("s.txtpb"), "w", encoding="utf-8") as out:
            out.write(spec)
        binary("sweep", self.path("s.txtpb"), "-o", self.path("binary"), "-q", *words)
        with open(self.path("binary/results.csv"), encoding="utf-8") as read:
            return read.read()

    def test_equals_the_binary(self):
        spec = cr.SweepSpec(SPEC)
        self.assertEqual(len(spec), 16)
        told = self.csv_of_binary(spec._core.to_text(), "--jobs", "2")
        results = cr.sweep(spec, jobs=2)
        self.assertEqual(results.to_csv(), told)
        self.assertEqual((len(results), results.failed, results.axes), (16, 0, ["fabric", "gbytes"]))
        self.assertEqual(results.summary["run"], 16)
        np.testing.assert_allclose(results.rows["ms"], results.rows["makespan_ps"] / 1e9)
        self.assertEqual(results.to_pandas().groupby("fabric").size()["fluid"], 8)
        self.assertIn("point,id,fabric", told)

    def test_points_are_replays(self):
        results = cr.sweep({**SPEC, "axis": SPEC["axis"][:1]})
        for row in results.rows:
            self.assertEqual(row.makespan_ps, cr.replay(STEP, "dgx-h100", fabric=row.fabric).makespan_ps)

    def test_results_arrive_during_the_sweep(self):
        seen = {}
        results = cr.sweep(SPEC, jobs=2, on_result=lambda point, metrics, error: seen.update({point: metrics["makespan_ps"]}))
        self.assertEqual(seen, dict(zip(results.rows["point"], results.rows["makespan_ps"])))
        shares = []
        cr.sweep(SPEC, progress=lambda *p: shares.append(p))
        self.assertEqual(shares[-1], (1.0, 16, 16))

    def test_continues_in_the_same_folder(self):
        folder = self.path("out")
        first = cr.sweep(SPEC, folder, limit=5)
        self.assertEqual((first.summary["run"], first.summary["left"]), (5, 11))
        second = cr.sweep(SPEC, folder)
        self.assertEqual((second.summary["run"], second.summary["done_before"]), (11, 5))
        self.assertEqual(second.to_csv(), cr.sweep(SPEC).to_csv())
        with open(folder + "/results.csv", encoding="utf-8") as read:
            self.assertEqual(read.read(), second.to_csv())
        self.assertEqual(cr.SweepResults.load(folder).to_csv(), second.to_csv())

    def test_questions(self):
        results = cr.sweep(SPEC)
        best = results.best("ms", top=3)
        self.assertEqual(len(best), 3)
        self.assertEqual(min(results.rows["ms"]), best["ms"][0])
        self.assertGreaterEqual(len(results.pareto("ms", "max:gbytes")), 1)
        table = results.table("fabric", "gbytes", "ms")
        self.assertEqual(len(table), 2)
        self.assertEqual(len(results.best(where="gbytes > 300")), len(results.best(top=100, where="gbytes > 300")))
        page = results.html(self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8", newline="") as read:
            self.assertEqual(read.read(), page)
        self.assertIn("<table>", results._repr_html_())
        with self.assertRaisesRegex(cr.Error, "mss"):
            results.best("mss")

    def test_search_and_files(self):
        text = cr.SweepSpec(SPEC)._core.to_text() + 'search { evaluations: 6 }\n'
        try:
            spec = cr.SweepSpec(text)
        except cr.Error as e:
            self.skipTest(str(e))
        results = cr.sweep(spec, on_result=lambda *unused: None)
        self.assertLessEqual(len(results), 16)
        self.assertEqual(len(cr.SweepSpec(SOURCE / "examples" / "sweeps" / "small.txtpb")), 12)

    def test_errors(self):
        with self.assertRaisesRegex(cr.Error, r"axis\[0\].*dimension"):
            cr.SweepSpec({"trace": [STEP], "axis": [{"name": "x", "field": "topology.dimensions[0].size", "value": [1]}]})
        with self.assertRaises(cr.Error):
            cr.SweepSpec("/nowhere/sweep.txtpb")
        failing = cr.sweep({"trace": [STEP], "axis": [{"name": "order", "option": "--lanes", "value": ["single", "recorded"]},
                                                      {"name": "machine", "option": "--cluster",
                                                       "value": ["dgx-h100", "dgx-h100:nodes=1,gpus_per_node=4"]}]})
        self.assertEqual(failing.failed, 2)
        self.assertEqual(sum(bool(e) for e in failing.rows["error"]), 2)

    def test_callbacks_stop(self):
        def stop(*unused):
            raise KeyError("enough")

        for named in ("progress", "on_result"):
            with self.assertRaisesRegex(KeyError, "enough"):
                cr.sweep(SPEC, **{named: stop})


if __name__ == "__main__":
    unittest.main()
