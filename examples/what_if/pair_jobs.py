"""Small jobs that change in one property: the pairs of capture_pairs.py that have a kind.

"net": one process with PyTorch's operators, a forward and a backward pass of GEMMs, and optionally a thread that loads
data. "parallel": ranks with gloo, tensor x data x pipeline. A rank's computation is sleeping or, with "unit": "mm",
GEMMs of one size: if there are as many processes as processors or more, they would take time from each other, which no
capture shows.
"""

import queue
import threading
import time

WARMUP = 12  # steps that are not recorded

NET = {
    "kind": "net",
    "ranks": 1,
    "widths": [256, 256, 192, 256],  # of the input, and of the output of each layer
    "batch": 32,
    "repeat": 1,  # number of times that the first layer's GEMM runs
    "activation": "relu",
    "double": False,
    "threads": 1,
    "load_us": 0,
    "loader": False,  # a separate thread loads data, one batch ahead
    "micro": 1,  # micro-batches whose gradients are accumulated
    "momentum": True,
}
PARALLEL = {
    "kind": "parallel",
    "ranks": 2,
    "tp": 1,
    "pp": 1,
    "unit": "sleep",  # an amount of 1 is 100 us, or with "mm" one GEMM
    "layers": 4,
    "forward": 6,  # amounts of a layer
    "backward": 10,
    "optimizer": 10,
    "slow": {},  # factors of the amounts of single ranks ("1": 1.5)
    "load_us": {},  # by rank
    "dp_bytes": 1 << 18,  # bytes of a layer's gradients; 0: not reduced
    "bucket": 1,  # layers in an all-reduce
    "overlap": False,  # all-reduces overlap with the backward pass
    "reduce_over": "replicas",  # or "world", "shards": the ranks among which gradients are reduced
    "tp_bytes": 0,
    "send_bytes": 1 << 16,
    "micro": 1,
}
FOUR = {"ranks": 4, "layers": 2, "forward": 15, "backward": 25, "optimizer": 10}
TP2DP2 = {**FOUR, "tp": 2, "tp_bytes": 1 << 16}
PIPE = {"pp": 2, "layers": 1, "forward": 20, "backward": 30, "dp_bytes": 0, "micro": 2}
PIPE4 = {**PIPE, "ranks": 4, "dp_bytes": 1 << 18}


def _net(a, b):
    return {**NET, **a}, {**NET, **b}


def _parallel(base, a, b):
    return {**PARALLEL, **base, **a}, {**PARALLEL, **base, **b}


LARGE = {"widths": [8, 512, 8], "batch": 2048, "activation": "gelu"}
PAIRS = {
    "operator_1": _net({}, {"repeat": 4}),
    "width_1": _net({}, {"widths": [256, 256, 384, 256]}),
    "activation_1": _net({"batch": 128}, {"batch": 128, "activation": "gelu"}),
    "double_1": _net({}, {"double": True}),
    "input_1": _net({"load_us": 2000}, {"load_us": 4000}),
    "loader_slow_1": _net({"loader": True, "load_us": 9000}, {"loader": True, "load_us": 14000}),
    "threads_1": _net({**LARGE, "threads": 1}, {**LARGE, "threads": 2}),
    "micro_1": _net({"micro": 2}, {"micro": 4}),
    "momentum_1": _net({}, {"momentum": False}),
    "operator_2": _parallel({"unit": "mm"}, {}, {"forward": 12}),
    "slow_rank_2": _parallel({}, {}, {"slow": {"1": 1.5}}),
    "input_2": _parallel({}, {"load_us": {"0": 500}}, {"load_us": {"0": 4000}}),
    "messages_2": _parallel({"dp_bytes": 1 << 20}, {}, {"dp_bytes": 1 << 21}),
    "reduced_2": _parallel({"dp_bytes": 1 << 20}, {}, {"dp_bytes": 0}),
    "overlap_2": _parallel({"dp_bytes": 1 << 20}, {}, {"overlap": True}),
    "buckets_2": _parallel({"dp_bytes": 1 << 18, "layers": 8, "overlap": True}, {}, {"bucket": 4}),
    "slow_overlap_2": _parallel({"overlap": True}, {}, {"slow": {"0": 1.5}}),
    "tensor_messages_2": _parallel({"unit": "mm", "tp": 2, "tp_bytes": 1 << 18}, {}, {"tp_bytes": 1 << 20}),
    "tensor_slow_2": _parallel({"unit": "mm", "tp": 2, "tp_bytes": 1 << 18}, {}, {"slow": {"1": 1.5}}),
    "stage_2": _parallel({**PIPE, "micro": 4}, {}, {"slow": {"1": 1.5}}),
    "stage_first_2": _parallel({**PIPE, "micro": 4}, {}, {"slow": {"0": 1.5}}),
    "stage_messages_2": _parallel({**PIPE, "micro": 4}, {}, {"send_bytes": 1 << 20}),
    "stage_micro_2": _parallel(PIPE, {}, {"micro": 4}),
    "slow_rank_4": _parallel(TP2DP2, {}, {"slow": {"3": 1.5}}),
    "faster_4": _parallel(TP2DP2, {}, {"forward": 7.5, "backward": 12.5}),
    "messages_4": _parallel(TP2DP2, {}, {"tp_bytes": 1 << 20}),
    "groups_4": _parallel(
        {**TP2DP2, "dp_bytes": 1 << 20}, {"reduce_over": "world"}, {"reduce_over": "shards"}
    ),
    "input_4": _parallel(TP2DP2, {"load_us": {"2": 500}}, {"load_us": {"2": 4000}}),
    "stage_4": _parallel(PIPE4, {}, {"slow": {"2": 1.5, "3": 1.5}}),
    "replicas_4": _parallel({**FOUR, "dp_bytes": 1 << 20}, {"ranks": 2}, {"ranks": 4}),
}


def make(job, rank):
    """The job's step: a function without arguments. Process groups must exist."""
    return (Net if job["kind"] == "net" else Parallel)(job, rank)


class Net:
    def __init__(self, job, rank):
        import torch

        self.job = job
        torch.set_num_threads(job["threads"])
        self.type = torch.float64 if job["double"] else torch.float32
        sizes = list(zip(job["widths"], job["widths"][1:]))
        self.w = [torch.randn(i, o, dtype=self.type) * 0.05 for i, o in sizes]
        self.buffers = [torch.zeros_like(w) for w in self.w]
        for w in self.w:
            w.requires_grad = True
        self.x = torch.randn(job["batch"], job["widths"][0], dtype=self.type)
        if job["loader"]:
            self.wanted, self.ready = queue.Queue(), queue.Queue()
            threading.Thread(target=self.load_ahead, daemon=True).start()
            self.wanted.put(0)

    def load(self):
        import torch

        if self.job["load_us"]:
            with torch.profiler.record_function("load"):
                time.sleep(self.job["load_us"] * 1e-6)

    def load_ahead(self):
        while True:
            self.wanted.get()
            self.load()
            self.ready.put(0)

    def micro_batch(self):
        import torch

        job, x = self.job, self.x
        activate = torch.nn.functional.gelu if job["activation"] == "gelu" else torch.relu
        for layer, w in enumerate(self.w):
            with torch.profiler.record_function(f"layer{layer}"):
                for _ in range(job["repeat"] if layer == 0 else 1):
                    y = x @ w
            x = activate(y)
        x.sum().backward()

    def __call__(self):
        import torch

        if self.job["loader"]:
            with torch.profiler.record_function("next_batch"):
                self.ready.get()
            self.wanted.put(0)
        else:
            self.load()
        for _ in range(self.job["micro"]):
            with torch.profiler.record_function("micro"):
                self.micro_batch()
        with torch.no_grad(), torch.profiler.record_function("optimizer"):
            for w, buffer in zip(self.w, self.buffers):
                step = w.grad
                if self.job["momentum"]:
                    step = buffer.mul_(0.9).add_(w.grad)
                w.sub_(step, alpha=1e-9)
                w.grad = None


class Parallel:
    """Rank = (stage * replicas + replica) * shards + shard."""

    def __init__(self, job, rank):
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        self.job, self.rank = job, rank
        n, tp, pp = job["ranks"], job["tp"], job["pp"]
        dp = n // (tp * pp)
        self.stage, self.hop = rank // (dp * tp), dp * tp
        self.tp = self.dp = None
        for s in range(pp):
            at = s * dp * tp
            for r in range(dp):
                members = [at + r * tp + t for t in range(tp)]
                self.tp = self.group(members) or self.tp
            for t in range(tp):
                members = [at + r * tp + t for r in range(dp)]
                self.dp = self.group(members) or self.dp
        if job["reduce_over"] != "replicas":
            self.dp = self.tp if job["reduce_over"] == "shards" else dist.group.WORLD
        self.a, self.b = torch.randn(64, 64), torch.randn(64, 64)
        self.c = torch.empty(64, 64)
        self.shard = torch.ones(max(1, job["tp_bytes"] // 4))
        self.gradients = torch.zeros(job["bucket"] * max(1, job["dp_bytes"] // 4))
        self.message = torch.zeros(job["send_bytes"] // 4)
        self.factor = job["slow"].get(str(rank), 1)
        self.dist = dist

    def group(self, members):
        """The group of this rank, if the rank is a member, and not the only one."""
        import torch.distributed as dist

        if len(members) == 1:
            return None
        group = dist.group.WORLD if len(members) == self.job["ranks"] else dist.new_group(members)
        return group if self.rank in members else None

    def work(self, name, amount):
        import torch

        with torch.profiler.record_function(name):
            if self.job["unit"] == "sleep":
                time.sleep(amount * self.factor * 1e-4)
            else:
                for _ in range(round(amount * self.factor)):
                    torch.mm(self.a, self.b, out=self.c)

    def forward(self):
        if self.stage > 0:
            self.dist.recv(self.message, src=self.rank - self.hop)
        for _ in range(self.job["layers"]):
            self.work("forward", self.job["forward"])
            if self.tp:
                self.dist.all_reduce(self.shard, group=self.tp)
        if self.stage + 1 < self.job["pp"]:
            self.dist.send(self.message, dst=self.rank + self.hop)

    def backward(self, reduce):
        if self.stage + 1 < self.job["pp"]:
            self.dist.recv(self.message, src=self.rank + self.hop)
        handles = []
        for layer in range(self.job["layers"]):
            self.work("backward", self.job["backward"])
            if self.tp:
                self.dist.all_reduce(self.shard, group=self.tp)
            if reduce and (layer + 1) % self.job["bucket"] == 0:
                handle = self.dist.all_reduce(self.gradients, group=self.dp, async_op=self.job["overlap"])
                handles.append(handle)
        if self.stage > 0:
            self.dist.send(self.message, dst=self.rank - self.hop)
        return [h for h in handles if h]

    def __call__(self):
        import torch

        job = self.job
        load_us = job["load_us"].get(str(self.rank), 0)
        if load_us:
            with torch.profiler.record_function("load"):
                time.sleep(load_us * 1e-6)
        for _ in range(job["micro"]):
            with torch.profiler.record_function("forward_pass"):
                self.forward()
        handles = []
        for i in range(job["micro"]):
            with torch.profiler.record_function("backward_pass"):
                handles += self.backward(bool(self.dp) and job["dp_bytes"] > 0 and i + 1 == job["micro"])
        with torch.profiler.record_function("wait"):
            for handle in handles:
                handle.wait()
        self.work("optimizer", job["optimizer"])
