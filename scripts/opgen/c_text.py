# SPDX-License-Identifier: Apache-2.0
"""Text of generated files: comments, numbers, examples."""

import math
import textwrap

from opgen.spec import Header, Op

LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
CONSTANTS = {"wk_reduction ": "WK_REDUCE_", "wk_block_format ": "WK_BLOCKS_"}  # enums of options, their constants
WIDTH = 114  # of the text of a comment, between " * " and " */"


def framed(lines: list[str]) -> str:
    """Returns lines as one comment."""
    return "/* " + "\n".join(f" * {line}".rstrip() for line in lines)[3:] + " */\n"


def comment(*paragraphs: str) -> str:
    """Returns paragraphs as one comment; one with an indented line is not wrapped."""
    lines: list[str] = []
    for paragraph in filter(None, (paragraph.strip("\n") for paragraph in paragraphs)):
        for part in paragraph.replace("\n\n\n", "\n\n").split("\n\n"):
            if lines and (part.startswith("  ") or "\n\n" in paragraph):
                lines.append("")
            stays = part.startswith("  ") or "\n  " in part
            lines += part.split("\n") if stays else textwrap.wrap(part, WIDTH)
    return framed(lines)


def heading(title: str) -> str:
    return f"/* ---- {title} ".ljust(117, "-") + " */\n"


def banner(what: str, header: Header) -> str:
    return LICENCE + comment(what) + written(header)


def written(header: Header) -> str:
    return f"/* Written by scripts/generate_ops.py from src/ops/specs/{header.name}: edit those. */\n"


def c_number(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isnan(value):
        return "NAN"
    if isinstance(value, float) and math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = f"{value:.7g}"
    return "-0.0" if text == "-0" else text  # -0 is a whole number in C, and 0


def c_list(values: list[object]) -> str:
    return ", ".join(c_number(value) for value in values)


def c_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def flat(values: object) -> list[object]:
    return [x for row in values for x in flat(row)] if isinstance(values, list) else [values]


def nested(values: object) -> str:
    return f"{{{', '.join(nested(x) for x in values)}}}" if isinstance(values, list) else c_number(values)


def operands_of_example(op: Op) -> dict[str, tuple[str, object]]:
    """Returns the C type and the values of each operand."""
    out = {}
    for name, values in op.example.items():
        if name in ("call", "gives"):
            continue
        if isinstance(values, dict):
            out[name] = ("int64_t", values["i64"])
        else:
            out[name] = ("bool" if isinstance(flat(values)[0], bool) else "double", values)
    return out


def example_text(op: Op) -> str:
    given = ", ".join(f"{name} = {nested(values)}" for name, (_, values) in operands_of_example(op).items())
    gives = nested(op.example["gives"])
    sets = "out" if op.list_result else "values" if "&values" in op.example["call"] else ""
    said = f"sets {sets} to {gives}" if sets else f"is {gives}"
    return f"{op.example['call']} {said}" + (f" for {given}" if given else "")


def options_text(op: Op) -> str:
    """Returns the text of the options: meaning, values, default."""
    texts = []
    for a in op.struct_members:
        if op.options == "wk_tensor_options" and op.name != "zeros":
            return ".dtype, .device, .requires_grad: see wk_zeros"
        is_number = a.c_type in ("double ", "int64_t ", "wk_sizes ") and a.default is not None
        usual = f"default {a.default}" if is_number else ""
        if a.enum:
            names = a.constants(op.name)
            usual = " or ".join(names) + f"; default {names[0]}"
        elif a.c_type in CONSTANTS:
            names = [CONSTANTS[a.c_type] + choice.upper() for choice in a.choices]
            usual = f"{', '.join(names[:-1])} or {names[-1]}; default {names[0]}"
        elif a.choices and not a.is_sizes:
            usual = " or ".join(f'"{choice}"' for choice in a.choices)
        texts.append(f".{a.c}: " + "; ".join(filter(None, [a.doc, usual])) if a.doc or usual else f".{a.c}")
    return ". ".join(texts)
