# SPDX-License-Identifier: Apache-2.0
"""The doubles of the structs of options that the public headers declare, for macros.h."""

import re
from pathlib import Path

from opgen.c_text import LICENCE, comment

STRUCT = re.compile(r"^typedef struct (wk_\w+_options) \{\n(.*?)^\} \1;", re.M | re.S)
DOUBLES = re.compile(r"^\s*double ([\w, ]+);", re.M)
LISTED = re.compile(r"^#define (wk_\w+_options)_numbers_\(", re.M)
GENERATED = "/* Written by scripts/generate_ops.py"


def members(struct: str) -> list[str]:
    code = re.sub(r"/\*.*?\*/", "", struct, flags=re.S)
    return [name.strip() for names in DOUBLES.findall(code) for name in names.split(",")]


def option_numbers_text(headers: Path) -> str:
    """Returns option_numbers.h. A struct whose own header lists the numbers is left to that header."""
    texts = [path.read_text() for path in sorted(headers.glob("*.h"))]
    texts = [text for text in texts if GENERATED not in text]
    listed = {name for text in texts for name in LISTED.findall(text)}
    structs = sorted((name, members(body)) for text in texts for name, body in STRUCT.findall(text))
    lines = "\n".join(  # an empty line between them, as clang-format would align their bodies
        f"#define {name}_numbers_(wk_do_, wk_o_) {' '.join(f'wk_do_(wk_o_, {number})' for number in numbers)}\n"
        for name, numbers in structs
        if name not in listed
    )
    return (
        LICENCE
        + comment("wick/option_numbers.h: the doubles of each struct of options that a header of this folder declares; "
                  "see macros.h.")
        + f"{GENERATED} from those structs: edit those. */\n"
        + "#ifndef WICK_OPTION_NUMBERS_H\n#define WICK_OPTION_NUMBERS_H\n\n"
        + f"#ifndef __cplusplus\n\n{lines}\n#endif\n\n#endif\n"
    )
