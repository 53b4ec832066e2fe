# SPDX-License-Identifier: Apache-2.0
"""A program with the binding: what people write, and what they are told when it is wrong."""

import gc
import sys

import wick


def refused(word, code, call):
    """The call is; the error says where the program stands."""
    line = sys._getframe(1).f_lineno
    try:
        call()
    except wick.Error as error:
        assert word in str(error), str(error)
        assert error.code == code, error.code
        assert error.file == __file__ and abs(error.line - line) <= 1, (error.file, error.line)
        return
    raise AssertionError(f"nobody refused: {word}")


def values():
    x = wick.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.shape == (2, 2) and x.dtype is wick.f32
    assert (x * 2 + 1).tolist() == [[3, 5], [7, 9]]
    assert (1 - x).tolist() == [[0, -1], [-2, -3]]
    assert (x @ x).tolist() == [[7, 10], [15, 22]]
    assert x.transpose(0, 1).tolist() == [[1, 3], [2, 4]]  # strides
    assert x.select(1, 1).tolist() == [2, 4]
    assert x.sum(dim=0, keepdim=True).tolist() == [[4, 6]]
    assert wick.mse_loss(x, x + 1, reduction="sum").tolist() == 4
    assert wick.tensor([True, False]).dtype is wick.bool and wick.tensor(3).dtype is wick.i64
    assert wick.zeros([0, 3]).tolist() == [] and wick.zeros([2, 0]).tolist() == [[], []]
    assert wick.tensor([1, 300], wick.bf16).tolist() == [1, 300]
    assert wick.arange(3).tolist() == [0, 1, 2]
    assert wick.full_like(x, 7).tolist() == [[7, 7], [7, 7]]


def results():
    largest, places = wick.topk(wick.tensor([3.0, 9.0, 5.0]), 2)
    assert largest.tolist() == [9, 5] and places.tolist() == [1, 2]
    assert len(wick.arange(1000).unbind()) == 1000
    assert [part.tolist() for part in wick.arange(5).chunk(2)] == [[0, 1, 2], [3, 4]]
    x = wick.tensor([2, 1, 2])
    assert len(wick.unique(x)) == 1 and len(wick.unique(x, return_counts=True)) == 2


def in_place():
    x = wick.ones([3])
    y = x.add_(2).mul_(2)
    assert y.handle == x.handle and x.tolist() == [6, 6, 6]
    del y
    gc.collect()
    x.fill_(1)
    assert x.tolist() == [1, 1, 1]


def gradients():
    w = wick.tensor([0.0, 0.0]).requires_grad_()
    x, y = wick.tensor([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]]), wick.tensor([5.0, 5.0, 6.0])
    for _ in range(400):
        wick.mse_loss(x.mv(w), y).backward()
        w = (w - w.grad_of() * 0.1).detach().requires_grad_()
    assert all(abs(have - wanted) < 1e-3 for have, wanted in zip(w.tolist(), [1.0, 2.0])), w
    (slope,) = wick.grad([(w * w).sum()], [w])
    assert abs(slope.tolist()[1] - 4) < 1e-2
    assert wick.ones([1]).requires_grad_().grad_of() is None


def table():
    first = wick.OPS["copy_"].parameters[0]
    assert first.mutated and first.kind == wick.TENSOR and first.default_value.kind == wick.NONE
    reduction = wick.OPS["mse_loss"].parameters[2]
    assert reduction.default_value.text == b"mean" and reduction.choices[1] == b"sum"
    assert wick.OPS["softplus"].parameters[2].default_value.f == 20 and not first.accepts_scalar
    assert wick.OPS["add"].parameters[1].accepts_scalar and wick.OPS["div"].parameters[2].keyword_only


def mistakes():
    x = wick.ones([2, 3])
    refused("add: shapes do not broadcast", 2, lambda: x + wick.ones([4]))
    refused('expected "mean" or "sum" or "none"', 1, lambda: wick.mse_loss(x, x, reduction="total"))
    refused("argument 1 (dim) must be int", 1, lambda: x.softmax("rows"))
    for wrong in (lambda: x.softmax(dimension=1), lambda: x.div(2, "floor"), lambda: x.sum(0, dim=0)):
        try:
            wrong()
            raise AssertionError("taken")
        except TypeError as error:
            assert "(Tensor" in str(error)
    try:
        x.no_such_op()
        raise AssertionError("found")
    except AttributeError:
        pass
    assert x.sum().tolist() == 6  # and goes on


for part in (values, results, in_place, gradients, table, mistakes):
    part()
print("ok")
