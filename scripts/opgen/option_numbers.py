# SPDX-License-Identifier: Apache-2.0
"""Members of the structs of options that the public headers declare, for macros.h."""

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


def kind_of(member: str) -> str:
    """Returns a type that takes any value of a member's type without a message."""
    if "*" in member:
        return "const void"
    return {"double": "double", "wk_device": "wk_device"}.get(member.split()[0], "int64_t")


def all_members(texts: list[str]) -> str:
    """Returns a declaration for each name of an option. Where types differ, that of the first struct counts."""
    found: dict[str, str] = {}
    for text in texts:
        for _, body in STRUCT.findall(text):
            for member in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";"):
                member = member.strip()
                if not member or "(" in member or "[" in member:
                    continue
                for name in re.sub(r"^.*?(\*?\w+(, \*?\w+)*)$", r"\1", member).split(","):
                    found.setdefault(name.strip(" *"), kind_of(member))
    for name in ("size", "by_name"):
        del found[name]
    lines = ""
    for kind in sorted(set(found.values())):
        star = "*" if kind == "const void" else ""
        names = sorted(name for name, known in found.items() if known == kind and len(name) > 1)
        lines += f"{kind} {', '.join(star + name for name in names)}; "
    return lines


def option_numbers_text(headers: Path) -> str:
    """Returns option_numbers.h. A struct whose own header lists the numbers is left to that header."""
    paths = sorted(headers.glob("*.h"), key=lambda path: ("vision" not in path.name, path.name))
    texts = [path.read_text() for path in paths]
    members_of_all = all_members(texts)
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
        + comment("wick/option_numbers.h: the doubles of each struct of options that a header of this folder declares, "
                  "and the names of all options; see macros.h.")
        + f"{GENERATED} from those structs: edit those. */\n"
        + "#ifndef WICK_OPTION_NUMBERS_H\n#define WICK_OPTION_NUMBERS_H\n\n"
        + f"#ifndef __cplusplus\n\n{lines}\n#define WK_OPTION_MEMBERS_ {members_of_all}\n\n#endif\n\n#endif\n"
    )
