# SPDX-License-Identifier: Apache-2.0
"""bench/ddp.c and bench/collectives.c in PyTorch, with DistributedDataParallel and gloo:

    python3 bench/pytorch_ddp.py ddp [RANKS [WIDTH [LAYERS [BATCH [ROUNDS [BUCKET_MB]]]]]]
    python3 bench/pytorch_ddp.py collectives [RANKS [SECONDS]]

Starts RANKS processes (2) of one thread each on this machine; with the variables of torchrun it is one rank.
"""
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def make_network(width, layers):
    parts = [nn.Linear(784, width), nn.ReLU()]
    for _ in range(layers - 1):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(width, 10))


def ddp(width=1024, layers=3, batch=256, rounds=30, cap=25.0):
    width, layers, batch, rounds, cap = int(width), int(layers), int(batch), int(rounds), float(cap)
    world = dist.get_world_size()
    torch.manual_seed(1)
    net = make_network(width, layers)
    wrapped = DistributedDataParallel(net, bucket_cap_mb=cap) if world > 1 else net
    sgd = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
    x, y = torch.randn(batch, 784), torch.randint(0, 10, (batch,))
    parameters = sum(p.numel() for p in net.parameters())
    buckets, left = [], parameters
    while left > 0:
        room = min(left, int(min(cap, 1 if not buckets else cap) * 2**18))
        buckets.append(torch.ones(room))
        left -= room

    def step(quiet):
        dist.barrier()
        start = time.perf_counter()
        if quiet and world > 1:
            with wrapped.no_sync():
                loss = nn.functional.cross_entropy(wrapped(x), y)
                sgd.zero_grad()
                loss.backward()
        else:
            loss = nn.functional.cross_entropy(wrapped(x), y)
            sgd.zero_grad()
            loss.backward()
        sgd.step()
        return time.perf_counter() - start

    def communicate():
        dist.barrier()
        start = time.perf_counter()
        for bucket in buckets:
            dist.all_reduce(bucket)
            bucket /= world
        return time.perf_counter() - start

    times = [(step(True), step(False), communicate()) for _ in range(rounds + 2)][2:]
    alone, whole, talk = (min(t[k] for t in times) for k in range(3))
    if dist.get_rank() == 0:
        print(
            f"PyTorch {torch.__version__}: world {world}, {parameters * 4e-6:.1f} MB of gradients, batch {batch} each: "
            f"step {whole * 1e3:.3f} ms, without communication {alone * 1e3:.3f} ms, communication alone "
            f"{talk * 1e3:.3f} ms, hidden {100 * (alone + talk - whole) / talk if world > 1 else 0:.0f} %, "
            f"{batch * world / whole:.0f} samples/s",
            flush=True,
        )


def collectives(seconds=1):
    more = torch.ones(1)
    for size in (4, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 64 << 20):
        x, took = torch.ones(size // 4), []
        begin = time.perf_counter()
        more.fill_(1)
        while more.item() > 0:
            start = time.perf_counter()
            dist.all_reduce(x)
            took.append(time.perf_counter() - start)
            x /= dist.get_world_size()
            if len(took) % 8 == 0:
                more.fill_(time.perf_counter() - begin < float(seconds) or len(took) < 16)
                dist.broadcast(more, 0)
        took.sort()
        if dist.get_rank() == 0:
            print(
                f"{size:9d} bytes {took[0] * 1e3:10.4f} ms {took[len(took) // 2] * 1e3:10.4f} ms "
                f"in the middle of {len(took):5d} rounds",
                flush=True,
            )


def start(case, ranks, words):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks))
    children = []
    for rank in range(ranks):
        os.environ["RANK"] = str(rank)
        children.append(os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, __file__, case, str(ranks), *words]))
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def main():
    case, ranks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2
    if "RANK" not in os.environ:
        sys.exit(start(case, ranks, sys.argv[3:]))
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    {"ddp": ddp, "collectives": collectives}[case](*sys.argv[3:])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
