# SPDX-License-Identifier: Apache-2.0
"""The comment above a macro of include/wick/H.h: what the call does, then one entry for each thing to know."""

import textwrap

from opgen.c_text import WIDTH, example_text, framed, options_text
from opgen.spec import Argument, Op

LABEL = 11  # columns of "Shapes:" and the like
NEW = "a new tensor, owned by the innermost scope; NULL on error"
DTYPES = {
    "any": "any",
    "numbers": "any but bool",
    "floats": "floating",
    "integers": "integers",
    "integers and bool": "integers and bool",
    "u8": "u8",
}


def call_text(op: Op) -> str:
    """The call with the names of its operands: (...) does not say them."""
    said = [f"({a.c})" if a.is_list and not a.dims else a.c for a in op.operands]
    if op.overloads and not op.numbers_told_apart:
        said = [a.c for a in op.operands_of(op.overloads[0])]
    results = op.results if op.results and not (op.overloads or op.results_in_options) else []
    results = ["out"] if op.list_result else results
    return f"wk_{op.name}({', '.join(said + results)})"


def tensors(op: Op) -> list[Argument]:
    return [a for a in op.operands if a.type.startswith("Tensor")]


def dtypes_text(op: Op) -> str:
    """Which dtypes the call takes, and that of its result."""
    if op.dtype_rule or op.options == "wk_tensor_options":
        return op.dtype_rule
    if op.result == "float":
        return "any; integers and bool are computed in f32"
    if op.result == "bool":
        return "any; out bool"
    mixed = len(tensors(op)) > 1 and op.elementwise
    return DTYPES[op.dtypes] + ("; out has the promoted dtype" if mixed else "")


def returns_text(op: Op) -> str:
    if op.returns:
        return op.returns
    if op.list_result:
        return "the number of tensors in out, which the innermost scope owns; -1 on error, with out[] all NULL"
    if len(op.results) > 1 and not op.overloads:
        names = " and ".join(f"*{name}" for name in op.results)
        return f"WK_OK or an error code; {names} receive new tensors, NULL on error; either pointer may be NULL"
    first = op.operands[0].c
    if op.name.endswith("_"):
        return f"{first}; NULL on error"
    return NEW + (f"; wk_{op.name}_ writes the result into {first} and returns {first}" if op.in_place else "")


def entry(label: str, text: str) -> list[str]:
    """An entry, with its text beside the label."""
    first, *others = textwrap.wrap(text, WIDTH - LABEL, break_on_hyphens=False)
    return [f"{label + ':':<{LABEL}}{first}"] + [" " * LABEL + line for line in others]


def doc_comment(op: Op) -> str:
    summary = textwrap.wrap(f"{call_text(op)}: {op.doc} {op.notes}".rstrip(), WIDTH, break_on_hyphens=False)
    formula = [f"    {line.strip()}" for line in op.formula.split("\n") if line.strip()]
    entries = {
        "Options": options_text(op),
        "Shapes": op.shapes,
        "Dtypes": dtypes_text(op),
        "Gradient": op.gradient,
        "Returns": returns_text(op),
        "Errors": op.errors,
        "Example": example_text(op),
        "PyTorch": op.torch or f"torch.{op.name}",
    }
    texts = [line for label, text in entries.items() if text for line in entry(label, text)]
    return framed(summary + formula + texts)
