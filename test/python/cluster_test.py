"""Tests of clusters: presets, files, fields."""

import copy
import pickle
import unittest

import chakra_replay as cr
from testing import STEP, FolderTest, binary


class Cluster(FolderTest):
    def test_presets(self):
        self.assertIn("dgx-h100", cr.Cluster.presets())
        cluster = cr.Cluster.preset("dgx-h100", nodes=16, nic_gbps=400)
        self.assertEqual(cluster.spec, "dgx-h100:nodes=16,nic_gbps=400")
        self.assertEqual(cluster.topology.dimension[-1].size, 16)
        self.assertEqual(cluster.topology.dimension[-1].bandwidth_gbytes_per_s, 50)
        self.assertEqual(cluster.device.name, "H100-SXM5-80GB" if "80GB" in cluster.device.name else cluster.device.name)
        self.assertIn("nodes", cr.Cluster.keys())
        for name in cr.Cluster.presets():
            self.assertEqual(cr.Cluster.preset(name).spec, name)

    def test_errors_of_presets(self):
        for words, make in ((["--cluster", "dgx-h101"], lambda: cr.Cluster.preset("dgx-h101")),
                            (["--cluster", "dgx-h100:node=2"], lambda: cr.Cluster.preset("dgx-h100", node=2)),
                            (["--cluster", "dgx-h100:nodes=x"], lambda: cr.Cluster.preset("dgx-h100", nodes="x"))):
            with self.assertRaises(cr.Error) as caught:
                make()
            self.assertEqual(str(caught.exception), binary("replay", STEP, *words, fails=True))

    def test_fields(self):
        cluster = cr.Cluster.preset("dgx-h100")
        nvlink = cluster.topology.dimension[0]
        nvlink.bandwidth_gbytes_per_s = 100
        self.assertEqual(cluster.topology.dimension["nvlink"].bandwidth_gbytes_per_s, 100)
        nvlink.latency_ns = "2us"
        self.assertEqual(nvlink.latency_ns, 2000)
        nvlink.bandwidth_gbytes_per_s = "400Gb/s"
        self.assertEqual(nvlink.bandwidth_gbytes_per_s, 50)
        cluster.device.peak_tflops["bf16"] = 1234.5
        self.assertEqual(dict(cluster.device.peak_tflops.items())["bf16"], 1234.5)
        cluster.device.peak_tflops = {"bf16": 1.5}
        self.assertEqual(cluster.device.peak_tflops, {"bf16": 1.5})
        cluster.topology.routing.policy = "ecmp"
        self.assertTrue(cluster.topology.has("routing"))
        del cluster.topology.routing
        self.assertFalse(cluster.topology.has("routing"))
        self.assertEqual(nvlink.kind, "SWITCH")
        nvlink.kind = "RING"
        self.assertEqual(cluster.topology.dimension[0].kind, "RING")
        self.assertIn("bandwidth_gbytes_per_s", dir(nvlink))

    def test_every_field_is_an_attribute(self):
        def walk(part):
            for field in part.fields():
                value = getattr(part, field["name"])
                if field["repeated"]:
                    for one in value:
                        if hasattr(one, "fields"):
                            walk(one)
                elif field["map"]:
                    dict(value.items())
                elif hasattr(value, "fields") and part.has(field["name"]):
                    walk(value)
                seen.add(field["name"])

        seen: set = set()
        for preset in cr.Cluster.presets():
            walk(cr.Cluster.preset(preset))
        self.assertGreater(len(seen), 60)
        units = {f["name"]: f["unit"] for f in cr.Cluster.preset("dgx-h100").topology.dimension[0].fields()}
        docs = {f["name"]: f["doc"] for f in cr.Cluster.preset("dgx-h100").topology.dimension[0].fields()}
        self.assertEqual(docs["latency_ns"], "Latency of a link (a path through a switch has two links); default 0. Of a network: latency of a device's link, where the network gives none")
        self.assertEqual(docs["bandwidth_gbytes_per_s"], "Bandwidth of a link in each direction; GB/s; required. Of a network from `build`: the bandwidth of the links for which `build` gives none")
        self.assertEqual((units["latency_ns"], units["bandwidth_gbytes_per_s"], units["size"]), ("ns", "GB/s", ""))

    def test_lists(self):
        cluster = cr.Cluster.from_text('name: "mine" device { name: "x" }')
        ring = cluster.topology.dimension.add(kind="RING", size=4, bandwidth_gbytes_per_s=50)
        self.assertEqual((ring.size, len(cluster.topology.dimension)), (4, 1))
        cluster.topology.dimension.append({"kind": "SWITCH", "size": 2, "bandwidth_gbytes_per_s": "400Gb/s"})
        self.assertEqual([d.kind for d in cluster.topology.dimension], ["RING", "SWITCH"])
        del cluster.topology.dimension[0]
        self.assertEqual([d.kind for d in cluster.topology.dimension], ["SWITCH"])
        with self.assertRaises(cr.Error):
            cluster.topology.dimension.append({"kind": "RINGS"})
        self.assertEqual(len(cluster.topology.dimension), 1)
        kept = cluster.topology.dimension[0]
        cluster.topology.dimension.clear()
        self.assertEqual((kept.kind, len(cluster.topology.dimension)), ("SWITCH", 0))
        cluster.topology.fault = [{"vertex": "device.1", "bandwidth": 0.5}]
        self.assertEqual(cluster.topology.fault[0].bandwidth, 0.5)
        with self.assertRaises(IndexError):
            cluster.topology.dimension[3]

    def test_parts_are_kept_and_reordered(self):
        def names(of):
            return [d.name for d in of.topology.dimension]

        cluster = cr.Cluster.preset("dgx-h100", nodes=4)
        as_it_was = cluster.to_text()
        # A list is assigned to itself, with the same length.
        cluster.topology.dimension = list(cluster.topology.dimension)
        self.assertEqual(cluster.to_text(), as_it_was)
        cluster.topology.dimension = cluster.topology.dimension
        self.assertEqual(cluster.to_text(), as_it_was)
        first, second = names(cluster)
        # Some of the parts, in any order, more than once.
        parts = list(cluster.topology.dimension)
        cluster.topology.dimension = parts[::-1]
        self.assertEqual(names(cluster), [second, first])
        cluster.topology.dimension = [parts[0], parts[1], parts[0]]
        self.assertEqual(names(cluster), [first, second, first])
        cluster.topology.dimension = cluster.topology.dimension[1:]
        self.assertEqual(names(cluster), [second, first])
        cluster.topology.dimension[0], cluster.topology.dimension[1] = (cluster.topology.dimension[1],
                                                                        cluster.topology.dimension[0])
        self.assertEqual(cluster.to_text(), as_it_was)
        # A held part follows its element, and keeps its content when the element is removed.
        last = cluster.topology.dimension[1]
        taken = cluster.topology.dimension.pop(0)
        self.assertEqual((taken.name, last.name, names(cluster)), (first, second, [second]))
        last.latency_ns = 77
        self.assertEqual(cluster.topology.dimension[0].latency_ns, 77)
        taken.latency_ns = 5
        self.assertEqual(cluster.topology.dimension[0].latency_ns, 77)
        cluster.topology.dimension.insert(0, taken)
        self.assertEqual((names(cluster), cluster.topology.dimension[0].latency_ns, last.latency_ns),
                         ([first, second], 5, 77))
        cluster.topology.dimension.reverse()
        cluster.topology.dimension.sort(key=lambda d: d.latency_ns)
        self.assertEqual([d.latency_ns for d in cluster.topology.dimension], [5, 77])
        cluster.topology.dimension.extend([taken])
        del cluster.topology.dimension[0]
        self.assertEqual(names(cluster), [second, first])

    def test_parts_are_put_back(self):
        cluster, other = cr.Cluster.preset("dgx-h100"), cr.Cluster.preset("dgx-a100")
        as_it_was = cluster.to_text()
        device, inner = cluster.device, cluster.topology.dimension[0]
        cluster.device = other.device
        cluster.topology.dimension = other.topology.dimension
        self.assertNotEqual(cluster.to_text(), as_it_was)
        cluster.device = device
        cluster.topology.dimension[0] = inner
        self.assertEqual(cluster.device, cr.Cluster.preset("dgx-h100").device)
        self.assertEqual(cluster.topology.dimension[0], cr.Cluster.preset("dgx-h100").topology.dimension[0])
        # A failed change leaves the cluster, and held parts, unchanged.
        before = cluster.to_text()
        held = cluster.topology.dimension[0]
        with self.assertRaises(cr.Error):
            cluster.topology.dimension = [held, {"kind": "RINGS"}]
        held.latency_ns = 3
        self.assertEqual(cluster.topology.dimension[0].latency_ns, 3)
        self.assertNotEqual(cluster.to_text(), before)
        for wrong in (3, "ring"):
            with self.assertRaisesRegex(cr.Error, "expected a list"):
                cluster.topology.dimension = wrong

    def test_parts_are_copied(self):
        cluster = cr.Cluster.preset("dgx-h100")
        part = cluster.topology.dimension[0]
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(pickle.loads(pickle.dumps(part, protocol)), part)
            self.assertEqual(pickle.loads(pickle.dumps(cluster, protocol)), cluster)
        for same in (copy.copy(part), copy.deepcopy(part)):
            self.assertEqual(same, part)
            same.latency_ns = 1234
            self.assertNotEqual(same, part)
        self.assertEqual(copy.deepcopy(list(cluster.topology.dimension)), list(cluster.topology.dimension))

    def test_errors_of_fields(self):
        cluster = cr.Cluster.preset("dgx-h100")
        before = cluster.to_text()
        with self.assertRaisesRegex(AttributeError, 'did you mean .latency_ns'):
            cluster.topology.dimension[0].latency_n
        with self.assertRaisesRegex(AttributeError, "no field"):
            cluster.devices = 1
        for path, value in (("topology.dimension[0].latency_ns", -1), ("topology.dimension[0].size", "many"),
                            ("topology.dimension[0].kind", "RINGS")):
            with self.assertRaises(cr.Error) as caught:
                part = cluster.topology.dimension[0]
                setattr(part, path.rsplit(".", 1)[1], value)
            told = binary("replay", STEP, "--cluster", "dgx-h100", "--set", f"{path}={value}", fails=True)
            expected = told.split("; expected ")[1]
            self.assertTrue(str(caught.exception).startswith("cluster: "), caught.exception)
            self.assertTrue(str(caught.exception).endswith(expected), (caught.exception, told))
        self.assertEqual(cluster.to_text(), before)

    def test_set(self):
        cluster = cr.Cluster.preset("dgx-h100").set("topology.dimension[nvlink].latency_ns=500", "device.memory_gbytes_per_s=1")
        self.assertEqual((cluster.topology.dimension[0].latency_ns, cluster.device.memory_gbytes_per_s), (500, 1))
        with self.assertRaisesRegex(cr.Error, "--set"):
            cluster.set("nothing=1")

    def test_files(self):
        cluster = cr.Cluster.preset("dgx-a100", nodes=2)
        for name in ("c.txtpb", "c.json", "c.bin"):
            cluster.save(self.path(name))
            read = cr.Cluster.from_file(self.path(name))
            self.assertEqual(read, cluster)
            self.assertEqual(read.spec, self.path(name))
        self.assertEqual(cr.Cluster.from_text(cluster.to_text()), cluster)
        self.assertEqual(cr.Cluster.from_text(cluster.to_json()), cluster)
        with open(self.path("bad.txtpb"), "w", encoding="utf-8") as bad:
            bad.write("name: 'x'\ntopologie {}\n")
        with self.assertRaises(cr.Error) as caught:
            cr.Cluster.from_file(self.path("bad.txtpb"))
        self.assertEqual(str(caught.exception), binary("replay", STEP, "--cluster", self.path("bad.txtpb"), fails=True))
        self.assertEqual(caught.exception.file, self.path("bad.txtpb"))

    def test_copies(self):
        cluster = cr.Cluster.preset("dgx-h100", nodes=2)
        for same in (cluster.copy(), copy.copy(cluster), copy.deepcopy(cluster), pickle.loads(pickle.dumps(cluster))):
            self.assertEqual(same, cluster)
            self.assertEqual(same.spec, cluster.spec)
            same.device.memory_gbytes_per_s = 7
            self.assertNotEqual(same, cluster)
        self.assertNotEqual(cluster, "dgx-h100")
        self.assertEqual(repr(cluster), "<Cluster dgx-h100:nodes=2>")

    def test_whole_parts(self):
        a, b = cr.Cluster.preset("dgx-h100"), cr.Cluster.preset("dgx-a100")
        a.device = b.device
        self.assertEqual(a.device, b.device)
        a.device = {"memory_gbytes_per_s": 2}
        self.assertEqual(a.device.memory_gbytes_per_s, 2)
        with self.assertRaisesRegex(cr.Error, "expected a dict"):
            a.device = 3
        with self.assertRaisesRegex(cr.Error, "not a Topology"):
            a.device = b.topology
        a.topology.dimension[0] = {"size": 4}
        self.assertEqual(a.topology.dimension[0].size, 4)


if __name__ == "__main__":
    unittest.main()
