# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of the samples of each row, for tests/sweep/pytorch.c, which says how the lines are read:

    build/debug/tests/sweep_pytorch --list | python3 tests/goldens/make_ops.py > tests/goldens/ops.txt
    build/debug/tests/sweep_pytorch --list | python3 tests/goldens/make_ops.py NAME...

Without names it is the whole file; with names, those of rows (copy_, not copy), the lines of these rows alone, to be
put in. Each line of the list is a row: name, group, low, high, whether it has a gradient, schema, sample.
"""

import math
import random
import re
import sys


def rows_of(lines, names):
    """The rows of these names, or all; ends with a message where the list or a name is none."""
    rows = [line.rstrip("\n").split("\t") for line in lines]
    known = {row[0] for row in rows}
    if not rows or any(len(row) != 7 for row in rows):
        sys.exit(__doc__ + "\nmake_ops.py: what comes in is no list of rows: pipe `sweep_pytorch --list` into it")
    for name in names:
        if name not in known:
            sys.exit(f"make_ops.py: there is no row \"{name}\" in the list; names are those of src/ops/ops.def")
    return [row for row in rows if not names or row[0] in names]


if any(argument.startswith("-") for argument in sys.argv[1:]) or sys.stdin.isatty():
    sys.exit(__doc__)
ROWS = rows_of(sys.stdin, sys.argv[1:])

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit("make_ops.py: PyTorch is not there; this is to be run where it is")

DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
    "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST = 64  # numbers of a tensor

RANDOM = "random numbers: Wick's stream is Philox, PyTorch's is not"
NONE = {
    "dequantize": "PyTorch's has other blocks",
    "rand": RANDOM, "randn": RANDOM, "rand_like": RANDOM, "randn_like": RANDOM, "randint": RANDOM, "randperm": RANDOM,
    "uniform_": RANDOM, "normal_": RANDOM, "dropout": RANDOM, "bernoulli": RANDOM, "multinomial": RANDOM,
    "dropout1d": RANDOM, "dropout2d": RANDOM, "dropout3d": RANDOM, "alpha_dropout": RANDOM,
    "feature_alpha_dropout": RANDOM,
    "empty": "has no numbers in PyTorch", "empty_like": "has no numbers in PyTorch", "to": "moves to a device",
}  # fmt: skip

RANDOM_WITH = {"rrelu": "true"}  # samples that end so draw random numbers

# Where Wick goes another way on purpose; docs/contributing/invariants.md and the headers say so.
OTHER_GRADIENT = {
    "ctc_loss": "PyTorch's is that of the scores before log_softmax",
    "hardsigmoid": "PyTorch has 1/6 as a float",
    "cosine_similarity [4,5], [4,5], 1, 3": "PyTorch differentiates lengths below eps as if they counted",
    **{f"index_put {sample}": "as scatter" for sample in ("[5], {[3]:i64<5}, [3]", "[3,4], {[2]:i64<3}, [4], false",
                                                          "[3,4], {[2,1]:i64<3 [3]:i64<4}, [2,3]",
                                                          "[3,4], {[2,2]:i64<3}, []")},
    "index_copy": "as scatter",
    'interpolate [1,1,3,4], none, 1.1, "bilinear", false, false, true': "only PyTorch's forward copies equal sizes",
    'interpolate [1,1,4,3], none, none, "bicubic", false, false, true, none, 2.0, 1.1': "as above",
    "scatter": "where several sources meet in a place, PyTorch gives all of them the gradient, Wick the one that stays",
}  # fmt: skip
CONVOLUTIONS = [f"conv{form}{d}d{end}" for d in "123" for form, end in (("", ""), ("_transpose", ""), ("", "_input"),
                                                                       ("", "_weight"))]  # fmt: skip
POOLS = [f"{name}_pool{d}d" for name in ("max", "avg", "lp", "adaptive_max", "adaptive_avg") for d in "123"]
OTHER = {
    **{(f"{name}_pool{d}d", dtype): "floating-point only"
       for name in ("avg", "lp") for d in "123" for dtype in ("i64", "u8", "bool")},
    **{(name, dtype): "floating-point only" for name in CONVOLUTIONS for dtype in ("i64", "u8", "bool")},
    ("interpolate", "u8"): "floating-point only",
    ("all", "u8"): "bool, as of every dtype", ("any", "u8"): "bool, as of every dtype",
    ("addcmul", "u8"): "a fraction makes a product of whole numbers a fraction",
    ("addcmul", "i64"): "a fraction makes a product of whole numbers a fraction",
    ("logsumexp", "i64"): "refused, as by softmax", ("logsumexp", "u8"): "refused, as by softmax",
    ("logsumexp", "bool"): "refused, as by softmax",
    ("local_response_norm", "i64"): "refused, as by other normalisations",
    ("square", "bool"): "refused, as other arithmetic of truth values",
}  # fmt: skip
OTHER_RESULT = {"conv1d [2,0,7], [4,0,3], [4]"}  # PyTorch returns no channels where there are none to sum over
FLOATS_ONLY = [
    "cosine_embedding_loss", "margin_ranking_loss", "pairwise_distance", "poisson_nll_loss", "triplet_margin_loss",
]  # fmt: skip
OTHER |= {(name, dtype): "refused, as by other losses" for name in FLOATS_ONLY for dtype in ("i64", "u8", "bool")}
TIES = {"sort", "argsort", "topk", "kthvalue", "median", "argmax", "argmin"}  # which of equals PyTorch does not say

# ---- calls: what is not torch.NAME, torch.nn.functional.NAME or a method of tensors with the schema's arguments ----


def reduction(call):
    def named(a, b, reduction="mean", weight=None, **options):
        if weight is not None:
            options["weight"] = weight.to(a.dtype)
        if options.get("pos_weight") is not None:
            options["pos_weight"] = options["pos_weight"].to(a.dtype)
        return call(a, b, reduction=reduction, **options)

    named.by_name_from = 2
    return named


def by_name(call, operands):
    """Losses whose arguments after the operands have another order in PyTorch."""

    def named(*args, weight=None, **options):
        if weight is not None:
            options["weight"] = weight.to(args[0].dtype)
        return call(*args, **options)

    named.by_name_from = operands
    return named


def soft_margin_loss(x, target, reduction="mean"):
    """PyTorch's has no gradient of the target, so that of its formula is taken."""
    loss = F.softplus(-target * x, threshold=100)
    loss = loss if reduction == "none" else getattr(loss, reduction)()
    torch.testing.assert_close(loss, F.soft_margin_loss(x, target.detach(), reduction=reduction))
    return loss


def reduce_all(name):
    """Reductions over all dimensions or some of them, where PyTorch takes one."""

    def call(x, dim=None, keepdim=False):
        if dim is None:
            return getattr(torch, name)(x)
        for d in sorted((d % max(x.ndim, 1) for d in (dim or range(x.ndim))), reverse=True):
            x = getattr(torch, name)(x, d, keepdim)
        return x

    return call


def dims(call):
    """PyTorch spells "all" as the empty list or not at all."""

    def over(x, dim=None, keepdim=False):
        return call(x, tuple(range(x.ndim)) if not dim else tuple(dim), keepdim)

    return over


def median(x, dim=None, keepdim=False):
    return torch.median(x) if dim is None else torch.median(x, dim, keepdim)


def unique(x, sorted=True, return_inverse=False, return_counts=False):
    return torch.unique(x, True, return_inverse, return_counts)


def into(name):
    return lambda x, *args: getattr(x.clone(), name)(*args)


def pool(name):
    """A size of an adaptive pooling that is kept is -1 in Wick."""

    def call(x, *args, **options):
        if name.startswith("adaptive"):
            sizes = args[0] if isinstance(args[0], list) else [args[0]] * int(name[-2])
            args = ([None if n == -1 else n for n in sizes], *args[1:])
        return getattr(F, name)(x, *args, **options)

    return call


def slices(x, dim=0, start=None, end=None, step=1):
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False, **options):
    """PyTorch refuses align_corners, even if it is false, in modes that do not have it, and takes scales as a list."""
    scales = [options.pop(f"scales_{d}", None) for d in "dhw"][5 - x.ndim :]
    if any(scales):
        scale_factor = [scale or scale_factor or 1.0 for scale in scales]
    options["align_corners"] = align_corners if "linear" in mode or "cubic" in mode else None
    return F.interpolate(x, size, scale_factor, mode, **options)


CALLS = {
    "interpolate": interpolate,
    "im2col": F.unfold,
    "col2im": F.fold,
    **{name: pool(name) for name in POOLS},
    "slice": slices,
    "to_dtype": lambda x, dtype: x.to(dtype),
    "copy_": into("copy_"),
    "fill_": into("fill_"),
    "embedding": lambda input, weight: F.embedding(input, weight),
    "batch_norm": lambda input, running_mean=None, running_var=None, *rest, **named: F.batch_norm(
        input, running_mean, running_var, *rest, **named
    ),
    "instance_norm": F.instance_norm,
    "group_norm": F.group_norm,
    "rms_norm": F.rms_norm,
    "mse_loss": reduction(F.mse_loss),
    "l1_loss": reduction(F.l1_loss),
    "huber_loss": reduction(F.huber_loss),
    "smooth_l1_loss": reduction(F.smooth_l1_loss),
    "binary_cross_entropy": reduction(F.binary_cross_entropy),
    "binary_cross_entropy_with_logits": reduction(F.binary_cross_entropy_with_logits),
    "kl_div": reduction(F.kl_div),
    "soft_margin_loss": soft_margin_loss,
    "margin_ranking_loss": by_name(F.margin_ranking_loss, 3),
    "poisson_nll_loss": by_name(F.poisson_nll_loss, 2),
    "multi_margin_loss": by_name(F.multi_margin_loss, 2),
    "cosine_embedding_loss": by_name(F.cosine_embedding_loss, 3),
    "triplet_margin_loss": by_name(F.triplet_margin_loss, 3),
    "cross_entropy": reduction(F.cross_entropy),
    "nll_loss": reduction(F.nll_loss),
    "all": reduce_all("all"),
    "any": reduce_all("any"),
    "prod": lambda x, dim=None, keepdim=False, dtype=None: prod(x, dim, keepdim, dtype),
    "count_nonzero": lambda x, dim=None, keepdim=False: count_nonzero(x, dim, keepdim),
    "logsumexp": dims(torch.logsumexp),
    "median": median,
    "unique": unique,
    "ctc_loss": F.ctc_loss,
    "swiglu": lambda x, dim=-1: F.silu(x.chunk(2, dim)[0]) * x.chunk(2, dim)[1],
    "geglu": lambda x, dim=-1: F.gelu(x.chunk(2, dim)[0]) * x.chunk(2, dim)[1],
    "embedding_bag": F.embedding_bag,
    "einsum": lambda equation, tensors: torch.einsum(equation, *tensors),
    "tensordot": lambda a, b, dims_self, dims_other: torch.tensordot(a, b, (dims_self, dims_other)),
    "meshgrid": lambda tensors, indexing="ij": torch.meshgrid(*tensors, indexing=indexing),
    "unfold": torch.Tensor.unfold,
    "nonzero_numpy": lambda x: torch.nonzero(x, as_tuple=True),
    "one_hot": lambda x, num_classes=-1: F.one_hot(x, num_classes),
    "where": lambda condition, self, other: torch.where(condition.bool(), self, other),
    "pow": lambda self, exponent: torch.pow(self, exponent),
    "linear": F.linear,
    **{name: getattr(torch.nn.grad if "_" in name and "transpose" not in name else F, name) for name in CONVOLUTIONS},
    "repeat_interleave": lambda x, repeats, dim=None: torch.repeat_interleave(x, repeats, dim),
    "roll": lambda x, shifts, dims=(): torch.roll(x, shifts, dims),
    "norm": lambda x, p=2, dim=None, keepdim=False: torch.linalg.vector_norm(x, p, dim or None, keepdim),
    "index_add": lambda x, dim, index, source: torch.index_add(x, dim, index, source),
    "lerp": lambda x, end, weight: torch.lerp(x, end, weight),
    "gelu": lambda x, approximate="none": F.gelu(x, approximate=approximate),
    "round": lambda x, decimals=0: torch.round(x, decimals=decimals) if decimals else torch.round(x),
    "div": lambda x, y, rounding_mode=None: torch.div(x, y, rounding_mode=rounding_mode),
    "addmm": lambda x, a, b, beta=1, alpha=1: torch.addmm(x, a, b, beta=beta, alpha=alpha),
    "baddbmm": lambda x, a, b, beta=1, alpha=1: torch.baddbmm(x, a, b, beta=beta, alpha=alpha),
}


def prod(x, dim, keepdim, dtype):
    if dim is None:
        return torch.prod(x, dtype=dtype)
    for d in sorted((d % max(x.ndim, 1) for d in (dim or range(x.ndim))), reverse=True):
        x = torch.prod(x, d, keepdim, dtype=dtype)
    return x


def count_nonzero(x, dim, keepdim):
    dim = tuple(range(x.ndim)) if not dim else tuple(dim)
    count = torch.count_nonzero(x, dim)
    return torch.sum(x != 0, dim, keepdim) if keepdim else count


def function(name):
    if name in CALLS:
        return CALLS[name]
    for place in (torch, F, torch.Tensor):
        if hasattr(place, name):
            return getattr(place, name)
    return None


# ---- samples: the notation of tests/support/sweep/sweep.h ----


def split(text):
    """At the commas that are in no bracket and no text."""
    parts, depth, part, quoted = [], 0, "", False
    for c in text:
        quoted ^= c == '"'
        if not quoted:
            depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0 and not quoted:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()] if text.strip() else []


class Operand:
    def __init__(self, text):
        shape, dtype, below = re.fullmatch(r"\[([^]]*)\](?::(\w+))?(?:<(\d+))?", text).groups()
        self.shape = [int(n) for n in shape.split(",") if n.strip()]
        self.dtype = dtype
        self.below = int(below) if below else 0

    def numbers(self, draw, dtype, low, high):
        dtype = self.dtype or dtype
        count = math.prod(self.shape)
        if self.below:
            return [draw.randrange(self.below) for _ in range(count)]
        if dtype == "bool":
            return [draw.randrange(2) for _ in range(count)]
        if dtype[0] in "iu":
            least = max(math.ceil(low), 0 if dtype == "u8" else -9)
            most = max(min(math.floor(high), 9), least)
            return [draw.randint(least, most) for _ in range(count)]
        return [(2 * math.floor(draw.uniform(low, high) * 2048) + 1) / 4096 for _ in range(count)]  # hardly ever equal


def parse(text, operands):
    if text.startswith("["):
        operands.append(Operand(text))
        return operands[-1]
    if text.startswith("{"):
        return [parse(part, operands) for part in re.findall(r"\[[^]]*\][^\s}]*", text)]
    if text.startswith("("):
        return [int(n) for n in text[1:-1].split(",") if n.strip()]
    if text.startswith('"'):
        return text[1:-1]
    if text in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text]
    if text in DTYPES:
        return DTYPES[text]
    if text == "cpu":
        return torch.device("cpu")
    return float(text) if re.search(r"[.eain]", text) else int(text)


def parameters(schema):
    """Names in order, and from which on they are given by name."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    names, keyword = [], None
    for part in split(inside):
        if part == "*":
            keyword = len(names)
        else:
            names.append(part.split("=")[0].split()[-1])
    return names, len(names) if keyword is None else keyword


# ---- cases ----


def text_of(numbers):
    return " ".join(repr(x) if isinstance(x, int) else format(x, ".17g") for x in numbers)


def flat(x):
    return [int(v) if isinstance(v, bool) else v for v in x.detach().reshape(-1).tolist()]


def call(name, schema, args):
    f = function(name)
    names, keyword = parameters(schema)
    given = {n: a for n, a in zip(names, args)}
    positional, named = [], {}
    keyword = min(keyword, getattr(f, "by_name_from", keyword))
    for k, n in enumerate(names):
        if given.get(n) is None:
            continue
        if k < keyword and len(positional) == k:
            positional.append(given[n])
        else:
            named[n] = given[n]
    try:
        return f(*positional, **named)
    except TypeError:  # Wick takes a number for any tensor
        return f(*(torch.tensor(a) if isinstance(a, (int, float)) else a for a in positional), **named)


def results_of(x):
    return [x] if isinstance(x, torch.Tensor) else list(x)


def case(row, dtype, operand_numbers=None):
    name, low, high, gradient, schema, sample = row
    draw = random.Random(f"{name} {dtype} {sample}")
    operands = []
    args = [parse(part, operands) for part in split(sample)]
    numbers = operand_numbers or [o.numbers(draw, dtype, float(low), float(high)) for o in operands]
    if any(len(n) > MOST for n in numbers):
        return None
    tensors = {}
    for o, n in zip(operands, numbers):
        t = torch.tensor([float(v) for v in n], dtype=torch.float64).reshape(o.shape).to(DTYPES[o.dtype or dtype])
        if gradient == "1" and dtype == "f64" and not (o.dtype or o.below) and not name.endswith("_"):
            t.requires_grad_(True)
        tensors[o] = t

    def value(a):
        if isinstance(a, Operand):
            return tensors[a]
        return [value(b) for b in a] if isinstance(a, list) and a and isinstance(a[0], Operand) else a

    results = results_of(call(name, schema, [value(a) for a in args]))
    if any(r.numel() > 4 * MOST or r.dtype not in NAMES for r in results):
        return None
    lines = [f"case {name} {dtype} {sample}"]
    lines += [f"in {text_of(n)}".rstrip() + ("" if n else " ") for n in numbers]
    lines += [f"out {NAMES[r.dtype]} [{','.join(map(str, r.shape))}] {text_of(flat(r))}" for r in results]
    other = {name, f"{name} {sample}"} & OTHER_GRADIENT.keys()
    if results[0].requires_grad and results[0].is_floating_point() and not other:
        weight = ((torch.arange(results[0].numel()) % 5 + 1) / 4).to(torch.float64)
        leaves = [(k, tensors[o]) for k, o in enumerate(operands) if tensors[o].requires_grad]
        try:
            total = (results[0].reshape(-1) * weight).sum()
            grads = torch.autograd.grad(total, [t for _, t in leaves], allow_unused=True)
        except RuntimeError as error:
            print(name, sample, "no gradient:", str(error).splitlines()[0], file=sys.stderr)
            leaves = grads = []
        for (k, t), g in zip(leaves, grads):
            lines.append(f"grad {k} {text_of(flat(torch.zeros_like(t) if g is None else g))}".rstrip())
    return "\n".join(lines)


EXTREMES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 1e-3, 20.0, -20.0, math.inf, -math.inf, math.nan]


def extremes(row):
    """One operand at zeros, infinities and NaN; two at all pairs of some of them."""
    name, low, high, gradient, schema, sample = row
    if re.fullmatch(r"\[[^]]*\]", sample):
        return (name, low, high, "0", schema, f"[{len(EXTREMES)}]"), [EXTREMES]
    if re.fullmatch(r"\[[^]]*\], \[[^]]*\]", sample):
        some = EXTREMES[:4] + EXTREMES[6:8] + EXTREMES[-3:-1]
        n = len(some)
        pair = [[a for a in some for _ in some], [b for _ in some for b in some]]
        return (name, low, high, "0", schema, f"[{n * n}], [{n * n}]"), pair
    return None


def main():
    done, left_out = set(), []
    for row in ROWS:
        name, group = row[0], row.pop(1)
        if name in NONE or function(name) is None:
            if name not in done:
                print(f"none {name} {NONE.get(name, 'PyTorch has no such function')}")
            done.add(name)
            continue
        if name in RANDOM_WITH and row[-1].endswith(RANDOM_WITH[name]):
            continue
        others = ["f32", "i64", "u8", "bool"] if row is [r for r in ROWS if r[0] == name][:2][-1] else []
        attempts = [(row, dtype, None) for dtype in ["f64"] + others if (name, dtype) not in OTHER]
        attempts = attempts if f"{name} {row[5]}" not in OTHER_RESULT else []
        if name in TIES:
            attempts = [a for a in attempts if a[1] in ("f64", "f32")]
        if others and group == "pointwise" and extremes(row):
            special, numbers = extremes(row)
            attempts.append((special, "f64", numbers))
        for attempt in attempts:
            try:
                text = case(*attempt)
            except Exception as error:
                left_out.append(f"{name} {attempt[1]} {attempt[0][5]}: {str(error).splitlines()[0][:90]}")
                continue
            if text:
                print(text)
                done.add(name)
    for text in left_out:
        print("#", text)


main()
