"""Measures single operators and collectives by themselves, for the scripts of pairs/ that change a single one.

    /usr/bin/python3 alone.py > captures/alone.csv

Prints medians over many calls, in us. A collective is called many times in a row, on one process for each of its
ranks. Pairs of ranks begin together. Other processes are kept from the processors, as by capture_pairs.py --alone
(Linux, root).
"""

import statistics
import subprocess
import sys
import time

import capture_pairs

CALLS = 200
# Number of processes, kind, and bytes of: an all-reduce of all processes, or of pairs of them, or a message.
COLLECTIVES = [
    (2, "all_reduce", 1 << 16),
    (2, "all_reduce", 1 << 18),
    (2, "all_reduce", 1 << 20),
    (2, "all_reduce", 1 << 21),
    (2, "send", 1 << 16),
    (2, "send", 1 << 20),
    (4, "all_reduce", 1 << 20),
    (4, "all_reduce_pairs", 1 << 16),
    (4, "all_reduce_pairs", 1 << 20),
]


def median_us(call, calls=CALLS, before=lambda: None):
    for _ in range(10):
        call()
    times = []
    for _ in range(calls):
        before()
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def operators():
    import torch

    for threads in (1, 2):
        torch.set_num_threads(threads)
        x, w = torch.randn(2048, 512), torch.randn(512, 8)
        y, v = torch.randn(2048, 8), torch.randn(8, 512)
        gelu, back = torch.nn.functional.gelu, torch.ops.aten.gelu_backward
        yield f"gelu,2048x512,threads {threads}", median_us(lambda: gelu(x), 30)
        yield f"gelu_backward,2048x512,threads {threads}", median_us(lambda: back(x, x), 30)
        yield f"mm,2048x512x8,threads {threads}", median_us(lambda: x @ w, 30)
        yield f"mm,2048x8x512,threads {threads}", median_us(lambda: y @ v, 30)
    torch.set_num_threads(1)
    for n in (192, 256):
        x = torch.randn(128, n)
        relu_back = torch.ops.aten.threshold_backward
        yield f"relu,128x{n}", median_us(lambda: torch.relu(x))
        yield f"relu_backward,128x{n}", median_us(lambda: relu_back(x, x, 0))
        yield f"gelu,128x{n}", median_us(lambda: torch.nn.functional.gelu(x))
        yield f"gelu_backward,128x{n}", median_us(lambda: torch.ops.aten.gelu_backward(x, x))
    for name, type in (("float", torch.float32), ("double", torch.float64)):
        x, w = torch.randn(32, 256, dtype=type), torch.randn(256, 256, dtype=type)
        out, grad = torch.randn(256, 256, dtype=type), torch.randn(256, 256, dtype=type)
        yield f"mm,32x256x256,{name}", median_us(lambda: x @ w)
        yield f"mm of a transposed left,256x32x256,{name}", median_us(lambda: x.t() @ x)
        yield f"mm of a transposed right,32x256x256,{name}", median_us(lambda: x @ w.t())
        yield f"add_,256x256,{name}", median_us(lambda: out.add_(grad))
        yield f"mul_,256x256,{name}", median_us(lambda: out.mul_(0.9))


def collective(rank, ranks, kind, size, port):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    group = [dist.new_group([i, i + 1]) for i in range(0, ranks, 2)][rank // 2]
    x = torch.zeros(size // 4)
    if kind == "send":  # there and back
        first, second = (dist.send, dist.recv) if rank == 0 else (dist.recv, dist.send)

        def call():
            first(x, 1 - rank)
            second(x, 1 - rank)

    else:

        def call():
            dist.all_reduce(x, group=group if kind == "all_reduce_pairs" else None)

    dist.barrier()
    capture_pairs.put_first(True)
    us = median_us(call, before=dist.barrier if kind == "all_reduce_pairs" else lambda: None)
    capture_pairs.put_first(False)
    dist.barrier()
    return us / 2 if kind == "send" else us


def main():
    if len(sys.argv) > 1:
        rank, ranks, kind, size, port = sys.argv[1:]
        us = collective(int(rank), int(ranks), kind, int(size), int(port))
        if rank == "0":
            print(f"{kind},{ranks} ranks,{size} bytes,{us:.1f}", flush=True)
        return
    print("what,of,how,us", flush=True)
    with capture_pairs.Alone(True, 2):
        capture_pairs.put_first(True)
        for what, us in operators():
            print(f"{what}{',' * (2 - what.count(','))},{us:.1f}", flush=True)
        capture_pairs.put_first(False)
        for ranks, kind, size in COLLECTIVES:
            port = str(capture_pairs.free_port())
            command = [sys.executable, __file__]
            order = [str(ranks), kind, str(size), port]
            workers = [subprocess.Popen(command + [str(r)] + order) for r in range(ranks)]
            if any([w.wait() for w in workers]):
                sys.exit(f"alone.py: a process of {kind} failed")


if __name__ == "__main__":
    main()
