# SPDX-License-Identifier: Apache-2.0
"""src/ops/generated/HEADER.h: what the gradients of an op read besides tensors, by name, and its places in wk__attr."""

import sys

from ops.rows import Op
from ops.texts import comment

C_TYPES = {"int": "int64_t", "bool": "bool", "float": "double"}
PLACES = {"int": ("i", 4), "bool": ("i", 4), "float": ("f", 2)}  # the array in wk__attr, and how many it holds


def families(ops: list[Op]) -> dict[str, list[str]]:
    """The attributes of each family of ops that has some; the program ends where rows disagree."""
    found: dict[str, list[str]] = {}
    for op in ops:
        if op.attributes and found.setdefault(op.family, op.attributes) != op.attributes:
            sys.exit(f"{op.name}: the attributes of {op.family} stand in two rows, and differ")
    for op in ops:
        if op.attributes_of and op.family not in found:
            sys.exit(f"{op.name}: no row has the attributes of {op.family}")
    return found


def attributes_text(name: str, attributes: list[str]) -> str:
    """The struct of a family, how it is put into wk__attr and how it is read from there."""
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


def attributes(ops: list[Op]) -> str:
    texts = [attributes_text(name, members) for name, members in families(ops).items()]
    if not texts:
        return ""
    head = comment("What gradients read of a call besides its tensors, and its places in the attributes of the node.")
    return "\n" + head + "\n".join(texts)
