# SPDX-License-Identifier: Apache-2.0
"""Writes tests/goldens/transformers.txt, outputs and gradients of torch.nn's attention and transformers, which
tests/nn/transformer.c describes.

    python make_transformers.py > transformers.txt            (PyTorch 2)

Parameters and inputs come from a formula, fill(), which the test repeats; everything is f64."""
import math

import torch
from torch import nn

F64 = {"dtype": torch.float64}


def fill(number, *shape):
    k = torch.arange(math.prod(shape), **F64)
    return (torch.sin(0.7 * k * (1 + number % 7) + number) * 0.5).reshape(shape)


def sequence(number, *shape):
    return fill(100 + number, *shape).requires_grad_()


HIDDEN = torch.tensor([[0, 1, 0, 0, 1], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]], dtype=torch.bool)
PADDING = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], dtype=torch.bool)


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def attention(batch_first=False, call=None, sizes=(8, 8), unbatched=False, **options):
    def make():
        options.setdefault("kdim", sizes[0])
        options.setdefault("vdim", sizes[1])
        net = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options, **F64)
        shapes = [(2, n) if batch_first else (n, 2) for n in (3, 5, 5)]
        if unbatched:
            shapes = [(3,), (5,), (5,)]
        x = [sequence(k, *shape, size) for k, (shape, size) in enumerate(zip(shapes, (8, *sizes)))]
        out, weights = net(*x, **{"need_weights": False, **(call or {})})
        return net, x, [out] if weights is None else [out, weights]

    return make


def self_attention():
    net = nn.MultiheadAttention(8, 4, batch_first=True, **F64)
    x = sequence(0, 2, 5, 8)
    return net, [x], [net(x, x, x, attn_mask=causal(5), is_causal=True, need_weights=False)[0]]


def layer(kind, **options):
    return kind(8, 2, dim_feedforward=12, dropout=0.0, **options, **F64)


def encoder_layer(**options):
    def make():
        net, x = layer(nn.TransformerEncoderLayer, **options), sequence(0, 5, 2, 8)
        return net, [x], [net(x, src_mask=causal(5), src_key_padding_mask=PADDING)]

    return make


def decoder_layer(**options):
    def make():
        net, x = layer(nn.TransformerDecoderLayer, **options), [sequence(0, 3, 2, 8), sequence(1, 5, 2, 8)]
        return net, x, [net(*x, tgt_mask=causal(3), memory_key_padding_mask=PADDING)]

    return make


def encoder():
    net = nn.TransformerEncoder(layer(nn.TransformerEncoderLayer), 2, nn.LayerNorm(8, **F64))
    x = sequence(0, 5, 2, 8)
    return net, [x], [net(x, src_key_padding_mask=PADDING)]


def decoder():
    net = nn.TransformerDecoder(layer(nn.TransformerDecoderLayer), 2)
    x = [sequence(0, 3, 2, 8), sequence(1, 5, 2, 8)]
    return net, x, [net(*x, tgt_mask=causal(3), memory_mask=HIDDEN)]


def transformer(**options):
    def make():
        net = nn.Transformer(8, 2, 2, 1, 12, 0.0, **options, **F64)
        first = options.get("batch_first")
        x = [sequence(0, 2, 5, 8), sequence(1, 2, 3, 8)] if first else [sequence(0, 5, 2, 8), sequence(1, 3, 2, 8)]
        out = net(*x, tgt_mask=causal(3), src_key_padding_mask=PADDING, memory_key_padding_mask=PADDING)
        return net, x, [out]

    return make


CASES = {
    "attention": attention(),
    "masks": attention(call={"attn_mask": HIDDEN, "key_padding_mask": PADDING}, batch_first=True),
    "floats": attention(call={"attn_mask": fill(50, 4, 3, 5), "key_padding_mask": fill(51, 2, 5)}),
    "sizes": attention(sizes=(6, 10)),
    "added": attention(add_bias_kv=True, add_zero_attn=True, call={"attn_mask": HIDDEN}),
    "unbatched": attention(unbatched=True, bias=False, call={"key_padding_mask": PADDING[1]}),
    "weights": attention(call={"need_weights": True, "attn_mask": HIDDEN}),
    "each": attention(call={"need_weights": True, "average_attn_weights": False}, add_zero_attn=True),
    "self": self_attention,
    "encoder_layer": encoder_layer(),
    "encoder_layer_first": encoder_layer(norm_first=True, activation="gelu", bias=False),
    "decoder_layer": decoder_layer(),
    "decoder_layer_first": decoder_layer(norm_first=True, layer_norm_eps=1e-3),
    "encoder": encoder,
    "decoder": decoder,
    "transformer": transformer(),
    "transformer_first": transformer(batch_first=True, norm_first=True, activation="gelu"),
}


def text(values):
    return " ".join(f"{v:.17g}" for v in values)


def main():
    for name, make in CASES.items():
        net, x, outs = with_filled_parameters(make)
        total = sum((out * fill(200 + k, *out.shape)).sum() for k, out in enumerate(outs))
        leaves = [*x, *net.parameters()]
        grads = torch.autograd.grad(total, leaves, allow_unused=True)
        print("case", name)
        print("names", "".join("%s:%s;" % (n, ",".join(map(str, p.shape))) for n, p in net.named_parameters()))
        for out in outs:
            flat = out.detach().flatten()
            print("out", ",".join(map(str, out.shape)), text([flat.norm(), *flat[:: max(1, len(flat) // 8)][:8]]))
        print("grads", text([0.0 if g is None else g.norm() for g in grads]))


def with_filled_parameters(make):
    """Runs make() with parameters that are filled when the outermost module is called."""
    seen = []

    def hook(module, args):
        if not seen:
            seen.append(module)
            for number, p in enumerate(module.parameters()):
                p.data.copy_(fill(number, *p.shape))

    handle = torch.nn.modules.module.register_module_forward_pre_hook(hook)
    try:
        return make()
    finally:
        handle.remove()


main()
