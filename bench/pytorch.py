# SPDX-License-Identifier: Apache-2.0
"""The cases of `wick bench` in PyTorch, in turns with Wick:

    wick bench --peer "python3 bench/pytorch.py"

Reads "CASE THREADS SIZES..." and answers with the seconds of one round; cli/bench_baseline.c says how they talk.
"""
import sys
import time

import torch
from torch import nn

sys.modules["pytorch"] = None  # torchvision looks for a module of this name and would find this file
try:
    from torchvision import models
except ImportError:
    models = None  # its networks are not measured


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


# ---- networks for images


def network_step(create, channels):
    """A step of training on random images."""

    def make(batch, side):
        net = create()
        x, labels = torch.randn(batch, channels, side, side), torch.randint(0, 10, (batch,))
        update = torch.optim.SGD(net.parameters(), lr=0.01)
        criterion = nn.CrossEntropyLoss()

        def step():
            loss = criterion(net(x), labels)
            update.zero_grad()
            loss.backward()
            update.step()

        return once(step)

    return make


def inference(create):
    def make(batch, side):
        net, x = create().eval(), torch.randn(batch, 3, side, side)
        return forward_only(lambda: net(x))

    return make


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )


def layer(create):
    """A layer and the gradients of its input and parameters."""

    def make(batch, side):
        module, x = create(), torch.randn(batch, 64, side, side, requires_grad=True)
        inputs = [x, *module.parameters()]
        out_grad = torch.randn_like(module(x))
        return once(lambda: torch.autograd.grad(module(x), inputs, out_grad))

    return make


def convolution(direction):
    """A convolution without bias, or one of its gradients; `side` and `kernel` are those of squares."""

    def make(batch, groups, channels, out, side, kernel, stride, padding):
        x, w = torch.randn(batch, channels, side, side), torch.randn(out, channels // groups, kernel, kernel)
        options = {"stride": stride, "padding": padding, "groups": groups}
        y = torch.randn_like(nn.functional.conv2d(x, w, **options))
        return forward_only(lambda: direction(x, w, y, options))

    return make


def gradient(of_x):
    """The gradient by x or by w alone; torch.nn.grad calls the same."""

    def direction(x, w, y, o):
        pairs = [o["stride"]] * 2, [o["padding"]] * 2, [1, 1], False, [0, 0]
        mask = [of_x, not of_x, False]
        return torch.ops.aten.convolution_backward(y, x, w, None, *pairs, o["groups"], mask)

    return direction


# ---- recurrent networks


def characters(layer, trains):
    """A step of a model of characters, or the forward pass of its recurrent layer."""

    def make(steps, batch, hidden, layers):
        symbols = 28
        rnn, head = layer(symbols, hidden, layers), nn.Linear(hidden, symbols)
        parameters = [*rnn.parameters(), *head.parameters()]
        x = nn.functional.one_hot(torch.randint(0, symbols, (steps, batch)), symbols).float()
        labels = torch.randint(0, symbols, (steps * batch,))
        update = torch.optim.SGD(parameters, lr=1.0)

        def step():
            loss = nn.functional.cross_entropy(head(rnn(x)[0].reshape(-1, hidden)), labels)
            update.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            update.step()

        return once(step) if trains else forward_only(lambda: rnn(x)[0])

    return make


# ---- language models


def with_gradients(op, inputs):
    """op(*inputs) and the gradients of all inputs."""
    for x in inputs:
        x.requires_grad_()
    out_grad = torch.randn_like(op(*inputs))
    return once(lambda: torch.autograd.grad(op(*inputs), inputs, out_grad))


def attention(gradients):
    def make(length, causal):
        inputs = [torch.randn(1, 16, length, 64) for _ in range(3)]

        def op(*qkv):
            return nn.functional.scaled_dot_product_attention(*qkv, is_causal=bool(causal))

        return with_gradients(op, inputs) if gradients else forward_only(lambda: op(*inputs))

    return make


def norm(op, parameters, gradients):
    def make(rows, columns):
        inputs = [torch.randn(rows, columns), *(torch.randn(columns) for _ in range(parameters))]

        def work(x, *rest):
            return op(x, (columns,), *rest)

        return with_gradients(work, inputs) if gradients else forward_only(lambda: work(*inputs))

    return make


def vocabulary_loss(tokens, classes):
    labels = torch.randint(0, classes, (tokens,))
    return with_gradients(lambda x: nn.functional.cross_entropy(x, labels), [torch.randn(tokens, classes)])


def embedding(tokens, classes, width):
    index = torch.randint(0, classes, (tokens,))
    return with_gradients(lambda table: nn.functional.embedding(index, table), [torch.randn(classes, width)])


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, cache=None):
        q, k, v = (
            part.view(*x.shape[:2], self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2)
        )
        if cache is not None:  # keys and values with room for more, and the number of positions in use
            keys, values, used = cache
            end = used + x.shape[1]
            keys[:, :, used:end], values[:, :, used:end] = k, v
            k, v = keys[:, :, :end], values[:, :, :end]
        causal = x.shape[1] > 1
        h = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        x = x + self.out(h.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    """Blocks that normalise the input of each part, and a head that shares the embedding."""

    def __init__(self, vocabulary, context, width, layers, heads):
        super().__init__()
        self.shape = (1, heads, context, width // heads)
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, caches=None, used=0):
        x = self.token(ids) + self.position(torch.arange(used, used + ids.shape[1]))
        for k, block in enumerate(self.blocks):
            x = block(x, caches and (*caches[k], used))
        return nn.functional.linear(self.norm(x), self.token.weight)

    def new_caches(self):
        return [(torch.zeros(self.shape), torch.zeros(self.shape)) for _ in self.blocks]


def gpt_step(vocabulary, context, width, layers, heads, batch):
    net = GPT(vocabulary, context, width, layers, heads)
    update = torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    x, labels = (torch.randint(0, vocabulary, (batch, context)) for _ in range(2))

    def step():
        loss = nn.functional.cross_entropy(net(x).flatten(0, 1), labels.flatten())
        update.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        update.step()

    return once(step)


def gpt_tokens(vocabulary, context, width, layers, heads, tokens):
    """Tokens one by one, each from the last `context` ones, without a cache."""
    net = GPT(vocabulary, context, width, layers, heads).eval()

    def generate():
        ids = torch.zeros(1, 1, dtype=torch.long)
        for _ in range(tokens):
            scores = net(ids[:, -context:])[:, -1]
            ids = torch.cat((ids, torch.multinomial(scores.softmax(1), 1)), 1)
        return ids

    return forward_only(generate)


def gpt_prompt(vocabulary, context, width, layers, heads, prompt):
    net, ids = GPT(vocabulary, context, width, layers, heads).eval(), torch.randint(0, vocabulary, (1, prompt))
    return forward_only(lambda: net(ids))


def gpt_decode(vocabulary, context, width, layers, heads, prompt):
    """One token after those of a prompt, whose keys and values are cached."""
    net, token = GPT(vocabulary, context, width, layers, heads).eval(), torch.zeros(1, 1, dtype=torch.long)
    caches = net.new_caches()
    with torch.no_grad():
        net(token.expand(1, prompt), caches)
    return forward_only(lambda: net(token, caches, prompt))


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
    "lenet_step": network_step(lenet, 1),
    "rnn_step": characters(nn.RNN, True),
    "rnn_forward": characters(nn.RNN, False),
    "gru_step": characters(nn.GRU, True),
    "gru_forward": characters(nn.GRU, False),
    "lstm_step": characters(nn.LSTM, True),
    "lstm_forward": characters(nn.LSTM, False),
    "attention": attention(False),
    "attention_grad": attention(True),
    "norm_layer": norm(nn.functional.layer_norm, 2, False),
    "norm_layer_grad": norm(nn.functional.layer_norm, 2, True),
    "norm_rms": norm(nn.functional.rms_norm, 1, False),
    "norm_rms_grad": norm(nn.functional.rms_norm, 1, True),
    "vocabulary_loss_grad": vocabulary_loss,
    "embedding_grad": embedding,
    "gpt_step": gpt_step,
    "gpt_tokens": gpt_tokens,
    "gpt_prompt": gpt_prompt,
    "gpt_decode": gpt_decode,
    "batch_norm": layer(lambda: nn.Sequential(nn.BatchNorm2d(64), nn.ReLU())),
    "max_pool": layer(lambda: nn.MaxPool2d(3, 2, 1)),
    "conv_forward": convolution(lambda x, w, y, options: nn.functional.conv2d(x, w, **options)),
    "conv_by_x": convolution(gradient(True)),
    "conv_by_w": convolution(gradient(False)),
}
if models:
    CASES |= {
        "resnet18_step": network_step(models.resnet18, 3),
        "resnet18": inference(models.resnet18),
        "mobilenet_v2": inference(models.mobilenet_v2),
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
