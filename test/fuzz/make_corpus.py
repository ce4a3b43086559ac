#!/usr/bin/env python3
"""Writes the seeds of fuzz/corpus/ that are not text. Run it in test/fuzz after a change of this file.

The fuzzer starts from these seeds; inputs that it finds are added to the same folders by hand.
"""
import gzip
import io
import os
import struct
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def write(target, name, data):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def frame(body):
    return varint(len(body)) + body


def attr(name, value):
    return field(10, field(1, name) + (field(9, value) if isinstance(value, int) else field(29, value)))


def trace(extra=b""):
    comp = field(1, 0) + field(2, "mm") + field(3, 4) + field(7, 5)
    coll = field(1, 1) + field(2, "ar") + field(3, 7) + field(5, b"\0") + attr("comm_type", 0) + attr("comm_size", 64)
    return frame(field(1, "0.0.4")) + frame(comp) + frame(coll + extra)


def zstd(*blocks, window=0x58):
    """A zstd frame without sizes or checksum; a block is bytes (raw) or (byte, count) (run)."""
    out = b"\x28\xb5\x2f\xfd\x00" + bytes([window])
    for i, b in enumerate(blocks):
        run = isinstance(b, tuple)
        size = b[1] if run else len(b)
        out += struct.pack("<I", size << 3 | (1 if run else 0) << 1 | (i + 1 == len(blocks)))[:3] + (b[0] if run else b)
    return out


def gz(data):
    return gzip.compress(data, 9, mtime=0)


def member(name, data, kind=b"0", size=None, prefix=b"", magic=b"ustar\x0000"):
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:108] = b"0000644\0"
    h[124:136] = b"%011o\0" % (len(data) if size is None else size)
    h[156:157] = kind
    h[257:265] = magic
    h[345:345 + len(prefix)] = prefix
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h) + data + b"\0" * (-len(data) % 512)


END = b"\0" * 1024


def byte_source():
    t = "byte_source_fuzz"
    write(t, "plain", trace())
    write(t, "gzip", gz(trace()))
    write(t, "gzip_two_members", gz(b"one") + gz(b"two"))
    write(t, "gzip_trailing", gz(b"one") + b"x")
    write(t, "gzip_cut", gz(trace())[:-9])
    write(t, "zstd", zstd(trace()))
    write(t, "zstd_two_frames", zstd(b"one") + zstd(b"two", b"three"))
    write(t, "zstd_skippable", zstd(b"one") + b"\x50\x2a\x4d\x18\x03\0\0\0xyz" + zstd(b"two"))
    write(t, "zstd_cut", zstd(trace())[:-2])
    write(t, "zstd_run", zstd((b"\0", 1 << 17), (b"a", 1 << 17)))
    write(t, "zstd_window_2g", zstd(b"one", window=21 << 3))
    write(t, "zstd_window_too_large", zstd(b"one", window=0xff))


# An archive as Python writes it, with a fixed time; `streamed`: sizes are stored after the members.
def zipped(files, method=zipfile.ZIP_DEFLATED, streamed=False):
    out = io.BytesIO()
    if streamed:
        out.seekable = lambda: False
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            z.writestr(info, data)
    return out.getvalue()


def archive():
    pax = b"".join(b"%d %s\n" % (len(r) + 4, r) for r in (b"path=long/w.1.et", b"mtime=123456789"))
    plain = member(b"w.0.et", trace()) + member(b"w.1.et", trace())
    seeds = {
        "two": plain + END,
        "no_end": plain,
        "cut": plain[:-700],
        "groups": member(b"dir/", b"", b"5") + member(b"w.0.et", trace(attr("pg_name", "1"))) +
                  member(b"w.1.et", trace(attr("pg_name", "1"))) + member(b"w.json", b'{"1": [0, 1]}') + END,
        "packed_members": member(b"w.0.et.gz", gz(trace())) + member(b"w.1.et.zst", zstd(trace())) + END,
        "gnu_name": member(b"././@LongLink", b"deep/" * 24 + b"w.0.et\0", b"L") + member(b"short", trace()) + END,
        "pax": member(b"pax", pax, b"x") + member(b"w.0.et", trace()) + END,
        "links": member(b"l", b"", b"2", 4096) + member(b"w.0.et", trace(), prefix=b"far/away") + END,
        "huge_size": member(b"w.0.et", b"x" * 16, size=0o77777777777),
        "bad_checksum": b"W" + plain[1:] + END,
        "rank_missing": member(b"w.0.et", trace()) + member(b"w.2.et", trace()) + END,
    }
    for name, data in seeds.items():
        write("archive_fuzz", name, data)
        write("reader_fuzz", "tar_" + name, data)
    two = [("w.0.et", trace()), ("w.1.et", trace())]
    seeds = {
        "two": zipped(two),
        "stored": zipped(two, zipfile.ZIP_STORED),
        "streamed": zipped(two, streamed=True),
        "cut": zipped(two)[:-60],
        "method": zipped(two, zipfile.ZIP_BZIP2),
        "long_name": zipped([("deep/" * 40 + "w.0.et", trace())]),
    }
    for name, data in seeds.items():
        for target in ("archive_fuzz", "byte_source_fuzz", "reader_fuzz"):
            write(target, "zip_" + name, data)
    write("archive_fuzz", "gzip", gz(plain + END))
    write("reader_fuzz", "tar_zstd", zstd(*[(plain + END)[i:i + 500] for i in range(0, len(plain + END), 500)]))


def reader():
    write("reader_fuzz", "plain", trace())
    write("reader_fuzz", "gzip", gz(trace()))
    write("reader_fuzz", "zstd", zstd(trace()))
    write("reader_fuzz", "json", '{"version": "0.0.4"}\n{"id": "0", "name": "mm", "type": "COMP_NODE"}\n')
    write("reader_fuzz", "stage", '{"nodes": [{"id": 0, "name": "x", "node_type": "comp_node"}]}')
    write("reader_fuzz", "text", 'metadata { version: "0.0.4" }\nnode { id: 0 name: "mm" type: COMP_NODE }\n')
    write("reader_fuzz", "empty", b"")


def groups():
    for name, text in {
            "two": '{"1": [0, 1], "2": [2, 3]}', "texts": '{"dp": ["0", "7"]}', "empty": "{}", "empty_name": '{"": [0]}',
            "no_ranks": '{"1": []}', "twice": '{"1": [0, 0]}', "negative": '{"1": [-1]}', "key_twice": '{"1": [0], "1": [1]}',
            "large": '{"1": [4294967296, 1e3, 18446744073709551615]}', "nested": '{"1": [[[[]]]]}', "not_json": "{1: [0]}",
            "escaped": '{"\\u0000\\ud83d\\ude00": [0]}'}.items():
        write("groups_fuzz", name, text)
    for name, text in {
            "list": '[{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": 2}]',
            "python": """['[{"pg_name": "7", "ranks": [1, 0]}]']""",
            "python_escaped": """['[{"pg_name": "it\\\\'s", "ranks": [1, 0]}]']""",
            "json_in_json": '["[{\\"pg_name\\": 3, \\"ranks\\": [\\"1\\"]}]"]',
            "no_name": '[{"ranks": [0]}]', "cut": '[{"pg_name": "1", "ranks": [0, 1', "not_objects": "[1, 2]",
            "differ": '[{"pg_name": "1", "ranks": [0]}, {"pg_name": "1", "ranks": [1]}]',
            "large": '[{"pg_name": "1", "group_size": 65536}, {"pg_name": "2", "group_size": 99999999999}]'}.items():
        write("group_node_fuzz", name, text)


def configurations():
    network = "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25 ]\nlatency: [ 500, 1e3 ]\n"
    system = ('{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, '
              '"preferred-dataset-splits": 4, "all-reduce-implementation": ["ring", "direct4"], '
              '"local-mem-bw": 1600, "roofline-enabled": 1, "peak-perf": 900}')
    memory = ('{"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 10, "remote-mem-bw": 100, '
              '"num-npus-per-node": 4, "num-nodes": 2}')
    part = "\n----\n"
    for name, text in {
            "all": part.join((network, system, memory, '{"1": [0, 1]}')), "network": network, "memory": network + part * 2 + memory,
            "system": network + part + system, "block": "topology:\n  - FullyConnected\nnpus_count:\n  - 8\nbandwidth:\n  - 1\nlatency:\n  - 0\n",
            "anchors": "topology: &a [Ring]\nnpus_count: [2]\nbandwidth: [1]\nlatency: *a\n", "itself": "topology: &a [*a]\n",
            "nested": "topology: " + "[" * 40 + "]" * 40, "tags": "!!map {? topology : !!seq [!<x> Ring], ? [1] : 2}",
            "directives": "%YAML 1.2\n%TAG ! tag:x,2000:\n---\ntopology: [Ring]\n...\n---\n{}\n",
            "block_text": "topology: |2-\n   Ring\nlatency: >+\n a\n\n", "quoted": 'topology: ["Ri\\x6eg", \'Ring\', "\\uD83D"]\n',
            "merge": "a: &x {topology: [Ring]}\n<<: *x\n", "no_list": "topology: Ring\n", "empty": ""}.items():
        write("astra_sim_fuzz", name, text)
    for name, text in {
            "small": "name,duration_us\naten::mm,12.5\n*gemm*,3\n", "all": 'name,shapes,dtypes,duration_us\n"a ""b"",c","[[1, 2]]","[\'float\']",1e3\n',
            "crlf": "\xef\xbb\xbfduration_us,name\r\n1,x\r\n\r\n2,y\r\n", "open_quote": 'name,duration_us\n"x,1\n', "after_quote": 'name,duration_us\n"x"y,1\n',
            "twice": "name,duration_us\nx,1\nx,2\n", "short": "name,duration_us\nx\n", "nan": "name,duration_us\nx,nan\ny,-1\n", "no_header": "\n"}.items():
        write("kernel_table_fuzz", name, text.encode("latin-1"))
    for name, text in {
            "nodes": "\0\x07nodes=4,nic_gbps=400", "peak": "\1\x0fpeak_tflops=312,peak_tflops.fp16=1e3", "splits": "\1\1splits=4,step_overhead_ns=10,reduce_gbytes_per_s=0",
            "unknown": "\0\0nods=4", "range": "\0\0nodes=1e300,memory_gbytes_per_s=1e-300", "large": "\0\xffgpus_per_node=65536,nodes=1", "no_value": "\0\0nodes,,=",
            "nan": "\0\0nic_latency_ns=nan,nvlink_latency_ns=-0,memory_latency_ns=inf"}.items():
        write("cluster_spec_fuzz", name, text.encode("latin-1"))
    for name, text in {
            "small": 'metadata { version: "0.0.4" }\nnode { id: 1 name: "a" type: COMP_NODE }\nnode { id: 2 name: "b" type: COMM_COLL_NODE data_deps: [1] '
                     'attr { name: "comm_type" int64_val: 0 } attr { name: "comm_size" uint64_val: 64 } }\n',
            "attributes": 'node { id: 0 attr { name: "x" double_list { values: [nan, -inf, 1e9] } } attr <name: "y" bytes_val: "\\000\\377"> }',
            "inputs": "node: { id: 1 inputs { values: '[]' shapes: \"[[1]]\" types: \"['Int']\" } # text\n }", "unknown": "node { idd: 1 }",
            "enum": "node { id: 1 type: COMM_NODE }", "after": "node { id: 1 } metadata { }", "deep": "node { attr { " * 60, "number": "node { 77: 1 77 { 1: 2 } }",
            "any": 'node { [type.googleapis.com/x] { } }', "invalid": "node { name: \"\xff\" }", "large": "node { id: 99999999999999999999 }"}.items():
        write("text_fuzz", name, text.encode("latin-1"))


def replays():
    """Bytes in the form that replay_fuzz.cc reads: ranks, setup, groups, then operations."""
    setup = bytes([0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    two = b"\0" + setup[:-1] + bytes([3, 3])
    four = b"\2" + setup[:-1] + bytes([0x83, 0x0c])
    write("replay_fuzz", "compute", two + bytes([0, 0, 0, 5, 0, 1, 1, 9, 1, 0, 2, 3]))
    for kind in range(10):
        write("replay_fuzz", "collective_%d" % kind, four + bytes([0, 0, 0, 5, 3, 0, kind, 5, 0, 0, 0, 0, 0, 3, 1, kind, 3, 0, 0, 0, 0]))
    write("replay_fuzz", "messages", two + bytes([7, 0, 1, 5, 0, 0, 0, 7, 1, 0, 5, 0, 1, 1, 0xf7, 0, 1, 3, 0, 0]))
    write("replay_fuzz", "memory", two + bytes([9, 0, 0, 0, 5, 9, 1, 1, 1, 6]))
    write("replay_fuzz", "lone", two + bytes([11, 0, 0, 0, 0]))
    for byte in (1, 2, 3, 5, 9, 0x55, 0xff):
        write("replay_fuzz", "mixed_%d" % byte, bytes((i * byte * 37 + byte) & 255 for i in range(160)))


byte_source()
archive()
reader()
groups()
configurations()
replays()
