#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_ops.py [FOLDER]: generates files from the specs of ops (src/ops/specs), in the repository or in FOLDER.

For each folder H of specs it writes these files, formatted by clang-format:

    include/wick/H.h                  the call forms that programs use, with their docs
    include/wick/H_calls.h            declarations of the exported functions, and the option structs
    src/ops/generated/H.h             the signature of each op: the part of its descriptor that the spec determines
    src/ops/generated/H_parameters.c  the parameter lists for wk_op_parameter, each distinct list once
    src/ops/generated/H_SECTION.c     exported functions whose body is one call, and the entries for wk_call
    tests/ops/examples_H.c            the examples of the docs as tests

and for all specs together src/ops/ops.def, the list of ops, and src/ops/generated/attributes.h, the non-tensor
arguments that gradients read. include/wick/option_numbers.h lists the doubles of the structs of options in the headers
that are written by hand.

The files are committed, so a build needs no Python; tests/check/generated.sh compares them with the specs.
docs/contributing/ops.md describes the format of specs."""

import re
import subprocess
import sys
from pathlib import Path

from opgen.attributes import attributes_text
from opgen.examples import examples_text
from opgen.call_macros import header_text
from opgen.option_numbers import option_numbers_text
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


def check_constants(ops: list[Op]) -> None:
    """Ends the program if two options share the number of a constant."""
    owners: dict[int, str] = {}
    for op in ops:
        for a in op.option_arguments:
            for value in range(a.enum, a.enum + len(a.choices)) if a.enum else ():
                if owners.setdefault(value, f"{op.name}.{a.name}") != f"{op.name}.{a.name}":
                    sys.exit(f"{op.name}.{a.name} and {owners[value]} share the number {value}; change enum")


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else SOURCE
    headers = [read_header(folder) for folder in sorted(ROWS.iterdir())]
    check_constants([op for header in headers for op in header.ops])
    for header in headers:
        for name, text in outputs(header).items():
            write(target / name, formatted(text))
    ops = [op for header in headers for op in header.ops]
    write(target / "src/ops/ops.def", list_text(ops))
    write(target / "src/ops/generated/attributes.h", formatted(attributes_text(ops)))
    write(target / "include/wick/option_numbers.h", formatted(option_numbers_text(SOURCE / "include/wick")))


if __name__ == "__main__":
    main(sys.argv[1:])
