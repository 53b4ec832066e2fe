# SPDX-License-Identifier: Apache-2.0
"""Writes recurrent.txt: results and gradients of torch.nn.RNN, GRU, LSTM and their cells, for tests/nn/recurrent.c.

    python make_recurrent.py >recurrent.txt            (PyTorch 2)

A case is a line `case KIND WORD...`, where a word is a flag or NAME=NUMBERS, followed by lines NAME VALUES...: results
(output, h_n, c_n), then the gradients of the sum of all results times fixed numbers, by input, states and parameters.
Everything is double; fill() gives parameters, inputs and those numbers.
"""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

IN, HIDDEN = 3, 4
INPUT, STATE, WEIGHT = 100, 101, 110

CASES = [
    "rnn steps=5 batch=3",
    "rnn steps=4 batch=2 relu state layers=2 bidirectional batch_first",
    "rnn steps=4 unbatched state no_bias",
    "rnn steps=5 batch=4 lengths=2,5,1,3 bidirectional layers=2 state",
    "gru steps=5 batch=3",
    "gru steps=1 batch=2 state",
    "gru steps=5 batch=2 state layers=3 bidirectional",
    "gru steps=4 batch=3 no_bias batch_first state",
    "gru steps=3 unbatched bidirectional",
    "gru steps=6 batch=4 lengths=3,6,1,3 bidirectional layers=2 state",
    "gru steps=5 batch=3 lengths=4,2,2 batch_first",
    "lstm steps=5 batch=3",
    "lstm steps=5 batch=2 state layers=2 bidirectional batch_first",
    "lstm steps=4 batch=2 no_bias state",
    "lstm steps=3 unbatched state layers=2",
    "lstm steps=6 batch=4 lengths=3,6,1,3 bidirectional layers=2 state",
    "lstm steps=4 batch=2 proj=2 state layers=2 bidirectional",
    "lstm steps=4 batch=3 proj=3 lengths=1,4,2 no_bias batch_first",
    "rnn_cell batch=3 state relu",
    "rnn_cell unbatched no_bias",
    "gru_cell batch=3 state",
    "gru_cell unbatched state no_bias",
    "lstm_cell batch=3 state",
    "lstm_cell batch=2",
]


def fill(shape, number):
    """Returns a hash of the index, uniform in [-1, 1)."""
    values = []
    for k in range(torch.Size(shape).numel()):
        h = (k * 2654435761 + number * 40503 + 1) & 0xFFFFFFFF
        h = ((h ^ h >> 16) * 0x7FEB352D) & 0xFFFFFFFF
        h = ((h ^ h >> 15) * 0x846CA68B) & 0xFFFFFFFF
        h ^= h >> 16
        values.append(-1 + 2 * (h / 4294967296))
    return torch.tensor(values, dtype=torch.double).reshape(shape)


def show(name, x):
    print(name, *(f"{v:.12g}" for v in x.detach().reshape(-1).tolist()))


def run(case):
    kind, *words = case.split()
    o = dict(w.split("=") if "=" in w else (w, True) for w in words)
    cell = kind.endswith("_cell")
    options = {"bias": "no_bias" not in o, "dtype": torch.double}
    if kind.startswith("rnn"):
        options["nonlinearity"] = "relu" if "relu" in o else "tanh"
    layers, proj, directions = int(o.get("layers", 1)), int(o.get("proj", 0)), 1 + ("bidirectional" in o)
    if not cell:
        options |= {"num_layers": layers, "batch_first": "batch_first" in o, "bidirectional": "bidirectional" in o}
        if proj:
            options["proj_size"] = proj
    name = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}[kind.split("_")[0]] + ("Cell" if cell else "")
    m = getattr(nn, name)(IN, HIDDEN, **options)
    with torch.no_grad():
        for k, p in enumerate(m.parameters()):
            p.copy_(fill(p.shape, k))
    batch = [] if "unbatched" in o else [int(o["batch"])]
    steps = [] if cell else [int(o["steps"])]
    x = fill((batch + steps if "batch_first" in o else steps + batch) + [IN], INPUT).requires_grad_()
    sizes = [proj or HIDDEN, HIDDEN] if kind.startswith("lstm") else [HIDDEN]
    lead = [] if cell else [layers * directions]
    state = [fill(lead + batch + [n], STATE + k).requires_grad_() for k, n in enumerate(sizes)] if "state" in o else []
    hx = None if not state else tuple(state) if len(sizes) == 2 else state[0]
    if "lengths" in o:
        lengths = torch.tensor([int(n) for n in o["lengths"].split(",")])
        packed = pack_padded_sequence(x, lengths, "batch_first" in o, enforce_sorted=False)
        y, final = m(packed, hx)
        y = pad_packed_sequence(y, "batch_first" in o, total_length=steps[0])[0]
        results = [y, *(final if len(sizes) == 2 else [final])]
    elif cell:
        final = m(x, hx)
        results = list(final) if len(sizes) == 2 else [final]
    else:
        y, final = m(x, hx)
        results = [y, *(final if len(sizes) == 2 else [final])]
    print("case", case)
    for label, r in zip(["h_n", "c_n"] if cell else ["output", "h_n", "c_n"], results):
        show(label, r)
    sum((r * fill(r.shape, WEIGHT + k)).sum() for k, r in enumerate(results)).backward()
    show("x", x.grad)
    for label, s in zip(["h0", "c0"], state):
        show(label, s.grad)
    for label, p in m.named_parameters():
        show(label, p.grad)


for case in CASES:
    run(case)
