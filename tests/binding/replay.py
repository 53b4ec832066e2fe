# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of the samples of each op (tests/goldens/ops.txt, described in tests/sweep/pytorch.c), called by
name through the binding: results and gradients. Every second call names the arguments that PyTorch names."""

import math
import re
import sys

import wick

UNITS = {"f64": 64 * 2.0**-52, "f32": 64 * 2.0**-23}  # PyTorch rounds, too, in other places
BY_ELEMENT = {"pointwise", "comparison", "logic", "activation"}  # groups whose elements are as exact each
CANCELS = {"gelu", "tanhshrink"}  # but near its zero


def numbers(text):
    return [float(x) for x in text.split()]


def shaped(flat, shape):
    """Lists of lists from the numbers in order."""
    if not shape:
        return flat[0]
    size = math.prod(shape[1:])
    return [shaped(flat[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])]


def flat(values):
    return [x for part in values for x in flat(part)] if isinstance(values, list) else [values]


class Case:
    """A block of the file: the call, its operands as numbers, and what comes of it."""

    def __init__(self, line):
        _, self.op, self.dtype, self.text = (line + " ").split(" ", 3)
        self.operands, self.results, self.gradients = [], [], {}

    def make(self, shape, fixed, flat_numbers, differentiated):
        dtype = wick.DTYPES[fixed or self.dtype]
        if math.prod(shape) == 0:
            x = wick.zeros(shape, dtype=dtype)
        elif dtype.name[0] in "iu":
            x = wick.tensor(shaped([int(v) for v in flat_numbers], shape), dtype)
        else:
            x = wick.tensor(shaped(flat_numbers, shape), dtype)
        if self.gradients and differentiated and not fixed:
            x.requires_grad_()
        return x

    def arguments(self):
        """Those of the sample, and the tensors among them in order."""
        pattern = r'\[([\d,]*)\](?::(\w+))?(<\d+)?|\(([-\d,]*)\)|"([-\w,.> ]+)"|(\{)|(\})|([-\w.+]+)'
        out, tensors, listed = [], [], None
        for shape, fixed, below, ints, text, opened, closed, word in re.findall(pattern, self.text):
            if opened:
                listed = []
                continue
            if closed:
                value, listed = listed, None
            elif text:
                value = text
            elif word:
                value = self.word(word)
            elif ints or not (shape or fixed or below) and self.is_list(len(out)) and listed is None:
                value = [int(x) for x in ints.split(",") if x]
            else:
                sizes = [int(x) for x in shape.split(",") if x]
                value = self.make(sizes, fixed, self.operands[len(tensors)], not below)
                tensors.append(value)
            (out if listed is None else listed).append(value)
        return out, tensors

    def is_list(self, k):
        return wick.OPS[self.op].parameters[k].kind == wick.INTS

    def word(self, word):
        known = {"none": None, "true": True, "false": False, "cpu": wick.Device(1, 0)}
        if word in known:
            return known[word]
        if word in wick.DTYPES:
            return wick.DTYPES[word]
        return int(word) if re.fullmatch(r"[-+]?\d+", word) else float(word)

    def call(self, args, by_name):
        op = wick.OPS[self.op]
        names = list(op.places)
        count = 1 if by_name else op.positional
        named = {name: x for name, x in zip(names[count:], args[count:]) if x is not None}
        return op(*args[:count], **named)

    def expect(self, what, x, wanted, least=0.0):
        have, dtype = [float(v) for v in flat(x.tolist())] if math.prod(x.shape) else [], x.dtype.name
        if len(have) != len(wanted):
            raise AssertionError(f"{what}: {len(have)} numbers, not {len(wanted)}")
        finite = [abs(w) for w in wanted if math.isfinite(w)]
        each = wick.OPS[self.op].category in BY_ELEMENT and self.op not in CANCELS
        scale = least if each else max([least] + finite)
        for k, (a, b) in enumerate(zip(have, wanted)):
            same = a == b or (math.isnan(a) and math.isnan(b))
            if not same and not abs(a - b) <= UNITS.get(dtype, 0) * max(scale, abs(b)):
                raise AssertionError(f"{what}, element {k}: {a!r}, PyTorch has {b!r}")

    def run(self, by_name):
        args, tensors = self.arguments()
        results = self.call(args, by_name)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(self.results):
            raise AssertionError(f"{len(results)} results, PyTorch has {len(self.results)}")
        for k, (x, (dtype, shape, wanted)) in enumerate(zip(results, self.results)):
            if x.dtype.name != dtype or list(x.shape) != shape:
                raise AssertionError(f"result {k} is {x.dtype} {x.shape}, PyTorch's is {dtype} {shape}")
            self.expect(f"result {k}", x, wanted)
        if not self.gradients:
            return
        n = math.prod(results[0].shape)
        weight = wick.arange(0, n, dtype=wick.f64).remainder(5).add(1).div(4)
        (results[0].to_dtype(wick.f64).reshape([n]) * weight).sum().backward()
        for k, wanted in self.gradients.items():
            gradient = tensors[k].grad_of()
            self.expect(f"gradient {k}", wick.zeros(tensors[k].shape) if gradient is None else gradient, wanted, 1.0)


def cases(path):
    case = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "case":
                if case:
                    yield case
                case = Case(line.rstrip("\n"))
            elif word == "in":
                case.operands.append(numbers(rest))
            elif word == "out":
                dtype, shape, *values = rest.split(" ")
                sizes = [int(x) for x in shape.strip("[]").split(",") if x]
                case.results.append((dtype, sizes, [float(v) for v in values if v]))
            elif word == "grad":
                k, _, values = rest.partition(" ")
                case.gradients[int(k)] = numbers(values)
    yield case


def main(path):
    failed = calls = gradients = 0
    for k, case in enumerate(cases(path)):
        calls, gradients = calls + 1, gradients + len(case.gradients)
        try:
            case.run(by_name=k % 2 == 1)
        except Exception as error:
            failed += 1
            print(f"{case.op} {case.dtype} {case.text}: {type(error).__name__}: {error}")
    print(f"{calls} calls, {gradients} gradients, {failed} differ")
    return 1 if failed or not calls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
