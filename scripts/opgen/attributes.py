# SPDX-License-Identifier: Apache-2.0
"""src/ops/generated/attributes.h: named attributes that gradients read, and their positions in wk__attr."""

import sys

from opgen.spec import Op
from opgen.c_text import LICENCE, comment

C_TYPES = {"int": "int64_t", "bool": "bool", "float": "double"}
PLACES = {"int": ("i", 4), "bool": ("i", 4), "float": ("f", 2)}  # the array in wk__attr, and how many it holds


def families(ops: list[Op]) -> dict[str, list[str]]:
    """Returns the attributes of each family of ops; exits if rows disagree."""
    found: dict[str, list[str]] = {}
    for op in ops:
        if op.attributes and found.setdefault(op.family, op.attributes) != op.attributes:
            sys.exit(f"{op.name}: two rows have different attributes of {op.family}")
    for op in ops:
        if op.attributes_of and op.family not in found:
            sys.exit(f"{op.name}: no row has the attributes of {op.family}")
    return found


def family_text(name: str, attributes: list[str]) -> str:
    """Returns the struct of a family and its conversions to and from wk__attr."""
    members, reads = [], []
    written: dict[str, list[str]] = {"i": [], "f": []}
    for attribute in attributes:
        kind, member = attribute.split()
        place, most = PLACES[kind]
        if len(written[place]) == most:
            sys.exit(f"{name}: wk__attr has room for {most} attributes like {attribute}")
        test = " != 0" if kind == "bool" else ""
        members.append(f"    {C_TYPES[kind]} {member};\n")
        reads.append(f".{member} = attr->{place}[{len(written[place])}]{test}")
        written[place].append(f"a.{member}")
    struct = f"wk__{name}_attributes"
    places = ", ".join(f".{place} = {{{', '.join(values)}}}" for place, values in written.items() if values)
    return (
        f"typedef struct {struct} {{\n{''.join(members)}}} {struct};\n"
        f"static inline wk__attr wk__{name}_attr({struct} a)\n{{\n    return (wk__attr){{{places}}};\n}}\n"
        f"static inline {struct} {struct}_of(const wk__attr *attr)\n"
        f"{{\n    return ({struct}){{{', '.join(reads)}}};\n}}\n"
    )


def attributes_text(ops: list[Op]) -> str:
    guard = "WICK_OPS_GENERATED_ATTRIBUTES_H"
    head = comment(
        "The attributes that gradients read besides tensors: a struct for each family of ops, and its conversions to "
        "and from the attributes of a node."
    )
    return (
        f"{LICENCE}{head}/* Written by scripts/generate_ops.py from src/ops/specs: edit those. */\n"
        f'#ifndef {guard}\n#define {guard}\n\n#include "autograd/node.h"\n\n'
        + "\n".join(family_text(name, members) for name, members in families(ops).items())
        + "\n#endif\n"
    )
