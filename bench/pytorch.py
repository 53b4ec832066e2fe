# SPDX-License-Identifier: Apache-2.0
"""The cases of `wick bench` in PyTorch, in turns with Wick:

    wick bench --peer "python3 bench/pytorch.py"

Reads "CASE THREADS SIZES..." and answers with the seconds of one round; cli/bench_baseline.c says how they talk.
"""
import sys
import time

import torch
from torch import nn


def once(work):
    """Seconds of work(), whose result dies after the clock was read."""

    def round():
        start = time.perf_counter()
        result = work()
        took = time.perf_counter() - start
        del result
        return took

    return round


def forward_only(work):
    def quietly():
        with torch.no_grad():
            return work()

    return once(quietly)


def fused(count):
    z, y = torch.rand(count), torch.rand(count)
    return forward_only(lambda: (z + 2).exp() * y)


def matmul(n):
    a, b = torch.rand(n, n), torch.rand(n, n)
    return forward_only(lambda: a @ b)


def rows(op):
    def make(n):
        x = torch.rand(n, n)
        return forward_only(lambda: op(x))

    return make


def add(grad):
    def make():
        a, b = torch.rand(2, 3, requires_grad=grad), torch.rand(2, 3, requires_grad=grad)
        calls, chain = 2000, 100

        def round():
            start = time.perf_counter()
            for _ in range(0, calls, chain):
                total = a
                for _ in range(chain):
                    total = total + b
            return (time.perf_counter() - start) / calls

        return round

    return make


def step_of(optimiser):
    """Takes a step of training when it is called."""
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    x, labels = torch.randn(64, 784), torch.randint(0, 10, (64,))
    update = optimiser(net.parameters())
    criterion = nn.CrossEntropyLoss()

    def step():
        loss = criterion(net(x), labels)
        update.zero_grad()
        loss.backward()
        update.step()

    return step


def train(optimiser, wait=lambda: None):
    def make():
        steps = 20
        step = step_of(optimiser)

        def round():
            start = time.perf_counter()
            for _ in range(steps):
                step()
            wait()
            return (time.perf_counter() - start) / steps

        return round

    return make


def on_gpu(make):
    """The case with tensors of the GPU."""

    def there(*sizes):
        with torch.device("cuda"):
            round = make(*sizes)
        torch.cuda.synchronize()
        return round

    return there


def by_events(work, side, times):
    """Seconds of the device for work(), as cli/bench.h has it: the device is given other work first, so that work() has
    been enqueued when its turn comes."""
    ahead = torch.rand(side, side)

    def round():
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(times):
            ahead.add_(1)
        start.record()
        result = work()
        end.record()
        end.synchronize()
        del result
        return 1e-3 * start.elapsed_time(end)

    return round


def gpu_kernels(op):
    def make(n, side):
        x, y = torch.rand(n, n), torch.rand(n, n)

        def work():
            with torch.no_grad():
                return op(x, y)

        return by_events(work, side, 1)

    return on_gpu(make)


def gpu_copy(op):
    """By the host's clock, until the bytes are there."""

    def make(n, _):
        x, here = torch.rand(n, n), torch.rand(n, n, device="cpu")

        def work():
            result = op(x, here)
            torch.cuda.synchronize()
            return result

        return once(work)

    return on_gpu(make)


def gpu_train(optimiser):
    return on_gpu(train(optimiser, torch.cuda.synchronize))


def gpu_step(optimiser):
    return on_gpu(lambda side: by_events(step_of(optimiser), side, 16))


CASES = {
    "fused": fused,
    "matmul": matmul,
    "add": add(False),
    "add_grad": add(True),
    "softmax": rows(lambda x: torch.softmax(x, 1)),
    "layer_norm": rows(lambda x: nn.functional.layer_norm(x, x.shape[1:])),
    "sum_rows": rows(lambda x: x.sum(1)),
    "sum_columns": rows(lambda x: x.sum(0)),
    "transpose": rows(lambda x: x.t().contiguous()),
    "train_sgd": train(lambda p: torch.optim.SGD(p, lr=0.1)),
    "train_adam": train(lambda p: torch.optim.Adam(p)),
}
if torch.cuda.is_available():
    CASES |= {
        "gpu_upload": gpu_copy(lambda x, here: here.cuda()),
        "gpu_download": gpu_copy(lambda x, here: x.cpu()),
        "gpu_plus_one": gpu_kernels(lambda x, y: x + 1),
        "gpu_fused": gpu_kernels(lambda x, y: (x + 2).exp() * y),
        "gpu_softmax": gpu_kernels(lambda x, y: torch.softmax(x, 1)),
        "gpu_layer_norm": gpu_kernels(lambda x, y: nn.functional.layer_norm(x, x.shape[1:])),
        "gpu_sum_rows": gpu_kernels(lambda x, y: x.sum(1)),
        "gpu_sum_columns": gpu_kernels(lambda x, y: x.sum(0)),
        "gpu_transpose": gpu_kernels(lambda x, y: x.t().contiguous()),
        "gpu_matmul": gpu_kernels(lambda x, y: x @ y),
        "gpu_train_sgd": gpu_train(lambda p: torch.optim.SGD(p, lr=0.1)),
        "gpu_train_adam": gpu_train(lambda p: torch.optim.Adam(p)),
        "gpu_step_sgd": gpu_step(lambda p: torch.optim.SGD(p, lr=0.1)),
        "gpu_step_adam": gpu_step(lambda p: torch.optim.Adam(p)),
    }


def main():
    print("PyTorch", torch.__version__.split("+")[0], flush=True)
    ready = {}  # cases stay ready while their variants take turns
    for line in sys.stdin:
        case, threads, *sizes = line.split()
        if case not in CASES:
            print("-", flush=True)
            continue
        torch.set_num_threads(int(threads))
        if (case, *sizes) not in ready:
            if len(ready) > 2:
                ready.clear()
            ready[case, *sizes] = CASES[case](*map(int, sizes))
            ready[case, *sizes]()
        took = ready[case, *sizes]()
        time.sleep(0.01)  # PyTorch's threads go on spinning for a while, and Wick is next
        print(took, flush=True)


main()
