"""python_bench.py [RUNS]: user time of calls of the Python module in this process. PYTHONPATH: python/ of the build."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Callable

import chakra_replay as cr
import pandas  # noqa: F401: loading it is not what is measured

STEP = str(Path(__file__).parent.parent / "examples" / "transformer_step")


def measure(name: str, call: Callable[[int], object], times: int) -> None:
    """One comparable line: user milliseconds of a call."""
    call(0)
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for i in range(times):
        call(i)
    each = (resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin) / times
    print(f"{name:44} {each * 1e3:10.3f} ms   {times} times", flush=True)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    traces = cr.load(STEP)
    cluster = cr.Cluster.preset("dgx-h100")
    link = cluster.topology.dimension[0]

    def other_bandwidth(i: int) -> object:
        link.bandwidth_gbytes_per_s = 100 + i * 0.01
        return cr.replay(traces, cluster)

    measure("transformer_step, another bandwidth", other_bandwidth, runs)
    measure("a preset's name and two options", lambda i: cr.replay(traces, "dgx-h100", lanes="single", seed=3), runs // 10)
    measure("an option that was not seen before", lambda i: cr.replay(traces, cluster, straggler=f"0={1 + i / 1e4}"), runs // 10)
    report = cr.replay(traces, cluster)
    measure("report as JSON", lambda i: report.to_json(), runs // 10)
    many = cr.load(f"{STEP}/workload.0.et.zst", ranks=6372)
    measure(f"{many.node_count} nodes as columns", lambda i: many._core.nodes(), 3)
    measure(f"{many.node_count} nodes to pandas, columns and all",
            lambda i: cr.Table(many._core.nodes()).to_pandas(), 3)


if __name__ == "__main__":
    main()
