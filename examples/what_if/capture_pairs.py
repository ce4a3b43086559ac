"""Records captures of a small training job before and after a change, to test predictions of the change.

    /usr/bin/python3 capture_pairs.py --out captures              # all pairs
    /usr/bin/python3 capture_pairs.py --out captures --pair batch_1

A and B of a pair run in turns, --runs times each, with the same seed. The steps of all runs go into
OUT/PAIR/runs.csv. The run with the shortest median step is kept, as OUT/PAIR/a and OUT/PAIR/b, because
disturbances make a machine only slower, never faster. A run begins when the machine is quiet. If other
processes take more than --others of the processor time during a run, the run is repeated, at most
--retries times; runs.csv has the share of the last try. On a machine that is never quiet, --alone (Linux,
root) keeps other processes from the processors for the second of a run.
"""

import argparse
import csv
import json
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "capture"))

import pair_jobs

WARMUP = 30  # steps that are not recorded, including the profiler's own
QUIET_S = 0.3  # the machine counts as quiet after being idle for this time
PATIENCE_S = 30  # maximum time to wait for a quiet machine

# width: of the hidden layers; inputs: of the first layer; batch: of each process; bucket_mb: size of DDP's
# buckets, 0: one bucket.
BASE = {
    "ranks": 1,
    "inputs": 192,
    "width": 384,
    "hidden": 2,
    "batch": 12,
    "bucket_mb": 0.0,
    "bias": False,
    "optimizer": "sgd",
}
# 384 x 384 numbers of 4 bytes are 0.5625 MiB: a bucket for each hidden layer.
LAYER_MB = 0.56
TWO = {"ranks": 2, "bucket_mb": LAYER_MB}
MANY = {"width": 96, "inputs": 48, "hidden": 5, "batch": 8, "bias": True}
PAIRS = {
    "batch_1": ({"batch": 12}, {"batch": 24}),
    "batch_2": ({**TWO, "batch": 12}, {**TWO, "batch": 24}),
    "bucket_2": ({**TWO, "hidden": 5}, {**TWO, "hidden": 5, "bucket_mb": 25}),
    "optimizer_1": ({**MANY, "optimizer": "adam"}, {**MANY, "optimizer": "adam_flat"}),
    "foreach_1": ({**MANY, "optimizer": "adam"}, {**MANY, "optimizer": "adam_foreach"}),
    "layers_1": ({"hidden": 2}, {"hidden": 4}),
    "layers_2": ({**TWO, "hidden": 2}, {**TWO, "hidden": 4}),
    **pair_jobs.PAIRS,
}


class FlatAdam:
    """Adam on one buffer with all parameters, and one with all gradients."""

    def __init__(self, parameters, lr):
        import torch

        self.lr, self.steps = lr, 0
        parameters = list(parameters)
        size = sum(p.numel() for p in parameters)
        self.flat, self.grad = torch.empty(size), torch.zeros(size)
        self.mean, self.square = torch.zeros(size), torch.zeros(size)
        at = 0
        for p in parameters:
            end = at + p.numel()
            self.flat[at:end].copy_(p.detach().reshape(-1))
            p.data = self.flat[at:end].view_as(p)
            p.grad = self.grad[at:end].view_as(p)
            at = end

    def zero_grad(self, set_to_none=False):
        import torch

        with torch.profiler.record_function("Optimizer.zero_grad#FlatAdam.zero_grad"):
            self.grad.zero_()

    def step(self):
        import torch

        with torch.no_grad(), torch.profiler.record_function("Optimizer.step#FlatAdam.step"):
            self.steps += 1
            self.mean.mul_(0.9).add_(self.grad, alpha=0.1)
            self.square.mul_(0.999).addcmul_(self.grad, self.grad, value=0.001)
            down = self.square.sqrt().div_((1 - 0.999**self.steps) ** 0.5).add_(1e-8)
            self.flat.addcdiv_(self.mean, down, value=-self.lr / (1 - 0.9**self.steps))


def make_optimizer(kind, parameters):
    import torch

    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    if kind == "adam_flat":
        return FlatAdam(parameters, lr=0.001)
    return torch.optim.Adam(parameters, lr=0.001, foreach=kind == "adam_foreach")


def train(rank, job):
    """The step of a network, with DDP if there are several ranks: a function without arguments. Connects the ranks."""
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    width, ranks = job["width"], job["ranks"]
    layers = [nn.Linear(job["inputs"], width, bias=job["bias"]), nn.ReLU()]
    for _ in range(job["hidden"]):
        layers += [nn.Linear(width, width, bias=job["bias"]), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(width, 10, bias=job["bias"]))
    if ranks > 1:
        # Otherwise DDP's first bucket would have 1 MiB, whatever the requested size.
        dist._DEFAULT_FIRST_BUCKET_BYTES = int(job["bucket_mb"] * 2**20)
        model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=job["bucket_mb"])
    optimizer = make_optimizer(job["optimizer"], model.parameters())
    loss_of = nn.CrossEntropyLoss()
    torch.manual_seed(1 + rank)

    def step():
        x = torch.randn(job["batch"], job["inputs"])
        y = torch.randint(10, (job["batch"],))
        loss = loss_of(model(x), y)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()

    return step


def put_first(wanted):
    """Gives the threads of this process, and those that they start, priority over others; or normal priority."""
    policy, priority = (os.SCHED_FIFO, 10) if wanted else (os.SCHED_OTHER, 0)
    for thread in os.listdir("/proc/self/task"):
        os.sched_setscheduler(int(thread), policy, os.sched_param(priority))


def record(rank, job, steps, out, port, alone, first):
    """One process: records `steps` steps into `out`.

    Returns the processor time of the machine, and that of this process and of the processes of `alone`, meanwhile.
    """
    import torch
    import torch.distributed as dist
    from capture import Capture

    if job["ranks"] > 1:
        dist.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=job["ranks"]
        )
    if "kind" in job:
        torch.manual_seed(1 + rank)
        step, warmup = pair_jobs.make(job, rank), pair_jobs.WARMUP
    else:
        step, warmup = train(rank, job), WARMUP
    if job["ranks"] > 1:
        dist.barrier()
    if first:
        put_first(True)
    busy, own = busy_seconds(), time.process_time() + alone.seconds()
    began = time.monotonic()
    with Capture(out, rank, wait=warmup - 2, warmup=2, active=steps) as capture:
        for i in range(warmup + steps):
            step()
            if i == warmup + steps - 1:  # the files are written at the end of this step
                wall = time.monotonic() - began
                used = {"wall": wall, "busy": busy_seconds() - busy}
                used["own"] = time.process_time() + alone.seconds() - own
            if first and i == warmup + steps - 1:
                put_first(False)
            capture.step()
    if job["ranks"] > 1:
        dist.barrier()
        dist.destroy_process_group()
    return used


def work(order):
    rank, out = order["rank"], order["out"]
    processors = max(order["job"]["ranks"], order["job"].get("threads", 1))
    with Alone(order["alone"] and rank == 0, processors) as alone:
        if rank == 0 and not order["alone"]:
            wait_until_quiet()
        used = record(rank, order["job"], order["steps"], out, order["port"], alone, order["alone"] and "kind" in order["job"])
    with open(os.path.join(out, f"used.{rank}.json"), "w") as f:
        json.dump(used, f)
    # Kineto's file is sufficient: there is no size or group here that only the host trace has.
    os.remove(os.path.join(out, f"host.{rank}.json.gz"))


def free_port():
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def busy_seconds():
    """Processor time of all processes of the machine, including the time that its host took from it."""
    with open("/proc/stat") as f:
        times = [int(v) for v in f.readline().split()[1:9]]
    user, nice, system, irq, softirq, steal = times[0], times[1], times[2], times[5], times[6], times[7]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Alone:
    """Keeps other processes from the processors.

    It raises the weight of this session. If the session leaves a processor idle, a process of the session that never
    sleeps occupies the processor, and gives way to all other processes of the session.
    """

    def __init__(self, wanted, processors):
        self.wanted, self.processors, self.spinners = wanted, processors, []

    @staticmethod
    def new_session():
        """Continues in a new session, which has its own weight."""
        child = os.fork()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os.setsid()

    @staticmethod
    def weigh(nice):
        with open("/proc/self/autogroup", "w") as f:
            f.write(str(nice))

    def __enter__(self):
        if not self.wanted:
            return self
        self.weigh(-20)
        own = set(range(os.cpu_count() if self.processors > 1 else 1))
        os.sched_setaffinity(0, own)
        for cpu in range(os.cpu_count()):
            spin = f"import os\nos.sched_setaffinity(0, [{cpu}])\n"
            if cpu in own:
                spin += "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
            spin += "while os.getppid() != 1: pass"
            self.spinners.append(subprocess.Popen([sys.executable, "-S", "-c", spin]))
        return self

    def __exit__(self, kind, error, trace):
        for s in self.spinners:
            s.kill()
            s.wait()
        self.spinners = []
        if self.wanted:
            self.weigh(0)

    def seconds(self):
        """Processor time of the processes that never sleep."""
        ticks = 0
        for s in self.spinners:
            with open(f"/proc/{s.pid}/stat") as f:
                ticks += sum(int(v) for v in f.read().rsplit(")", 1)[1].split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")


def wait_until_quiet():
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        busy = busy_seconds()
        time.sleep(QUIET_S)
        if busy_seconds() - busy <= 0.05 * QUIET_S * os.cpu_count():
            return


def run_job(job, args, out):
    """Runs the processes of one capture. Returns the share of the machine that other processes took meanwhile."""
    shutil.rmtree(out, ignore_errors=True)
    port = free_port()
    workers = []
    for rank in range(job["ranks"]):
        order = {"rank": rank, "job": job, "steps": args.steps, "out": out, "port": port, "alone": args.alone}
        command = [sys.executable, os.path.abspath(__file__), "--worker", json.dumps(order)]
        workers.append(subprocess.Popen(command))
    if any([w.wait() for w in workers]):
        sys.exit(f"capture_pairs.py: a process of {out} failed")
    used = []
    for rank in range(job["ranks"]):
        path = os.path.join(out, f"used.{rank}.json")
        with open(path) as f:
            used.append(json.load(f))
        os.remove(path)
    others = used[0]["busy"] - sum(u["own"] for u in used)
    return max(0.0, others / (used[0]["wall"] * os.cpu_count()))


def step_ms(out, rank):
    with gzip.open(os.path.join(out, f"kineto.{rank}.json.gz"), "rt") as f:
        events = json.load(f)["traceEvents"]
    return [e["dur"] / 1000 for e in events if e["name"].startswith("ProfilerStep#")]


def longest_steps(out, ranks):
    """The time of each step on the rank where it takes longest."""
    return [max(s) for s in zip(*(step_ms(out, r) for r in range(ranks)))]


def capture(job, args, out):
    for attempt in range(args.retries + 1):
        others = run_job(job, args, out)
        if others <= args.others:
            break
    return others, longest_steps(out, job["ranks"])


def name_by_process(folder):
    """Renames files to HOST_PID.TIME.pt.trace.json, as PyTorch's own handler does. The names show that the ranks are on
    one machine, without their host traces."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with gzip.open(path, "rt") as f:
            trace = json.load(f)
        pid = trace["traceEvents"][0]["pid"]
        ms = int(trace["baseTimeNanoseconds"] / 1e6 + max(e["ts"] for e in trace["traceEvents"]) / 1e3)
        os.rename(path, os.path.join(folder, f"job_{pid}.{ms}.pt.trace.json.gz"))


def pack(folder):
    """Compresses with zstd, if it is installed: files are a third smaller than with gzip."""
    if shutil.which("zstd") is None:
        return
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with gzip.open(path) as f:
            command = ["zstd", "-19", "-q", "-f", "-o", path[: -len("gz")] + "zst"]
            subprocess.run(command, input=f.read(), check=True)
        os.remove(path)


def choose(rows, median):
    """The run to keep of rows (side, run, median step, ...): the fastest, or the (lower) median."""
    rows = sorted(rows, key=lambda r: r[2])
    return rows[(len(rows) - 1) // 2 if median else 0][1]


def capture_pair(name, args):
    jobs = [{**BASE, **change} for change in PAIRS[name]]
    folder = os.path.join(args.out, name)
    scratch = os.path.join(folder, "runs")
    rows = []
    for run in range(args.runs):
        for side, job in zip("ab", jobs):
            others, steps = capture(job, args, os.path.join(scratch, f"{side}{run}"))
            rows.append((side, run, statistics.median(steps), others, steps))
            print(name, side, run, f"{rows[-1][2]:.3f} ms, others {others:.1%}", flush=True)
    with open(os.path.join(folder, "runs.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["side", "run", "median_step_ms", "others_share", "kept", "steps_ms"])
        kept = {side: choose([r for r in rows if r[0] == side], "kind" in jobs[0]) for side in "ab"}
        for side, run, median, others, steps in rows:
            out.writerow([side, run, f"{median:.3f}", f"{others:.3f}", int(kept[side] == run),
                          " ".join(f"{s:.3f}" for s in steps)])
    for side in "ab":
        shutil.rmtree(os.path.join(folder, side), ignore_errors=True)
        shutil.move(os.path.join(scratch, f"{side}{kept[side]}"), os.path.join(folder, side))
        if "kind" in jobs[0] and jobs[0]["ranks"] > 1:
            name_by_process(os.path.join(folder, side))
        pack(os.path.join(folder, side))
    shutil.rmtree(scratch)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", help="folder for the captures")
    parser.add_argument("--pair", action="append", choices=sorted(PAIRS), help="default: all")
    parser.add_argument("--runs", type=int, default=12, help="captures of A and of B")
    parser.add_argument("--steps", type=int, default=5, help="recorded steps of a capture")
    parser.add_argument("--others", type=float, default=0.03, help="share that others may take")
    parser.add_argument("--retries", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help="keep other processes from the processors")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(json.loads(args.worker))
    if not args.out:
        parser.error("--out is missing")
    if args.alone:
        Alone.new_session()
    for name in args.pair or PAIRS:
        capture_pair(name, args)


if __name__ == "__main__":
    main()
