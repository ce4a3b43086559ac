"""Tests of load(), model() and their results."""

import ctypes
import os
import pickle
import shutil
import signal
import threading
import unittest

import numpy as np

import chakra_replay as cr
from testing import GLOO, STEP, FolderTest, binary


class Load(FolderTest):
    def test_counts_as_inspect(self):
        traces = cr.load(STEP)
        self.assertEqual((traces.ranks, traces.node_count, traces.distinct_graphs), (8, 1256, 2))
        self.assertEqual(len(traces), 8)
        self.assertIn("1,256", binary("inspect", STEP))
        self.assertEqual([len(rank) for rank in traces], [157] * 8)
        self.assertEqual(repr(traces), "<Traces of 8 ranks, 1,256 nodes>")

    def test_interrupt(self):
        # Reading this many ranks takes seconds if nothing stops it.
        for rank in range(20000):
            os.symlink(os.path.join(STEP, "workload.0.et.zst"), self.path(f"step.{rank}.et.zst"))
        timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            cr.load(self.folder, threads=1)

    def test_columns_are_views(self):
        rank = cr.load(STEP)[3]
        ids = rank.id
        self.assertFalse(ids.flags.writeable)
        self.assertFalse(ids.flags.owndata)
        self.assertEqual(ids.ctypes.data, rank.id.ctypes.data)  # the same memory, twice
        del rank  # the traces live as long as their columns
        self.assertEqual(len(np.unique(ids)), 157)
        with self.assertRaises(ValueError):
            ids[0] = 1

    def test_columns_agree(self):
        traces = cr.load(STEP)
        nodes = traces.nodes
        self.assertEqual(len(nodes), 1256)
        for r, rank in enumerate(traces):
            of_rank = nodes["rank"] == r
            np.testing.assert_array_equal(nodes["id"][of_rank], rank.id)
            np.testing.assert_array_equal(nodes["duration_ps"][of_rank], rank.duration_ps)
            np.testing.assert_array_equal(nodes["name"][of_rank], [rank.strings[i] for i in rank.name_index])
            np.testing.assert_array_equal(nodes["type"][of_rank], [cr.NODE_TYPES[t] for t in rank.type])
            calls = of_rank & (nodes["type"] == "COMM_COLL_NODE")
            payload = rank.payload[rank.type == cr.NODE_TYPES.index("COMM_COLL_NODE")]
            np.testing.assert_array_equal(nodes["bytes"][calls], rank.comm_bytes[payload])
            np.testing.assert_array_equal(nodes["group"][calls],
                                          [rank.group_names[g] for g in rank.comm_group[payload]])
            kinds = [cr.COLLECTIVES[t] for t in rank.comm_type[payload]]
            np.testing.assert_array_equal(nodes["collective"][calls], kinds)

    def test_dependencies_are_a_graph(self):
        rank = cr.load(STEP)[0]
        place = np.empty(len(rank), int)
        place[rank.order] = np.arange(len(rank))
        for row in range(len(rank)):
            for dep in rank.dep[rank.dep_begin[row]:rank.dep_begin[row + 1]]:
                self.assertLess(place[dep], place[row])
        self.assertEqual(len(rank.dep_delay_ps), len(rank.dep))

    def test_messages(self):
        nodes = cr.load(STEP).nodes
        sends = nodes["type"] == "COMM_SEND_NODE"
        self.assertEqual(int(sends.sum()), 32)
        self.assertTrue((nodes["dst"][sends] >= 0).all())
        self.assertTrue((nodes["dst"][~sends & (nodes["type"] == "COMP_NODE")] == -1).all())

    def test_pandas(self):
        frame = cr.load(STEP).to_pandas()
        self.assertEqual(frame.shape, (1256, 15))
        self.assertEqual(str(frame["type"].dtype), "category")
        self.assertEqual(frame.groupby("type", observed=True).size()["COMP_NODE"], 592)
        self.assertTrue(frame["collective"][frame["type"] == "COMP_NODE"].isna().all())

    def test_groups_and_inputs(self):
        traces = cr.load(STEP)
        self.assertEqual(sorted(traces.groups), sorted(cr.load(STEP + "/workload").groups))
        self.assertEqual({i["role"] for i in traces.inputs}, {"trace", "groups"})
        self.assertEqual(len(traces.inputs[0]["sha256"]), 64)

    def test_options_and_several_paths(self):
        files = [f"{STEP}/workload.{r}.et.zst" for r in range(8)]
        groups = f"{STEP}/workload.json"
        self.assertEqual(cr.load(*files, groups=groups).ranks, 8)
        self.assertEqual(cr.load(files, groups=groups).ranks, 8)
        many = cr.load(GLOO, select_ranks=[0])
        self.assertEqual(many.ranks, 1)

    def test_pickle_reads_again(self):
        traces = cr.load(STEP, scale={"mlp": 0.5})
        again = pickle.loads(pickle.dumps(traces))
        np.testing.assert_array_equal(again.nodes["duration_ps"], traces.nodes["duration_ps"])

    def test_paths_without_utf_8(self):
        folder = os.fsdecode(os.fsencode(self.folder) + b"/caf\xe9")
        shutil.copytree(STEP, folder)
        makespan = cr.replay(STEP, "dgx-h100").makespan_ps
        traces = cr.load(folder)
        self.assertEqual(cr.replay(traces, "dgx-h100").makespan_ps, makespan)
        self.assertEqual({os.path.dirname(i["path"]) for i in traces.inputs}, {folder})
        for i in traces.inputs:
            self.assertTrue(os.path.exists(i["path"]))
        self.assertEqual(cr.replay(pickle.loads(pickle.dumps(traces)), "dgx-h100").makespan_ps, makespan)
        cr.Cluster.preset("dgx-a100").save(folder + "/c.txtpb")
        self.assertEqual(cr.Cluster.from_file(folder + "/c.txtpb"), cr.Cluster.preset("dgx-a100"))
        self.assertEqual(cr.replay(folder, folder + "/c.txtpb").makespan_ps, cr.replay(STEP, "dgx-a100").makespan_ps)
        cr.edit(folder, folder + "/edited", scale={"mlp": 0.5})
        self.assertEqual(cr.load(folder + "/edited").ranks, 8)
        sweep = {"trace": [STEP], "axis": [{"name": "lanes", "option": "--lanes", "value": ["single", "recorded"]}]}
        self.assertEqual(len(cr.sweep(sweep, folder + "/sweep")), 2)
        self.assertEqual(len(cr.SweepResults.load(folder + "/sweep")), 2)

    def test_paths_that_begin_with_a_dash(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        shutil.copytree(STEP, "-step")
        makespan = cr.replay(STEP, "dgx-h100").makespan_ps
        self.assertEqual(cr.replay("-step", "dgx-h100").makespan_ps, makespan)
        self.assertEqual(cr.load(["-step"]).ranks, 8)
        cr.edit("-step", "-edited", scale={"mlp": 0.5})
        self.assertEqual(cr.load("-edited").ranks, 8)
        cr.Cluster.preset("dgx-a100").save("-c.txtpb")
        self.assertEqual(cr.Cluster.from_file("-c.txtpb"), cr.Cluster.preset("dgx-a100"))

    def test_relative_paths_after_chdir(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        shutil.copytree(GLOO, "capture")
        traces = cr.load("capture")
        dumped, makespan = pickle.dumps(traces), cr.replay(traces).makespan_ps
        edited = cr.edit(traces, scale={"addmm": 0.5})
        here = (edited.node_count, cr.kernels.KernelTable.collect(traces, host_operations=True).to_csv())
        os.chdir("/")
        self.assertEqual(cr.replay(pickle.loads(dumped)).makespan_ps, makespan)
        self.assertEqual(cr.replay(pickle.loads(pickle.dumps(traces))).makespan_ps, makespan)
        self.assertEqual(cr.edit(traces, scale={"addmm": 0.5}).node_count, here[0])
        again = cr.kernels.KernelTable.collect(traces, host_operations=True)
        self.assertEqual(again.rows["name"].tolist(), here[1] and cr.kernels.KernelTable.collect(
            os.path.join(self.folder, "capture"), host_operations=True).rows["name"].tolist())
        self.assertEqual(cr.replay(traces).makespan_ps, makespan)

    def test_kernels_of_loaded_traces(self):
        for path in (STEP, GLOO):
            traces = cr.load(path)
            of_path = cr.kernels.KernelTable.collect(path, host_operations=True)
            self.assertEqual(cr.kernels.KernelTable.collect(traces, host_operations=True).to_csv(), of_path.to_csv())
        with self.assertRaisesRegex(cr.Error, "generated from a model"):
            cr.kernels.KernelTable.collect(cr.model("llama3-8b:layers=1", training="seq=512,global_batch=1"))

    def test_errors(self):
        with self.assertRaises(cr.Error) as caught:
            cr.load("/nowhere/step")
        self.assertEqual(str(caught.exception), binary("replay", "/nowhere/step", fails=True))
        self.assertEqual(caught.exception.code, "not_found")
        with self.assertRaisesRegex(TypeError, "select_ranks"):
            cr.load(STEP, select_rank=1)
        with self.assertRaisesRegex(cr.Error, "fabric does not apply to traces"):
            cr.load(STEP, fabric="fluid")
        for wrong in (3, None, [STEP, 4]):
            with self.assertRaisesRegex(TypeError, r"is not a path; expected a str, a pathlib.Path, or a list"):
                cr.load(wrong)
        with self.assertRaisesRegex(TypeError, "in memory already, give them to replay"):
            cr.load(cr.load(STEP))
        for nothing in ((), ([],)):
            with self.assertRaisesRegex(cr.Error, 'at least one path, as load.*chakra_replay.model'):
                cr.load(*nothing)
        with self.assertRaisesRegex(TypeError, r"cluster: 3 \(int\) is not a cluster; expected a Cluster, the name of a preset"):
            cr.replay(STEP, 3)
        with self.assertRaisesRegex(TypeError, r"topology: 4 \(int\) is not a network; expected one"):
            cr.topology(4)
        with self.assertRaisesRegex(IndexError, "the traces have 8 ranks, 0 to 7"):
            cr.load(STEP)[8]

    def test_error_names_file_rank_and_node(self):
        with open(f"{STEP}/workload.3.et.zst", "rb") as whole, open(self.path("workload.0.et.zst"), "wb") as part:
            part.write(whole.read()[:500])
        with self.assertRaises(cr.Error) as caught:
            cr.load(self.folder)
        self.assertEqual(caught.exception.file, self.path("workload.0.et.zst"))
        error = cr.Error('a/b.et: rank 3: node 17 "x" is its own dependency')
        self.assertEqual((error.file, error.rank, error.node), ("a/b.et", 3, 17))
        self.assertEqual((cr.Error("none").file, cr.Error("none").rank), (None, None))
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))


class Model(unittest.TestCase):
    def test_equals_the_command_line(self):
        words = {"model": "llama3-8b", "parallel": {"tp": 2, "pp": 2, "dp": 1},
                 "training": {"seq": 2048, "global_batch": 4}}
        traces = cr.model(**words)
        self.assertEqual(traces.ranks, 4)
        report = cr.replay(traces, "dgx-h100")
        told = binary("replay", "--model", "llama3-8b", "--parallel", "tp=2,pp=2,dp=1", "--training",
                      "seq=2048,global_batch=4", "--cluster", "dgx-h100", "--format", "json")
        self.assertEqual(report.to_json(), told)
        self.assertEqual(report.training.model, "llama3-8b")
        self.assertEqual(list(report.memory["stage"]), [0, 1])
        self.assertGreater(traces.nodes["bytes"].sum(), 0)
        self.assertTrue((traces.nodes["dst"][traces.nodes["type"] == "COMM_SEND_NODE"] >= 0).all())

    def test_errors(self):
        with self.assertRaisesRegex(cr.Error, "llama3-8b"):
            cr.model("llama3-8c")


# Structs of the C stream interface, written from the specification only.
class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))),
    ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))), ("private_data", ctypes.c_void_p)]
ArrowStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowStream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowStream))), ("private_data", ctypes.c_void_p)]


def buffer(array, i, kind, length):
    if not array.buffers[i]:
        return None
    return np.ctypeslib.as_array((kind * length).from_address(array.buffers[i])) if length else np.empty(0, kind)


def bits(array, i):
    held = buffer(array, i, ctypes.c_uint8, (array.length + 7) // 8)
    return None if held is None else np.unpackbits(held, bitorder="little")[:array.length].astype(bool)


def texts(array):
    offsets = buffer(array, 1, ctypes.c_int64, array.length + 1)
    held = ctypes.string_at(array.buffers[2], int(offsets[-1])) if offsets[-1] else b""
    return np.array([held[a:b].decode() for a, b in zip(offsets, offsets[1:])], dtype=object)


KINDS = {b"i": ctypes.c_int32, b"l": ctypes.c_int64, b"L": ctypes.c_uint64, b"g": ctypes.c_double}


def column(schema, array):
    if schema.dictionary:
        words = texts(array.dictionary.contents)
        codes = buffer(array, 1, ctypes.c_int32, array.length)
        valid = bits(array, 0)
        out = np.array([*words, None], dtype=object)[np.where(valid, codes, -1)]
        assert array.null_count == (~valid).sum()
        return out
    if schema.format == b"U":
        return texts(array)
    if schema.format == b"b":
        return bits(array, 1)
    return buffer(array, 1, KINDS[schema.format], array.length).copy()


def read_stream(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ArrowStream.from_address(get(capsule, b"arrow_array_stream"))
    schema, array, end = ArrowSchema(), ArrowArray(), ArrowArray()
    assert stream.get_schema(stream, schema) == 0
    assert stream.get_next(stream, array) == 0
    assert stream.get_next(stream, end) == 0 and not end.release
    stream.release(stream)  # arrays that were handed out stay valid
    assert not stream.release
    out = {}
    for i in range(schema.n_children):
        child = schema.children[i].contents
        out[child.name.decode()] = column(child, array.children[i].contents)
    array.release(array)
    schema.release(schema)
    assert not array.release and not schema.release
    return out


class Arrow(unittest.TestCase):
    def test_stream_of_nodes(self):
        nodes = cr.load(STEP).nodes
        read = read_stream(nodes.__arrow_c_stream__())
        self.assertEqual(list(read), nodes.columns)
        for name in nodes.columns:
            np.testing.assert_array_equal(read[name], nodes[name], name)

    def test_stream_of_a_report(self):
        report = cr.replay(STEP, "dgx-h100")
        for table in (report.ranks, report.collectives, report.repairs):
            read = read_stream(table.__arrow_c_stream__())
            for name in table.columns:
                np.testing.assert_array_equal(read[name], table[name], name)

    def test_unread_streams(self):
        nodes = cr.load(STEP).nodes
        for _ in range(1000):
            nodes.__arrow_c_stream__()


if __name__ == "__main__":
    unittest.main()
