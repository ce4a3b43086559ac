"""A small data-parallel training job, recorded: python3 train.py --ranks 2 --out DIR

Each rank is a process of this machine. It uses CUDA with NCCL if there is a
device for every rank, else the CPU with gloo.
"""

import argparse
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from capture import Capture


def train(rank, args, port):
    cuda = not args.cpu and torch.cuda.is_available() and torch.cuda.device_count() >= args.ranks
    device = torch.device("cuda", rank) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    dist.init_process_group(
        "nccl" if cuda else "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=args.ranks
    )

    torch.manual_seed(0)
    layers = []
    for _ in range(args.layers):
        layers += [nn.Linear(args.width, args.width), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(args.width, 10)).to(device)
    # One bucket for each layer, so that the first buckets are reduced while the backward pass still runs.
    bucket_mb = args.width * (args.width + 1) * 4 / 2**20
    model = DistributedDataParallel(model, device_ids=[rank] if cuda else None, bucket_cap_mb=bucket_mb)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()

    torch.manual_seed(1 + rank)
    with Capture(args.out, rank, wait=2, warmup=2, active=args.steps) as capture:
        for _ in range(2 + 2 + args.steps):
            x = torch.randn(args.batch, args.width, device=device)
            y = torch.randint(10, (args.batch,), device=device)
            loss = loss_of(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean = loss.detach()
            dist.all_reduce(mean)  # for the log; waits for the slowest rank
            mean.div_(args.ranks).item()
            capture.step()
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--out", required=True, help="folder for host.RANK.json.gz and kineto.RANK.json.gz")
    parser.add_argument("--steps", type=int, default=3, help="recorded steps")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--cpu", action="store_true", help="gloo on the CPU, whatever devices there are")
    args = parser.parse_args()
    mp.spawn(train, args=(args, free_port()), nprocs=args.ranks)
