"""Writes Kineto's file for a PyTorch that was built without Kineto, as Debian's package is.

Such a build still measures every operator, but its own export_chrome_trace leaves
out categories, ids, shapes and the clock. This writes the events that Kineto
would write: names, threads, nanoseconds of the epoch, shapes, sequence numbers. A
thread's id is PyTorch's own count (1 is the main thread), not the system's.
"""

import json
import os

import torch.distributed as dist

USER_SCOPE = 7  # record_function, ProfilerStep, gloo's calls; all other events are operators
DAY_NS = 24 * 3600 * 10**9


def write_trace(profile, path):
    results = profile.profiler.kineto_results
    recorded = {e.correlation_id(): e for e in results.events()}
    timed = [n for n in _flatten(results.experimental_event_tree()) if n.correlation_id in recorded]
    timed.sort(key=lambda n: (n.start_time_ns, -n.duration_time_ns))
    base = timed[0].start_time_ns // DAY_NS * DAY_NS if timed else 0
    with open(path, "w") as f:
        f.write('{\n"schemaVersion": 1,\n"deviceProperties": [],\n')
        if dist.is_available() and dist.is_initialized():
            rank, size = dist.get_rank(), dist.get_world_size()
            job = {"backend": dist.get_backend(), "rank": rank, "world_size": size}
            f.write(f'"distributedInfo": {json.dumps(job)},\n')
        f.write('"record_shapes": 1,\n"displayTimeUnit": "ms",\n')
        f.write(f'"baseTimeNanoseconds": {base},\n"traceEvents": [\n')
        f.write(",\n".join(_event(n, recorded[n.correlation_id], i, base) for i, n in enumerate(timed)))
        f.write("\n]\n}\n")


def _flatten(nodes):
    for node in nodes:
        yield node
        yield from _flatten(node.children)


def _event(node, event, index, base):
    args = {"External id": event.correlation_id(), "Ev Idx": index}
    if event.sequence_nr() >= 0:
        args["Sequence number"] = event.sequence_nr()
        args["Fwd thread id"] = event.fwd_thread_id()
    if event.dtypes():
        args["Input type"] = event.dtypes()
        args["Input Dims"] = event.shapes()
    category = "user_annotation" if event.scope() == USER_SCOPE else "cpu_op"
    return (
        f'{{"ph": "X", "cat": "{category}", "name": {json.dumps(event.name())}, "pid": {os.getpid()}, '
        f'"tid": {event.start_thread_id()}, "ts": {_micros(node.start_time_ns - base)}, '
        f'"dur": {_micros(node.duration_time_ns)}, "args": {json.dumps(args)}}}'
    )


def _micros(ns):
    """Microseconds as text. It is exact, unlike a float."""
    return f"{ns // 1000}.{ns % 1000:03d}"
