#!/usr/bin/env python3
"""Fits the law of calls between nodes, and leaves out one machine after another.

    bench/between_nodes_fit.py MEASURED.csv              medians of errors with the constants as they are
    bench/between_nodes_fit.py MEASURED.csv --fit        constants near those that fit better
    bench/between_nodes_fit.py MEASURED.csv --left-out   medians of errors of machines without data in the fit

This file repeats the law (replay/nccl/between_nodes.cc, backends/transports) as closed forms of the whole call. Times are
in us, rates in GB/s, sizes in bytes. The columns of MEASURED.csv: test/validation/between_nodes.cc.
"""
import argparse
import collections
import copy
import csv
import math
import pathlib
import statistics

TRANSPORTS = pathlib.Path(__file__).resolve().parent.parent / "backends" / "transports"
PROTOCOLS = ("ll", "ll128", "simple")
DATA_SHARE = (0.5, 120 / 128, 1.0)
WIRE_US = 1.0  # two links of the presets
GAP_US = 1.2   # between two kernels

# The node: generation, GB/s of a device inside, share of rings, share and channels of the switch, channels. Kernels inside a
# node: base and step of LL, LL128, Simple (replay/cluster/terms).
NODES = {
    "V": dict(link=150, share=0.8889, switch=0, switch_channels=1, channels=12, search=12,
              base=(8, 19.9, 17.2), step=(0.95, 2.7, 3.4), direct=(4.7, 17.2)),
    "A": dict(link=300, share=0.8, switch=0, switch_channels=1, channels=24, search=24,
              base=(6.55, 16.2, 21), step=(0.92, 0.96, 6.8), direct=(8, 12.6)),
    "H": dict(link=450, share=0.824, switch=0.7004, switch_channels=16, channels=24, search=24,
              base=(3.1, 10.3, 9.9), step=(0.83, 1.17, 3.8), direct=(4.5, 11.3)),
    "B": dict(link=900, share=0.802, switch=0.5935, switch_channels=24, channels=32, search=16,
              base=(7, 14, 10.6), step=(1.13, 1.6, 3.4), direct=(7.7, 15)),
    "M": dict(link=537.6, share=0.75, switch=0, switch_channels=1, channels=112, search=112,
              base=(5.8, 14, 8.4), step=(0.8, 1.9, 2.1), direct=(5.8, 8.4)),
}
SWITCH_SHARE = 0.8

# Machine: node, GB/s of a device's NIC, transport, release, and differences.
MACHINES = {
    "alps-clariden": ("H", 25, "slingshot-11", 2.23, dict(switch=0, channels=16, search=16, far=True)),
    "alps-cscs-docs": ("H", 25, "slingshot-11", 2.27, dict(switch=0, channels=16, search=16)),
    "alps-torch-8n": ("H", 25, "slingshot-11", 2.20, dict(switch=0, channels=16, search=16, far=True)),
    "sirius": ("A", 12.5, "slingshot-11", 2.21, dict(far=True, rate_share=0.72)),
    "marenostrum5-acc": ("H", 25, "infiniband-ndr", 2.18, dict(switch=0, channels=16, search=16, far=True)),
    "sophia": ("A", 25, "infiniband-hdr", 2.22, {}),
    "oci-bm-gpu4-a100": ("A", 25, "roce-100", 2.14, {}),
    "oci-b4-a100": ("A", 25, "roce-100", 2.27, {}),
    "nccl-tests309-qoofyk": ("H", 50, "infiniband-ndr", 2.26, {}),
    "nccl-tests309-gj-aion": ("H", 50, "infiniband-ndr", 2.26, {}),
    "nccl1469-h100-16n": ("H", 50, "infiniband-ndr", 2.20, {}),
    "nccl1222-4n-400": ("H", 50, "roce-400", 2.19, {}),
    "nccl-tests322-1024xH100": ("H", 50, "roce-400", 2.23, {}),
    "nccl1244-h20": ("H", 50, "roce-400", 2.21, {}),
    "nccl-tests119-a100-3n": ("A", 12.5, "infiniband-hdr", 2.10, {}),
    "nccl-tests150-a100-1gpu": ("A", 25, "infiniband-hdr", 2.15, {}),
    "nccl812-dgx-a100-8x100": ("A", 12.5, "roce-100", 2.16, {}),
    "nccl1368-h100-4nic": ("H", 25, "roce-400", 2.20, {}),
    "nccl1531-h800-8n": ("H", 50, "roce-400", 2.22, dict(link=200)),
    "nccl-tests321-h20": ("H", 50, "roce-400", 2.26, {}),
    "aws-p5": ("H", 50, "efa-v2", 2.22, {}),
    "aws-p5-8n": ("H", 50, "efa-v2", 2.19, {}),
    "aws-p3dn": ("V", 12.5 / 8, "efa-v1", 2.04, {}),
    "aws-p3dn-2020": ("V", 12.5 / 8, "efa-v1", 2.04, {}),
    "aws-p6-b200-stas": ("B", 50, "efa-v4", 2.27, {}),
    "aws-p6-b200-dstack": ("B", 50, "efa-v4", 2.27, {}),
    "gcp-a3mega": ("H", 25, "tcpxo", 2.23, {}),
    "gcp-a3high-h100": ("H", 12.5, "tcpx", 2.23, {}),
    "gcp-a4-b200": ("B", 50, "roce-gib", 2.26, {}),
    "gcp-a4xmax-gb300": ("B", 100, "roce-gib", 2.28, dict(search=8)),
    "oci-gb200-2racks": ("B", 100, "roce-400", 2.29, dict(switch=0, search=8, domain=64)),
    "nccl1801-gb200-partitions": ("B", 50, "infiniband-ndr", 2.27, dict(search=8, switch=0, domains=3)),
    "amd-aac14-mi355x": ("M", 50, "roce-pollara", 2.26, {}),
    "vultr-mi355x-pollara": ("M", 50, "roce-pollara", 2.27, {}),
    "amd-mi350x-2n": ("M", 50, "roce-pollara", 2.30, {}),
}
FABRICS = {"infiniband": "InfiniBand", "roce": "RoCE", "efa": "EFA", "tcpx": "TCPX", "tcpxo": "TCPX", "slingshot": "Slingshot"}

# Constants of replay/nccl/between_nodes.cc.
LAW = dict(ring_ll_share=0.36, tree_ll128_share=1.25, ring_large_ll=4.5, ring_large_ll128=20, ring_large_simple=8,
           ring_begin=1.7, tree_share_ll=0.5, tree_share_ll128=0.9, tree_share_simple=0.34, tree_bytes_ll=55000,
           tree_bytes_ll128=540000, tree_bytes_simple=600000, nvls_share=1.2, nvls_bytes=3700000, messages=3.5,
           nvls_begin=40, nvls_step=3.4, exchange_begin=9, exchange_fill=0.35)

# NCCL's tuner (replay/nccl/constants.cc).
BASE = {"tree": (6.8, 14.0, 8.4), "ring": (6.6, 14.0, 8.4)}
STEP_IN = {"tree": (0.6, 1.25, 4.0), "ring": (0.6, 1.9, 3.4)}
STEP_NET = {"tree": (5.0, 8.5, 14.0), "ring": (2.7, 4.0, 14.0)}
GENERATION = {"V": 0, "A": 1, "H": 2, "M": 2, "B": 3}
MAX_LL = ((39, 39, 20.4), (87.7, 22.5, 19.0), (141, 45, 35), (282, 90, 70))
RING_LL128 = (20, 20, 36.7, 40)
TREE_LL128 = ((20, 20, 20), (20, 20, 20), (36.7, 36.7, 29), (55.6, 31.67, 20))
TREE_MAX = ((26.5, 18.5, 10), (24, 23.6, 17.8), (38.7, 41.4, 36), (70, 42.8, 24))
NVLS_TREE_MAX = ((26.5, 18.5, 10), (24, 23.6, 17.8), (0, 57.7, 45.5), (0, 96, 80))
CORRECTION = (
    (1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1),
    (1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1),
    (.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9))


def read_transport(name):
    out = dict(message_us=0, large_us=0, large_bytes=0, rate_share=1, post_us=0, exchange_share=1, quiet_nodes=0,
               crowding=0, tuner_latency_us=0, small_bytes=0, exchange_us=0)
    for line in (TRANSPORTS / f"{name}.txtpb").read_text().splitlines():
        key, _, value = line.partition(":")
        if key in out or key == "small_exchange_us":
            out[key] = float(value)
    out.setdefault("small_exchange_us", out["exchange_us"])
    return out


class Call:
    """A call on a machine: nodes, members of a node, bytes."""

    def __init__(self, machine, collective, ranks, nodes, size):
        kind, self.card, self.transport, self.release, more = MACHINES[machine]
        self.kind = kind
        self.node = {**NODES[kind], **{k: v for k, v in more.items() if k in NODES[kind]}}
        self.far = more.get("far", False)
        self.rate_share = more.get("rate_share")
        if "domain" in more:
            nodes = ranks // more["domain"]
        self.nodes = more.get("domains", nodes)
        self.members = ranks // self.nodes
        self.ranks, self.size, self.collective = ranks, size, collective
        self.inside = self.node["link"] * self.node["share"] if self.members > 1 else math.inf
        self.cards = self.card * self.members

    def bus(self, algorithm, p, simple):
        """Bus bandwidth by NCCL's limits; `simple` is the limit of Simple."""
        g, column = GENERATION[self.kind], min(self.nodes, 3) - 1
        if algorithm == "ring":
            return (min(MAX_LL[g][column], simple / 2), min(.92 * simple, self.node["search"] * RING_LL128[g]), simple)[p]
        return (min(simple / 3.8, MAX_LL[g][column]),
                min(simple * 120 / 128, self.node["search"] * TREE_LL128[g][column]),
                min(.92 * simple, self.node["channels"] * TREE_MAX[g][column]))[p]

    def steps(self):
        return 2 * (self.ranks - 1) if self.collective == "all_reduce" else self.ranks - 1

    def choose(self, latency, only):
        """The tuner's choice: (algorithm, protocol)."""
        best = {}
        both = 2 if self.nodes == 2 and self.kind in "HB" else 1
        for p in range(3):
            if p == 1 and (self.members == 1 or (self.far and self.release < 2.27)):
                continue
            far = (self.nodes - 1) * (2 if self.collective == "all_reduce" else 1)
            card = latency * (2 if p == 2 else 1)
            near = max(STEP_IN["ring"][p], 3 if p == 2 else 1)
            rate = self.bus("ring", p, min(self.cards, self.inside)) * self.ranks / self.steps()
            best["ring", p] = (BASE["ring"][p] + (self.steps() - far) * near + far * (STEP_NET["ring"][p] + card) +
                               self.size / rate * 1e-3)
            if self.collective != "all_reduce":
                continue
            depth = math.log2(self.nodes)
            rate = self.bus("tree", p, min(both * self.cards, self.inside)) * self.correction(p) / 2
            best["tree", p] = (BASE["tree"][p] + 2 * ((self.members - 1) * STEP_IN["tree"][p] +
                                                      depth * (STEP_NET["tree"][p] + card)) + self.size / rate * 1e-3)
        if self.collective == "all_reduce" and self.node["switch"] and self.members > 1 and self.release >= 2.18:
            rate = min(2 * self.of_switch(), self.cards * (2 if self.nodes == 2 else 1),
                       self.node["channels"] * NVLS_TREE_MAX[GENERATION[self.kind]][min(self.nodes, 3) - 1])
            best["nvls_tree", 2] = (25 + 2 * math.log2(self.nodes) * (20.9 + 2 * latency) +
                                    self.size * 2 * (self.ranks - 1) / self.ranks / rate * 1e-3)
        fits = {k: v for k, v in best.items() if (not only[0] or k[0] == only[0]) and (only[1] is None or k[1] == only[1])}
        return min(fits or best, key=(fits or best).get)

    def correction(self, p):
        i = 0
        while i < 22 and self.size >> 7 >> i:
            i += 1
        return CORRECTION[p][i] if i < 22 else 1

    def of_switch(self):
        return self.node["link"] * self.node["switch"] * (1 - 1 / self.node["switch_channels"])


def rise(at, size):
    if at <= 0:
        return 1
    return 0 if size <= at / 4 else min(1, math.log2(size / (at / 4)) / 3)


def predict(call, law, transports, only):
    t = transports[call.transport]
    share = call.rate_share or t["rate_share"]
    if call.collective == "all_to_all":
        return exchange(call, law, t, share)
    algorithm, p = call.choose(t["tuner_latency_us"], only)
    n, nodes, depth = call.ranks, call.nodes, math.log2(call.nodes)
    crowding = 1 + (t["crowding"] * max(0, math.log2(nodes / t["quiet_nodes"])) if t["quiet_nodes"] else 0)
    cards = call.cards * share / crowding
    base, near = call.node["base"][p] + GAP_US, call.node["step"][p] + 0.05
    as_tree = algorithm != "ring" or call.members == 1
    far = STEP_NET["tree" if as_tree else "ring"][p] + t["message_us"] * (2 if p == 2 else 1) + WIRE_US
    name, channels, carried = PROTOCOLS[p], min(call.node["channels"], 4 * call.members), {2: 1, 3: 1.5}.get(nodes, 2)
    if algorithm == "ring":
        own = call.size / n
        used = min(max(own / 4096, 1), channels)
        more = t["large_us"] * rise(t["large_bytes"], own / used / DATA_SHARE[p]) + law["ring_large_" + name] * rise(65536, own)
        borders = (nodes - 1) * (2 if call.collective == "all_reduce" else 1)
        rate = min(cards * DATA_SHARE[p], call.bus("ring", p, call.inside) * (law["ring_ll_share"] if p == 0 else 1))
        begin = law["ring_begin"] * call.members if call.members > 1 else 0
        return base + begin + (call.steps() - borders) * near + borders * (far + more) + own * call.steps() / rate * 1e-3
    if algorithm == "tree":
        used = min(max(call.size * DATA_SHARE[p] / 4096, 1), channels)
        message = min(call.size / used, 65536 if p == 0 else 131072) / DATA_SHARE[p]
        most = law["tree_bytes_" + name] * channels
        way = min(call.size * law["tree_share_" + name], most) / DATA_SHARE[p]
        more = (t["large_us"] * rise(t["large_bytes"], message) + way / (call.cards * share) * 1e-3 +
                law["messages"] * t["message_us"] * min(1, way / most))
        rate = min(cards * DATA_SHARE[p] * 2 / carried,
                   call.bus("tree", p, call.inside) * (law["tree_ll128_share"] if p == 1 else 1))
        return base + 2 * (call.members - 1) * near + 2 * depth * (far + more) + 2 * call.size / rate * 1e-3
    parts = call.node["switch_channels"] * call.members
    rate = min(2 * call.of_switch() * SWITCH_SHARE, 2 * cards / carried * n / (n - 1))
    most = law["nvls_bytes"] * call.members
    way = min(call.size * law["nvls_share"], most)
    more = (t["large_us"] * rise(t["large_bytes"], min(call.size / parts, 131072)) + way / rate * 1e-3 +
            law["messages"] * t["message_us"] * way / most)
    step = law["nvls_step"] + WIRE_US + 2 * t["message_us"] + more
    return (law["nvls_begin"] + GAP_US + 2 * depth * step +
            2 * call.size * (n - 1) / n / rate * 1e-3)


def exchange(call, law, t, share):
    message, peers = call.size / call.ranks, call.ranks - call.members
    p = 0 if message <= 16384 and call.release >= 2.12 else 2
    rate = call.card * share * t["exchange_share"]
    begin = t["small_exchange_us"] if message <= t["small_bytes"] else t["exchange_us"]
    return (call.node["direct"][0 if p == 0 else 1] + GAP_US + law["exchange_begin"] + STEP_NET["tree"][0] + t["message_us"] +
            WIRE_US + begin + t["post_us"] * peers + t["large_us"] * rise(t["large_bytes"], message / DATA_SHARE[p]) +
            message * peers / rate * 1e-3 +
            law["exchange_fill"] * min(message * peers, 2.5e6) / (call.card * share) * 1e-3)


def read(path):
    """Medians by call: (machine, collective, only, ranks, nodes, bytes) -> us."""
    rows = [r for r in csv.DictReader(open(path)) if r["use"] == "yes" and r["machine"] in MACHINES and r["time_us"]]
    apart = {r["machine"] for r in rows if r["in_place"] != "yes"}
    groups = collections.defaultdict(list)
    for r in rows:
        if r["in_place"] == "yes" and r["machine"] in apart:
            continue
        setting = "(5)" if r["collective"] == "all_to_all" else "(4)"
        if r["machine"] == "sirius" and not r["settings"].startswith(setting):
            continue
        if r["machine"] == "alps-clariden" and "nothing" not in r["settings"]:
            continue
        only = (r["algo"] if r["algo"] in ("ring", "tree", "nvls_tree") else "",
                PROTOCOLS.index(r["proto"]) if r["proto"] in PROTOCOLS else None)
        key = (r["machine"], r["collective"], only, int(r["ranks"]), int(r["nodes"]), int(float(r["bytes"])))
        groups[key].append(float(r["time_us"]))
    return {k: statistics.median(v) for k, v in groups.items()}


def band(size):
    return 0 if size < 1 << 16 else 1 if size < 1 << 20 else 2 if size < 1 << 25 else 3


def fabric(machine):
    more = MACHINES[machine][4]
    return "racks" if "domain" in more or "domains" in more else FABRICS[MACHINES[machine][2].split("-")[0]]


def price(key, law, transports):
    machine, collective, only, ranks, nodes, size = key
    return predict(Call(machine, collective, ranks, nodes, size), law, transports, only)


def print_table(errors):
    """errors: (fabric, collective, band) -> list of predicted / measured - 1."""
    print("| fabric | collective | <64K | 64K-1M | 1-32M | >=32M |\n|---|---|---|---|---|---|")
    for where in sorted({k[:2] for k in errors}):
        cells = []
        for b in range(4):
            e = errors.get(where + (b,))
            cells.append(f"{100 * statistics.median(e):+.0f}, {100 * statistics.median(map(abs, e)):.0f} ({len(e)})" if e else "-")
        print(f"| {where[0]} | {where[1]} | " + " | ".join(cells) + " |")


class Fit:
    """Coordinate descent from the present constants: the gain of a change must outweigh its distance."""
    FIXED = ("quiet_nodes", "small_bytes", "tuner_latency_us")

    def __init__(self, data, without=None):
        self.data = {k: v for k, v in data.items() if k[0] != without}
        self.start = (LAW, {name: read_transport(name) for name in sorted({m[2] for m in MACHINES.values()})})
        self.law, self.transports = copy.deepcopy(self.start)

    def loss(self):
        cells = collections.defaultdict(list)
        for key, measured in self.data.items():
            ratio = max(price(key, self.law, self.transports), 1e-3) / measured
            cells[key[0], key[1], band(key[5])].append(min(1.0, abs(math.log(ratio))))
        misfit = sum(sum(v) / len(v) * min(1, len(v) / 4) for v in cells.values()) / len(cells)
        return misfit + 0.0015 * self.moved()

    def moved(self):
        out = 0
        for new, old in zip([self.law, *self.transports.values()], [self.start[0], *self.start[1].values()]):
            for key, value in old.items():
                if value > 0:
                    out += math.log(new[key] / value) ** 2 * (100 if key.endswith("share") else 1)
        return out

    def run(self, rounds):
        best = self.loss()
        for step in (1.5, 1.25, 1.12, 1.06)[:rounds]:
            for table in (self.law, *self.transports.values()):
                for key, value in list(table.items()):
                    if key in self.FIXED or value <= 0:
                        continue
                    for changed in (value * step, value / step):
                        if key.endswith("_share") and key in ("rate_share", "exchange_share") and changed > 1:
                            continue
                        table[key] = changed
                        loss = self.loss()
                        if loss < best - 1e-5:
                            best = loss
                            break
                        table[key] = value
        return self


def errors_of(data, law, transports, machine=None):
    out = collections.defaultdict(list)
    for key, measured in data.items():
        if machine in (None, key[0]):
            out[fabric(key[0]), key[1], band(key[5])].append(price(key, law, transports) / measured - 1)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--left-out", action="store_true")
    arguments = parser.parse_args()
    data = read(arguments.measured)
    if arguments.left_out:
        errors = collections.defaultdict(list)
        for machine in sorted({k[0] for k in data}):
            fit = Fit(data, machine).run(3)
            for where, e in errors_of(data, fit.law, fit.transports, machine).items():
                errors[where] += e
        print_table(errors)
        return
    fit = Fit(data)
    if arguments.fit:
        fit.run(4)
        for name, new, old in [("law", fit.law, LAW), *((n, t, fit.start[1][n]) for n, t in fit.transports.items())]:
            changed = [f"{k} {old[k]:g} -> {v:.4g}" for k, v in new.items() if v != old[k]]
            if changed:
                print(f"{name}: " + ", ".join(changed))
    print_table(errors_of(data, fit.law, fit.transports))


if __name__ == "__main__":
    main()
