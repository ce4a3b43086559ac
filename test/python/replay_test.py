"""replay() and reports, which must equal the binary's."""

import os
import pickle
import signal
import tempfile
import threading
import unittest

import numpy as np

import chakra_replay as cr
from testing import GLOO, STEP, FolderTest, binary


class Equal(FolderTest):
    """Reports equal the binary's to the byte."""

    def check(self, *words, **options):
        cluster = options.pop("cluster", None)
        path = options.pop("path", STEP)
        of_traces = {k: options.pop(k) for k in ("ranks", "scale", "edit", "steps") if k in options}
        report = cr.replay(cr.load(path, **of_traces), cluster, **options)
        for print_, format_ in ((report.to_json, "json"), (report.to_csv, "csv")):
            self.assertEqual(print_(), binary("replay", path, *words, "--format", format_))
        return report

    def test_fabrics(self):
        for fabric in ("analytical", "analytical-fifo", "fluid"):
            self.check("--cluster", "dgx-h100", "--fabric", fabric, cluster="dgx-h100", fabric=fabric)
        self.check("--cluster", "dgx-h100", "--fabric", "packet", cluster="dgx-h100", fabric="packet", path=GLOO)

    def test_clusters(self):
        self.check()
        self.check("--cluster", "dgx-a100:nodes=2", cluster=cr.Cluster.preset("dgx-a100", nodes=2))
        cr.Cluster.preset("dgx-v100").save(self.path("c.txtpb"))
        self.check("--cluster", self.path("c.txtpb"), cluster=self.path("c.txtpb"))
        self.check("--cluster", self.path("c.txtpb"), cluster=cr.Cluster.from_file(self.path("c.txtpb")))
        changed = cr.Cluster.preset("dgx-h100")
        changed.topology.dimension[0].bandwidth_gbytes_per_s = 100.5
        self.check("--cluster", "dgx-h100", "--set", "topology.dimension[0].bandwidth_gbytes_per_s=100.5", cluster=changed)

    def test_options(self):
        self.check("--lanes", "unlimited", "--straggler", "3=1.5", "--straggler", "host:1=2", "--seed", "7",
                   lanes="unlimited", straggler=["3=1.5", "host:1=2"], seed=7)
        self.check("--set", "topology.dimension[0].latency_ns=500", "--set", "device.memory_gbytes_per_s=1000.25",
                   set={"topology.dimension[0].latency_ns": 500, "device.memory_gbytes_per_s": 1000.25})
        self.check("--no-fast-path", "--critical-path", no_fast_path=True, critical_path=True)
        self.check("--cluster", "dgx-h100", "--energy", "--power-cap", "500W", cluster="dgx-h100", energy=True,
                   power_cap="500W")
        self.check("--cluster", "dgx-h100", "--packet", "mtu=1024B", "--fabric", "packet", cluster="dgx-h100",
                   packet={"mtu": "1024B"}, fabric="packet", path=GLOO)
        self.check("--placement", "random:3", placement="random:3")

    def test_options_of_traces(self):
        self.check("--edit", str(self.script()), edit=self.script())
        self.check("--scale", "mlp=0.5", scale={"mlp": 0.5})
        self.check("--steps", "all", path=GLOO, steps="all")

    def test_experts_go_by_the_domain_of_the_cluster(self):
        """One set of traces on clusters whose NVLink domains have 72, 8 and 4 devices, and a sweep over two of them."""
        parts = ("layers=2,hidden=256,heads=4,ffn=512,vocab=1024,experts=16,top_k=2,expert_ffn=128",
                 "ep=16,dp=16,dispatcher=deep", "seq=512,launch=0us")
        words = [w for option, part in zip(("--model", "--parallel", "--training"), parts) for w in (option, part)]
        clusters = ("gb200-nvl72", "dgx-h100", "gb200-nvl72")
        traces = cr.model(*parts)
        plain = traces.nodes.to_pandas()
        spans = []
        for cluster in clusters:
            report = cr.replay(traces, cluster)
            self.assertEqual(report.to_json(), binary("replay", *words, "--cluster", cluster, "--format", "json"))
            spans.append(report.makespan_ps)
        self.assertEqual(spans[0], spans[2])
        self.assertNotEqual(spans[0], spans[1])
        smaller = cr.Cluster.preset("dgx-h100")
        smaller.topology.dimension[0].size = 4
        self.assertEqual(cr.replay(traces, smaller).to_json(),
                         binary("replay", *words, "--cluster", "dgx-h100", "--set", "topology.dimension[0].size=4",
                                "--format", "json"))
        self.assertEqual(len(cr.load(model=parts[0], parallel=parts[1], training=parts[2]).nodes), len(plain))
        fixed = cr.model(parts[0], parts[1] + ",domain=2", parts[2])
        self.assertEqual(cr.replay(fixed, "gb200-nvl72").to_json(),
                         binary("replay", *words[:3], parts[1] + ",domain=2", *words[4:], "--cluster", "gb200-nvl72",
                                "--format", "json"))
        swept = cr.sweep({"name": "s", "replay": " ".join(words), "axis": [
            {"name": "machine", "option": "--cluster", "value": list(clusters[:2])}]}).to_pandas()
        self.assertEqual(sorted(swept["makespan_ps"]), sorted(spans[:2]))

    def script(self):
        path = self.path("edit.txtpb")
        with open(path, "w", encoding="utf-8") as out:
            out.write('edit { select { name: "mlp" } duration { factor: 0.5 } }\n')
        return path

    def test_captures(self):
        self.check(path=GLOO)
        self.check("--cluster", "dgx-h100", path=GLOO, cluster="dgx-h100")

    def test_paths_in_place_of_traces(self):
        self.assertEqual(cr.replay(STEP, "dgx-h100"), cr.replay(cr.load(STEP), "dgx-h100"))


class Reports(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.traces = cr.load(STEP)
        cls.report = cr.replay(cls.traces, "dgx-h100", fabric="fluid")

    def test_numbers(self):
        r = self.report
        self.assertIsInstance(r.makespan_ps, int)
        self.assertEqual(r.makespan, r.makespan_ps * 1e-12)
        self.assertEqual((r.cluster, r.fabric, len(r.ranks), r.nodes), ("dgx-h100", "fluid", 8, 1256))
        self.assertEqual(max(r.ranks["end_ps"]), r.makespan_ps)
        np.testing.assert_allclose(r.ranks["end"], r.ranks["end_ps"] * 1e-12)
        self.assertEqual(r.ranks[2].end_ps, r.ranks.end_ps[2])
        self.assertEqual(r.ranks[-1].rank, 7)
        self.assertEqual([row.rank for row in r.ranks[2:4]], [2, 3])
        self.assertIsNone(r.training)
        self.assertIsNone(r.memory)
        self.assertEqual(r.rank.columns, r.ranks.columns)
        collectives = r.collectives.to_pandas()
        self.assertIn("all_reduce", set(collectives["kind"]))
        self.assertEqual(r.links["bandwidth_bytes_per_s"].dtype, np.int64)
        self.assertIsInstance(r.warnings, list)
        np.testing.assert_allclose(r.collectives["busbw_bytes_per_s"], r.collectives["busbw_gbytes_per_s"] * 1e9)
        self.assertTrue(r.ranks.doc("end_ps"))

    def test_unknown_names(self):
        with self.assertRaisesRegex(AttributeError, "makespan"):
            self.report.makespann
        with self.assertRaisesRegex(AttributeError, "no column"):
            self.report.ranks.endps
        with self.assertRaisesRegex(KeyError, "no column"):
            self.report.ranks["endps"]
        with self.assertRaises(IndexError):
            self.report.ranks[8]
        self.assertIn("makespan", dir(self.report))
        self.assertIn("end_ps", dir(self.report.ranks))

    def test_energy(self):
        r = cr.replay(self.traces, "dgx-h100", energy=True)
        self.assertAlmostEqual(r.energy.joules, r.energy.microjoules * 1e-6)
        self.assertEqual(r.ranks["energy_microjoules"].sum(), r.energy.device_microjoules)
        np.testing.assert_allclose(r.ranks["energy_joules"] * 1e6, r.ranks["energy_microjoules"])

    def test_critical_path(self):
        path = self.report.critical_path
        self.assertAlmostEqual(sum(path.causes["share"]), 1, 9)
        asked = cr.replay(self.traces, "dgx-h100", fabric="fluid", critical_path=True)
        self.assertEqual(path, asked.critical_path)
        self.assertEqual(self.report.to_json().count('"critical_path": null'), asked.to_json().count('"critical_path": null'))

    def test_page(self):
        page = self.report.html(self.path("page.html"))
        binary("replay", STEP, "--cluster", "dgx-h100", "--fabric", "fluid", "--html", self.path("b.html"), "--report",
               self.path("x"))
        for name in ("page.html", "b.html"):
            with open(self.path(name), encoding="utf-8", newline="") as read:
                self.assertEqual(read.read(), page)

    def test_timeline(self):
        for name in ("t.pftrace", "t.json", "t.json.gz"):
            self.assertEqual(self.report.timeline(self.path(name)), "")
            binary("replay", STEP, "--cluster", "dgx-h100", "--fabric", "fluid", "--timeline", self.path("b." + name),
                   "--report", self.path("x"))
            with open(self.path(name), "rb") as a, open(self.path("b." + name), "rb") as b:
                self.assertEqual(a.read(), b.read())
        self.assertIn("ranks", self.report.timeline(self.path("few.json"), nodes=200))
        self.report.timeline(self.path("some"), format="json", ranks=[1, 3])
        with self.assertRaisesRegex(cr.Error, "pftrace"):
            self.report.timeline(self.path("t.txt"))

    def test_compare(self):
        other = cr.replay(self.traces, "dgx-a100", fabric="fluid")
        told = self.report.compare(other)
        self.assertFalse(told.identical)
        self.assertTrue(self.report.compare(self.report).identical)
        self.assertIn("makespan", str(told))
        self.assertIn("ranks", told.sections["name"])
        self.assertTrue(told.to_csv().startswith("section,"))
        self.assertEqual([s.a for s in told.settings if s.name == "cluster"], ["dgx-h100"])
        self.assertIn("<pre>", told._repr_html_())

    def test_files_and_pickle(self):
        with open(self.path("r.json"), "w", encoding="utf-8") as out:
            out.write(self.report.to_json())
        read = cr.Report.from_file(self.path("r.json"))
        self.assertEqual(read, self.report)
        self.assertEqual(read.to_json(), self.report.to_json())
        self.assertIsNone(read.critical_path)
        self.assertIn("<html", read.html())
        with self.assertRaisesRegex(cr.Error, "timeline"):
            read.timeline(self.path("t.json"))
        again = pickle.loads(pickle.dumps(self.report))
        self.assertEqual(again.to_json(), self.report.to_json())

    def test_in_a_notebook(self):
        shown = self.report._repr_html_()
        for part in ("makespan", "dgx-h100", "<table>", self.report.bound.split(",")[0][:10]):
            self.assertIn(part, shown)
        self.assertIn("<th", self.report.ranks._repr_html_())
        self.assertIn("ms", str(self.report))


class Errors(unittest.TestCase):
    def test_same_text(self):
        for words, options in ((["--lanes", "many"], {"lanes": "many"}), (["--fabric", "fuid"], {"fabric": "fuid"}),
                               (["--set", "topologie=1"], {"set": "topologie=1"}),
                               (["--power-cap", "500W"], {"power_cap": "500W"}),
                               (["--straggler", "9=2"], {"straggler": "9=2"})):
            with self.assertRaises(cr.Error) as caught:
                cr.replay(STEP, "dgx-h100", **options)
            told = binary("replay", STEP, "--cluster", "dgx-h100", *words, fails=True)
            self.assertEqual(str(caught.exception), told.split("; see `chakra-replay")[0].split(" See `chakra-replay")[0])

    def test_names(self):
        with self.assertRaisesRegex(TypeError, "did you mean"):
            cr.replay(STEP, farbic="fluid")
        with self.assertRaisesRegex(TypeError, "expected a value"):
            cr.replay(STEP, fabric=True)
        traces = cr.load(STEP)
        with self.assertRaisesRegex(cr.Error, "changes the traces"):
            cr.replay(traces, ranks=16)
        with self.assertRaises(TypeError):
            cr.replay(traces, 3)


class Threads(unittest.TestCase):
    def test_replays_at_once(self):
        traces = cr.load(STEP)
        alone = {f: cr.replay(traces, "dgx-h100", fabric=f).to_json() for f in ("analytical", "fluid", "analytical-fifo")}
        wrong = []

        def run(fabric):
            for _ in range(5):
                if cr.replay(traces, "dgx-h100", fabric=fabric).to_json() != alone[fabric]:
                    wrong.append(fabric)

        threads = [threading.Thread(target=run, args=(f,)) for f in ("analytical", "fluid", "analytical-fifo", "fluid")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_other_threads_run_during_a_replay(self):
        traces = cr.model("llama3-8b", {"tp": 4, "pp": 2}, {"seq": 8192, "global_batch": 64})
        counted = [0]
        over = threading.Event()

        def count():
            while not over.wait(0.001):
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        before = counted[0]
        cr.replay(traces, "dgx-h100", fabric="fluid", no_fast_path=True)
        after = counted[0]
        over.set()
        thread.join()
        self.assertGreater(after - before, 5)


class Objects(FolderTest):
    """Objects of the module in Python: copies, pickles, help."""

    def test_pickles_of_all_protocols(self):
        from chakra_replay import _core

        traces = cr.load(STEP)
        report = cr.replay(traces, "dgx-h100")
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(pickle.loads(pickle.dumps(report, protocol)), report)
            self.assertEqual(pickle.loads(pickle.dumps(traces, protocol)).node_count, traces.node_count)
            # Objects that cannot be pickled raise an error, instead of being copied without their content.
            for refused in (traces[0], traces._core, report._core, report.rank[0], report.ranks._columns,
                            cr.SweepSpec({"trace": [STEP], "axis": [{"name": "x", "value": ["1"]}]})._core):
                with self.assertRaisesRegex(TypeError, "pickle"):
                    pickle.dumps(refused, protocol)
        for kind in vars(_core).values():
            if isinstance(kind, type):
                self.assertIn("__reduce_ex__", vars(kind))

    def test_lanes_are_a_table(self):
        report = cr.replay(STEP, "dgx-h100", lanes="recorded")
        self.assertEqual(report.lane_policy, "recorded")
        self.assertEqual(list(report.lanes.columns), ["name", "count", "time_ps", "merged"])
        self.assertEqual(sum(report.lanes["count"]), report.nodes)

    def test_repr_is_short(self):
        path = cr.replay(STEP, "dgx-h100").critical_path
        self.assertLess(len(repr(path)), 200)
        self.assertNotIn("\n", repr(path))
        self.assertRegex(repr(path), r"^<CriticalPathReport: .*causes.*>$")
        self.assertGreater(len(str(path)), 1000)

    def test_errors_of_arguments(self):
        cluster, report = cr.Cluster.preset("dgx-h100"), cr.replay(STEP, "dgx-h100")
        for call, told in ((lambda: cr.Cluster(), "Cluster.preset"),
                           (lambda: cr.Cluster("dgx-h100"), "Cluster.preset"),
                           (lambda: cr.Cluster.from_text(3), r"Cluster.from_text: 3 \(int\); expected text: str"),
                           (lambda: cr.Cluster.preset(3), r"preset: 3 \(int\); expected name: str"),
                           (lambda: cluster.topology.dimension[1.5], r"FieldList\[\]: 1.5 \(float\); expected int, or"),
                           (lambda: cluster.topology.dimension.insert("x"), "expected index: int, value: object"),
                           (lambda: report.compare("a.json"), r"Report.compare: 'a.json' \(str\) is no Report"),
                           (lambda: cr.kernels.KernelTable.merge("a.csv"), r"'a.csv' \(str\) is no KernelTable")):
            with self.assertRaisesRegex((TypeError, AttributeError), told) as caught:
                call()
            self.assertNotIn("incompatible function arguments", str(caught.exception))
            self.assertNotIn("_core", str(caught.exception))


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A replay takes much longer than the 50 ms between two checks.
        cls.traces = cr.model("llama3-8b", {"tp": 4, "pp": 2}, {"seq": 8192, "global_batch": 1024})

    def test_progress(self):
        told = []
        report = cr.replay(self.traces, "dgx-h100", fabric="fluid", no_fast_path=True,
                           progress=lambda *p: told.append(p))
        self.assertTrue(told)
        shares = [p[0] for p in told]
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(told[0][3], report.nodes)
        self.assertLessEqual(told[-1][1], report.makespan)

    def test_progress_stops(self):
        def stop(*unused):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            cr.replay(self.traces, "dgx-h100", fabric="fluid", no_fast_path=True, progress=stop)

    def test_bars(self):
        import contextlib
        import io
        import sys
        import types

        from chakra_replay._bar import Bar

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        with contextlib.redirect_stderr(Terminal()) as told:
            bar = Bar()
            bar(0.5, 1, 2)
            bar(1.0, 2, 2)
        self.assertIn("[###############...............]  50%", told.getvalue())
        self.assertTrue(told.getvalue().endswith("100%\n"))
        with contextlib.redirect_stderr(io.StringIO()) as told:
            cr.sweep({"trace": [STEP], "axis": [{"name": "lanes", "option": "--lanes", "value": ["single", "recorded"]}]},
                     progress=True)
        self.assertEqual(told.getvalue(), "")  # there is no bar without a terminal
        drawn = []
        shell = types.SimpleNamespace(config={"IPKernelApp": {}})
        display = types.ModuleType("IPython.display")
        display.HTML = str
        display.display = lambda shown, display_id: drawn.append(shown) or types.SimpleNamespace(update=drawn.append)
        notebook = types.ModuleType("IPython")
        notebook.get_ipython = lambda: shell
        sys.modules.update({"IPython": notebook, "IPython.display": display})
        self.addCleanup(sys.modules.pop, "IPython")
        self.addCleanup(sys.modules.pop, "IPython.display")
        bar = Bar()
        bar(0.25)
        bar(1.0)
        self.assertEqual(["25%" in drawn[0], "100%" in drawn[1], len(drawn)], [True, True, 2])

    def test_slow_packets_stop(self):
        # The packets between two events of the ranks take minutes to simulate, so the simulation itself must stop.
        traces = cr.model("llama3-8b:layers=2", {"dp": 16}, {"seq": 8192, "global_batch": 16})
        asked = []

        def interrupt(number, frame):
            asked.append(number)
            raise KeyError("enough")

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        words = {"fabric": "packet", "network": "leaf_spine:hosts_per_leaf=8,spines=1,link=100Gb/s,uplink=10Gb/s"}
        spec = {"word": ["--model", "llama3-8b:layers=2", "--parallel", "dp=16", "--training", "seq=8192,global_batch=16"],
                "axis": [{"name": "fabric", "option": "--fabric", "value": ["packet"]},
                         {"name": "network", "option": "--network", "value": [words["network"]]}]}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for call in (lambda: cr.replay(traces, "dgx-h100", **words),
                     lambda: cr.sweep(spec, folder.name, jobs=1),
                     lambda: cr.sweep(spec, folder.name, jobs=1, on_result=lambda *unused: None),
                     lambda: cr.plan(model="llama3-8b:layers=2", parallel={"tp": 1, "pp": 1}, ranks=16,
                                     training={"seq": 8192, "global_batch": 16}, cluster="dgx-h100", **words),
                     lambda: cr.collective("all_reduce", "dgx-h100", ranks=16, bytes="64GiB", **words)):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with self.assertRaisesRegex(KeyError, "enough"):
                call()
        self.assertEqual(len(asked), 5)
        # An interrupted point has no result, and has not failed.
        with open(os.path.join(folder.name, "points.journal"), encoding="utf-8") as journal:
            self.assertNotIn('"point"', journal.read())

    def test_interrupt(self):
        told = []

        def interrupt(share, *unused):
            told.append(share)
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            cr.replay(self.traces, "dgx-h100", fabric="fluid", no_fast_path=True, progress=interrupt)
        self.assertLess(told[-1], 0.9)  # it stopped before the end


class Help(unittest.TestCase):
    def test_docstrings_have_the_options(self):
        told = binary("replay", "--help", "all")
        for option in cr.options_of("replay"):
            if option["keyword"].isidentifier():
                self.assertIn(option["keyword"], cr.replay.__doc__)
            self.assertIn(option["name"], told)
        import inspect

        parameters = inspect.signature(cr.replay).parameters
        self.assertIn("fabric", parameters)
        self.assertNotIn("ranks", parameters)
        self.assertIn("ranks", inspect.signature(cr.load).parameters)
        for name in cr.__all__:
            self.assertTrue(getattr(cr, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
