#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_ops.py [FOLDER]: writes what follows from the rows of ops (src/ops/specs) into the repository, or FOLDER.

Of each header H of rows/H it writes, formatted by clang-format:

    include/wick/H.h               the forms of call that people write, with their docs
    include/wick/H_calls.h         the exported functions, and the structs of options
    src/ops/generated/H.h          of each op its signature, the part of its descriptor that stands in the row
    src/ops/generated/H_parameters.c  what wk_op_parameter says, each list once
    src/ops/generated/H_SECTION.c  exported functions that only pass their operands on, and the entries for wk_call
    tests/ops/examples_H.c         the examples of the docs as tests

and of all of them src/ops/ops.def, the list of ops, and src/ops/generated/attributes.h, what their gradients read.

For those who develop the library: the files are committed, a build needs no Python. tests/check/generated.sh compares.
The format of rows is described in docs/contributing/ops.md."""

import re
import subprocess
import sys
from pathlib import Path

from opgen.attributes import attributes_text
from opgen.examples import examples_text
from opgen.call_macros import header_text
from opgen.c_functions import calls_text
from opgen.spec import Header, Op, read_header
from opgen.descriptors import functions_text, parameters_text, signatures_text
from opgen.c_text import LICENCE

SOURCE = Path(__file__).resolve().parent.parent
ROWS = SOURCE / "src/ops/specs"


def formatted(text: str) -> str:
    style = f"--style=file:{SOURCE}/.clang-format"
    done = subprocess.run(["clang-format", style, "--assume-filename=x.c"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.rstrip("\n") + "\n"


DEFINITION = re.compile(r"^const wk__op wk__op_(\w+) *=", re.M)


def files_of_ops() -> dict[str, str]:
    """The file below src/ops that defines each op's descriptor."""
    root = SOURCE / "src/ops"
    return {
        name: str(file.relative_to(root))
        for file in sorted(root.rglob("*.c"))
        for name in DEFINITION.findall(file.read_text())
    }


def list_text(ops: list[Op]) -> str:
    files = files_of_ops()
    missing = [op.name for op in ops if op.name not in files]
    if missing:
        sys.exit(f"no file below src/ops defines: {' '.join(missing)}")
    return LICENCE + (
        "/* The ops in alphabetical order, each with the file that defines it. The op table, `wick ops`, wk_call\n"
        " * and the tests are loops over this list. */\n"
        "/* Written by scripts/generate_ops.py from src/ops/specs: edit those. */\n"
        + "".join(f"WK__OP({op.name}) /* {files[op.name]} */\n" for op in sorted(ops, key=lambda op: op.name))
    )


def outputs(header: Header) -> dict[str, str]:
    texts = {
        f"src/ops/generated/{header.name}.h": signatures_text(header),
        f"src/ops/generated/{header.name}_parameters.c": parameters_text(header),
    }
    for section in header.sections:
        texts[f"src/ops/generated/{header.name}_{section.name}.c"] = functions_text(header, section)
    if header.signatures_only:
        return texts
    return texts | {
        f"include/wick/{header.name}.h": header_text(header),
        f"include/wick/{header.name}_calls.h": calls_text(header),
        f"tests/ops/examples_{header.name}.c": examples_text(header),
    }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else SOURCE
    headers = [read_header(folder) for folder in sorted(ROWS.iterdir())]
    for header in headers:
        for name, text in outputs(header).items():
            write(target / name, formatted(text))
    ops = [op for header in headers for op in header.ops]
    write(target / "src/ops/ops.def", list_text(ops))
    write(target / "src/ops/generated/attributes.h", formatted(attributes_text(ops)))


if __name__ == "__main__":
    main(sys.argv[1:])
