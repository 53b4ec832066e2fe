#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_ops.py [FOLDER]: writes what follows from the rows of ops (src/ops/rows) into the repository, or FOLDER.

Of each header H of rows/H it writes, formatted by clang-format:

    include/wick/H.h               the forms of call that people write, with their docs
    include/wick/H_calls.h         the exported functions, and the structs of options
    src/ops/generated/H.h          of each op its signature, the part of its descriptor that stands in the row
    src/ops/generated/H_SECTION.c  exported functions that only pass their operands on, and the entries for wk_call
    tests/ops_examples_H.c         the examples of the docs as tests

For those who develop the library: the files are committed, a build needs no Python. tests/check_generated.sh compares.
The format of rows is described in docs/design.md, section 7."""

import math
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
ROWS = SOURCE / "src/ops/rows"
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
WIDTH = 114  # of the text of a comment, between " * " and " */"

DTYPES = {
    "any": None,
    "numbers": "WK__NUMBERS",
    "floats": "WK__FLOATS",
    "integers": "WK__INTS",
    "integers and bool": "WK__INTS | WK__BOOLS",
}
RESULTS = {"same": None, "float": "WK__RESULT_FLOAT", "bool": "WK__RESULT_BOOL"}
C_TYPES = {
    "Tensor": "wk_tensor *",
    "float": "double ",
    "Scalar": "double ",
    "int": "int64_t ",
    "bool": "bool ",
    "dtype": "wk_dtype ",
    "Device": "wk_device ",
    "str": "const char *",
}
SIZES = {"bool ": 1, "int ": 4, "wk_dtype ": 4, "wk_reduction ": 4}  # of a member; the others have 8


# ---- rows ------------------------------------------------------------------------------------------------------------


@dataclass
class Argument:
    """A parameter of an op, as PyTorch names it."""

    name: str
    type: str  # Tensor, Tensor[], int[], int, bool, float, Scalar, dtype, str; ? may be left out, (a!) is written over
    c: str = ""  # its name in C, where that differs
    c_type: str = ""  # its type in C, where that does not follow
    count: str = "count"  # of a list: the parameter with its length, "" where another list has it
    said: str = ""  # of a list: one as it is written
    dims: bool = False  # one dimension or none, in C a list
    default: object = None
    usual: object = None  # the number that stands for one that is left out, where it is the same for every call
    omit: bool = False  # in C, too, it may be left out: the last of all
    keyword: bool = False  # in Python by name only
    option: bool | None = None  # in C a member of the struct of options; if not said, whatever is no tensor or list
    absent: bool = False  # not in C: it changes nothing
    number: bool = False  # a tensor that may be a number
    choices: list[str] = field(default_factory=list)  # the texts that a str may be
    enum: bool = False  # in C the choices are WK_NAME_CHOICE
    doc: str = ""

    def __post_init__(self) -> None:
        self.c = self.c or self.name
        base = self.type.rstrip("?").removesuffix("(a!)")
        self.is_list = base.endswith("[]") or self.dims
        self.is_tensor = base == "Tensor"
        self.element = "wk_tensor *const *" if base == "Tensor[]" else "const int64_t *"
        if self.option is None:
            self.option = not (self.is_tensor or self.is_list or self.absent)
        if not self.is_list:
            self.c_type = self.c_type or ("int " if self.enum else C_TYPES[base])

    @property
    def schema(self) -> str:
        default = "=None" if self.type.endswith("?") else ""
        if self.default is not None:
            default = f'="{self.default}"' if isinstance(self.default, str) else f"={self.default}"
        return f"{self.type} {self.name}{default}"

    @property
    def is_marked(self) -> bool:
        """Is it a number among options for which 0 is not what it is when left out?"""
        return self.c_type == "double " and self.usual != 0 and self.default != 0

    @property
    def parameters(self) -> list[str]:
        if self.is_list:
            return [self.element + self.c] + ([f"int {self.count}"] if self.count else [])
        return [("wk_value " if self.number else self.c_type) + self.c]


@dataclass
class Overload:
    """One of the functions of an op that has several."""

    name: str
    arguments: list[str]
    results: list[str] = field(default_factory=list)
    number: str = ""  # a number behind these


@dataclass
class Op:
    """One row."""

    name: str
    doc: str
    group: str
    arguments: list[Argument]
    example: dict[str, object] = field(default_factory=dict)
    notes: str = ""
    errors: str = ""
    torch: str = ""  # what PyTorch calls it, where that differs
    elementwise: bool = True  # its functions only pass their operands on
    in_place: bool = False
    dtypes: str = "any"
    result: str = "same"
    results: list[str] = field(default_factory=list)  # the names of several
    list_result: bool = False  # a list of tensors, in C into an array: the function returns how many
    results_in_options: bool = False  # in C the options say where the others go
    node: str = ""  # what a result prints as grad_fn
    number_node: dict[str, str] = field(default_factory=dict)  # the same where an argument is a number
    dims_node: str = ""  # and where dimensions are named
    arity: int = 0  # operands of the expression, where there is one that does not take all arguments
    waits: bool = False  # for the device, as the shape of its result depends on data
    entry: bool = False  # the op's file has wk__NAME and wk__NAME_, which the functions call
    own_invoke: bool = False  # the op's file has the entry for wk_call
    macro: str = ""  # its form is a macro of macros.h, WK_NAME_(parameters)
    cpp: bool = False  # that form is for C, and C++ has one without options
    plain: bool = False  # there is wk_NAME(x) beside options, as a function
    options: str = ""  # the struct of options, where ops share one
    members: list[str] = field(default_factory=list)  # their order in that struct, where it is not that of arguments
    with_options: str = ""  # the function of a call with options, where one without has its own
    overloads: list[Overload] = field(default_factory=list)  # its functions, where they are several

    def __post_init__(self) -> None:
        self.doc = " ".join(self.doc.split())
        self.arguments = [Argument(**a) for a in self.arguments]
        for before, a in zip(self.arguments, self.arguments[1:]):
            a.keyword = a.keyword or before.keyword
        self.overloads = [Overload(**o) for o in self.overloads]
        if self.option_arguments and not self.options:
            self.options = f"wk_{self.name}_options"
        if self.elementwise:
            floats = [a for a in self.option_arguments if a.type.startswith("float")]
            self.arity = len(self.operands) + len(floats)

    @property
    def operands(self) -> list[Argument]:
        return [a for a in self.arguments if not (a.option or a.absent)]

    @property
    def option_arguments(self) -> list[Argument]:
        return [a for a in self.arguments if a.option]

    @property
    def struct_members(self) -> list[Argument]:
        by_name = {a.name: a for a in self.option_arguments}
        return [by_name[name] for name in self.members] or self.option_arguments

    @property
    def is_unary(self) -> bool:
        return len(self.arguments) == 1

    @property
    def takes_either(self) -> bool:
        """A tensor or a number on either side."""
        return len(self.operands) == 2 and all(a.number for a in self.operands)

    @property
    def schema(self) -> str:
        parts = [a.schema for a in self.arguments]
        first = next((k for k, a in enumerate(self.arguments) if a.keyword), None)
        if first is not None:
            parts.insert(first, "*")
        results = "Tensor[]" if self.list_result else "Tensor"
        if self.arguments[0].type.endswith("(a!)"):
            results = "Tensor(a!)"
        if self.results:
            results = f"({', '.join(f'Tensor {r}' for r in self.results)})"
        return f"{self.name}({', '.join(parts)}) -> {results}"

    @property
    def invoke(self) -> str:
        if self.own_invoke:
            return ""
        simple = self.elementwise and not self.entry and not self.options and (self.is_unary or self.takes_either)
        return "wk__invoke_pointwise" if simple else f"wk__invoke_{self.name}"


@dataclass
class Section:
    """A part of a header: a file of rows."""

    name: str
    title: str
    text: str
    ops: list[Op]


@dataclass
class Header:
    """A public header: a folder of rows."""

    name: str
    title: str
    text: str
    sections: list[Section]
    enums: list[dict[str, object]]
    signatures_only: bool  # the header and its functions are written by hand

    @property
    def ops(self) -> list[Op]:
        return [op for section in self.sections for op in section.ops]


def read_section(path: Path) -> Section:
    with path.open("rb") as file:
        rows = tomllib.load(file)
    defaults = rows.get("defaults", {})
    ops = []
    for row in rows["op"]:
        try:
            ops.append(Op(**(defaults | row)))
        except TypeError as error:
            sys.exit(f"{path}: {row.get('name', 'a row')}: {error}")
    return Section(path.stem, rows["title"], rows.get("text", ""), ops)


def read_header(folder: Path) -> Header:
    with (folder / "header.toml").open("rb") as file:
        head = tomllib.load(file)
    sections = [read_section(folder / f"{name}.toml") for name in head["sections"]]
    enums, only = head.get("enums", []), head.get("signatures_only", False)
    return Header(folder.name, head["title"], head.get("text", ""), sections, enums, only)


# ---- texts -----------------------------------------------------------------------------------------------------------


def comment(*paragraphs: str) -> str:
    """Paragraphs as one comment; one that begins with spaces stays as it is."""
    lines: list[str] = []
    for paragraph in filter(None, paragraphs):
        for part in paragraph.split("\n\n"):
            if lines and (part.startswith("  ") or "\n\n" in paragraph):
                lines.append("")
            lines += [part] if part.startswith("  ") else textwrap.wrap(part, WIDTH)
    return "/* " + "\n".join(f" * {line}".rstrip() for line in lines)[3:] + " */\n"


def heading(title: str) -> str:
    return f"/* ---- {title} ".ljust(117, "-") + " */\n"


def banner(what: str, header: Header) -> str:
    return LICENCE + comment(what) + written(header)


def written(header: Header) -> str:
    return f"/* Written by scripts/generate_ops.py from src/ops/rows/{header.name}: edit those. */\n"


def c_number(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isnan(value):
        return "NAN"
    if isinstance(value, float) and math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value:.7g}"


def c_list(values: list[object]) -> str:
    return ", ".join(c_number(value) for value in values)


def c_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def flat(values: object) -> list[object]:
    return [x for row in values for x in flat(row)] if isinstance(values, list) else [values]


def nested(values: object) -> str:
    return f"{{{', '.join(nested(x) for x in values)}}}" if isinstance(values, list) else c_number(values)


def operands_of_example(op: Op) -> dict[str, tuple[str, object]]:
    """Of each its C type and its numbers."""
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
    return f"    {op.example['call']} {said} for {given}"


def options_text(op: Op) -> str:
    texts = []
    for a in op.struct_members:
        is_number = a.c_type in ("double ", "int64_t ") and a.default is not None
        usual = f"default {a.default}" if is_number else ""
        if a.enum:
            usual = " or ".join(f"WK_{op.name.upper()}_{choice.upper()}" for choice in a.choices)
        elif a.choices:
            usual = " or ".join(f'"{choice}"' for choice in a.choices)
        said = "; ".join(filter(None, [usual, a.doc]))
        texts.append(f".{a.c} ({said})" if said else f".{a.c}")
    return "Options: " + ", ".join(texts) + "." if texts else ""


# ---- include/wick/H.h: the forms of call -----------------------------------------------------------------------------


def either_forms(op: Op, suffix: str) -> str:
    """(a, b) with a number on either side, and with options behind that."""
    name, first = f"wk_{op.name}{suffix}", "WK_ARITH_1_" if suffix else "WK_ARITH_"
    if not op.options:
        return f"#define {name}(a, b) {first}({name}, a, b)\n"
    own = f"WK_{op.name.upper()}{'_IN_PLACE' if suffix else ''}"
    option = op.option_arguments[0]
    said = f'{name.rstrip("_")}(a, b, .{option.c} = "{option.choices[0]}")'
    text = "" if suffix else f"#define {own}_TEXT_ {c_text(f'wk_{op.name}: options are written by name: {said}')}\n"
    left = "a" if suffix else "WK_VALUE_(a)"
    return (
        f"#define {name}(a, ...) WK_JOIN_({own}_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)\n"
        f"#define {own}_1(a, b) {first}({name}, a, b)\n"
        f"#define {own}_WK2_(a, b, ...) WK_CALL_OF_(wk_tensor *, wk_{op.with_options}{suffix}_at, "
        f"({left}, WK_VALUE_(b)), {op.options}, WK_{op.name.upper()}_TEXT_, __VA_ARGS__)\n{text}"
    )


def option_form(op: Op, name: str) -> str:
    """Operands, then options by name."""
    names = [a.c for a in op.operands]
    if any(a.dims for a in op.operands):
        return f"#define {name}(...) WK_REDUCE_ONE_({name}, __VA_ARGS__)\n"
    if any(a.is_list for a in op.operands):
        return f"#define {name}(...) WK_REDUCE_OPT_({name}, {op.options}, __VA_ARGS__)\n"
    if len(names) == 1:
        return f"#define {name}(...) WK_OPT_(wk_tensor *, {name}, {op.options}, __VA_ARGS__)\n"
    said, early = ", ".join(names), ", ".join(names[:-1])
    return (
        f"#define {name}({early}, ...) "
        f'WK_OPT{len(names)}_(wk_tensor *, {name}, {op.options}, "{said}", {early}, __VA_ARGS__)\n'
    )


def sizes_call(op: Op, name: str) -> str:
    """What a list among the operands is passed on with."""
    sizes = next(a for a in op.operands if a.is_list)
    outs = ["out"] if op.list_result else []
    said = ", ".join([a.said if a.is_list else a.c for a in op.operands if not a.omit] + outs)
    text = c_text(f"{name}: sizes stand in parentheses: {name}({said})")
    passed = ", ".join(["wk_s_.at, wk_s_.count" if a.is_list else a.c for a in op.operands] + outs)
    type = "int" if op.list_result else "wk_tensor *"
    return f"WK_SIZED_({type}, wk_s_, {sizes.c}, {text}, WK_GIVE_({type}, {name}_at(WK_HERE, {passed})))"


def list_form(op: Op, name: str) -> str:
    """A list among the operands."""
    names = [a.c for a in op.operands] + (["out"] if op.list_result else [])
    if op.operands[0].type == "Tensor[]":
        return f"#define {name}(...) WK_CAT_({name}, #__VA_ARGS__, __VA_ARGS__)\n"
    if len(names) == 2:
        return f"#define {name}({names[0]}, ...) WK_VIEW_({name}, #__VA_ARGS__, {names[0]}, __VA_ARGS__)\n"
    own, given = f"{name.upper()}_", ", ".join(names)
    return (
        f"#define {name}({given}) {own}(WK_INTS_NAME_, {given})\n"
        f"#define {own}(wk_s_, {given}) {sizes_call(op, name)}\n"
    )


def omitting_form(op: Op, name: str) -> str:
    """The last operand may be left out; there may be a list among the others."""
    own, names, last = name.upper(), [a.c for a in op.operands], op.operands[-1]
    lists = any(a.is_list for a in op.operands)
    early, passed = names[:-2], ["WK_INTS_NAME_"] * lists + names[:-2] + ["__VA_ARGS__"]
    local = ["wk_s_"] * lists
    whole = sizes_call(op, name) if lists else f"{name}_at(WK_HERE, {', '.join(names)})"
    short = f"{own}_WK2_({', '.join(local + names[:-1] + [str(last.default)])})"
    return (
        f"#define {name}({', '.join(early + ['...'])}) "
        f"WK_JOIN_({own}_, WK_COUNT_(__VA_ARGS__))({', '.join(passed)})\n"
        f"#define {own}_1({', '.join(local + names[:-1])}) {short}\n"
        f"#define {own}_WK2_({', '.join(local + names)}) {whole}\n"
    )


def macro_form(op: Op, name: str) -> str:
    """A form that is written by hand."""
    macro, _, parameters = op.macro.removesuffix(")").partition("(")
    form = f"#define {name}({parameters}) {macro}({parameters.replace('...', '__VA_ARGS__')})\n"
    if not op.cpp:
        return form
    return f"#ifdef __cplusplus\n#define {name}(...) {name}_at(WK_HERE, __VA_ARGS__)\n#else\n{form}#endif\n"


def takes_values(op: Op) -> bool:
    return any(a.number for a in op.operands)


def form(op: Op, suffix: str) -> str:
    """The macro wk_NAME of a row, or wk_NAME_."""
    name = f"wk_{op.name}{suffix}"
    if op.takes_either:
        return either_forms(op, suffix)
    if op.macro:
        return macro_form(op, name)
    if op.options:
        return option_form(op, name)
    if op.operands[-1].omit:
        return omitting_form(op, name)
    if any(a.is_list for a in op.operands):
        return list_form(op, name)
    if takes_values(op):
        values = [f"WK_VALUE_({a.c})" if a.number else a.c for a in op.operands]
        return f"#define {name}({', '.join(a.c for a in op.operands)}) {name}_at(WK_HERE, {', '.join(values)})\n"
    names = [f"wk_{overload.name}" for overload in op.overloads] or [name]
    return "".join(f"#define {name}(...) {name}_at(WK_HERE, __VA_ARGS__)\n" for name in names)


def call_text(op: Op) -> str:
    """The call with the names of its operands: (...) does not say them."""
    said = [f"({a.c})" if a.is_list and not a.dims else a.c for a in op.operands]
    if op.overloads:
        said = [a.c for a in op.operands if a.name in op.overloads[0].arguments]
    results = op.results if op.results and not (op.overloads or op.results_in_options) else []
    results = ["out"] if op.list_result else results
    return f"wk_{op.name}({', '.join(said + results)})"


def forms(op: Op) -> str:
    torch = f"In PyTorch: {op.torch}." if op.torch else ""
    doc = f"{call_text(op)}: {op.doc}" + ("." if op.notes or op.errors or op.options else "")
    text = comment(doc, op.notes, options_text(op), op.errors, torch, example_text(op))
    return text + form(op, "") + (form(op, "_") if op.in_place else "")


def only_in_c(op: Op) -> bool:
    """In C++ a macro only adds the place of the call (docs/semantics.md, rule 31)."""
    own = op.macro or op.options or takes_values(op) or any(a.is_list or a.omit for a in op.operands)
    return bool(own) and not op.cpp


def header_text(header: Header) -> str:
    guard = f"WICK_{header.name.upper()}_H"
    out = LICENCE + comment(f"wick/{header.name}.h: {header.title}.\n\n" + header.text)
    out += (
        f"{written(header)}#ifndef {guard}\n#define {guard}\n\n"
        "#if !defined __cplusplus && !defined __clang__\n#pragma GCC system_header /* see macros.h */\n#endif\n\n"
        f'#include "{header.name}_calls.h"\n\n'
    )
    in_c = False
    for section in header.sections:
        out += heading(section.title) + (comment(section.text) if section.text else "") + "\n"
        for op in section.ops:
            if only_in_c(op) != in_c:
                in_c = not in_c
                out += "#ifndef __cplusplus\n" if in_c else "#endif\n\n"
            out += forms(op) + "\n"
    return out + ("#endif\n\n" if in_c else "") + "#endif\n"


# ---- include/wick/H_calls.h: the functions ---------------------------------------------------------------------------


@dataclass
class Function:
    """An exported function: its prototype and, where it only passes its operands on, what it returns."""

    name: str
    parameters: list[str]
    body: str = ""
    returns: str = "wk_tensor *"

    @property
    def prototype(self) -> str:
        return f"{self.returns}{self.name}({', '.join(self.parameters)})"

    @property
    def definition(self) -> str:
        name = f"({self.name})" if not self.name.endswith("_at") else self.name  # a macro of this name is there, too
        return f"wk_tensor *{name}({', '.join(self.parameters)})\n{{\n    return {self.body};\n}}\n"


SIDES = {"t": ("wk_tensor *", "wk__t"), "f": ("double ", "wk__f"), "i": ("int64_t ", "wk__i")}


def either_call(op: Op, suffix: str, site: str, left: str, right: str) -> str:
    """left and right make an operand (wk__arg) of a and b; an entry in place takes a as it is."""
    if op.entry:
        return f"wk__{op.name}{suffix}({site}, {'a' if suffix else f'{left}(a)'}, {right}(b))"
    operands = (f"{{.tensor = {x}}}" if make == "wk__t" else f"{make}({x})" for make, x in ((left, "a"), (right, "b")))
    return f"wk__elementwise{suffix}(&wk__op_{op.name}, {site}, (wk__arg[]){{{', '.join(operands)}}}, 2, NULL)"


def either_functions(op: Op, suffix: str) -> list[Function]:
    """Of two tensors, of a tensor and a number (f a fraction, i a whole one); in place the first is a tensor."""
    name, out = f"wk_{op.name}{suffix}", []
    for left, right in ("tt", "tf", "ti") if suffix else ("tt", "tf", "ti", "ft", "it"):
        (left_type, left_arg), (right_type, right_arg) = SIDES[left], SIDES[right]
        kinds = "" if left + right == "tt" else f"_{left}{right}"
        parameters = ["wk_site site", f"{left_type}a", f"{right_type}b"]
        out.append(Function(f"{name}{kinds}_at", parameters, either_call(op, suffix, "site", left_arg, right_arg)))
    if not suffix:
        body = either_call(op, suffix, "(wk_site){0}", "wk__t", "wk__t")
        out.append(Function(name, ["wk_tensor *a", "wk_tensor *b"], body))
    return out


def unary_functions(op: Op, suffix: str) -> list[Function]:
    name, call = f"wk_{op.name}{suffix}", f"wk__unary{suffix}(&wk__op_{op.name}, "
    with_site = Function(f"{name}_at", ["wk_site site", "wk_tensor *x"], f"{call}site, x)")
    return [with_site, Function(name, ["wk_tensor *x"], f"{call}(wk_site){{0}}, x)")]


def handwritten(op: Op, name: str, operands: list[Argument], results: list[str], in_place: bool = False) -> Function:
    """A function that stands in the op's file."""
    parameters = ["wk_site site"]
    for k, a in enumerate(operands):
        tensor = a.is_tensor and ((in_place and k == 0) or op.overloads)
        parameters += [f"wk_tensor *{a.c}"] if tensor else a.parameters
    if op.list_result:
        return Function(f"{name}_at", parameters + ["wk_tensor **out"], returns="int ")
    if op.options:
        parameters.append(f"const {op.options} *options")
    if len(results) < 2:
        return Function(f"{name}_at", parameters)
    return Function(f"{name}_at", parameters + [f"wk_tensor **{result}" for result in results], returns="wk_code ")


def overload_function(op: Op, overload: Overload) -> Function:
    arguments = {a.name: a for a in op.arguments}
    operands = [arguments[name] for name in overload.arguments]
    function = handwritten(op, f"wk_{overload.name}", operands, overload.results)
    if overload.number:
        function.parameters.append(f"double {overload.number}")
    return function


def functions_of(op: Op, suffix: str) -> list[Function]:
    """The functions of a row, or those of its form in place."""
    name = f"wk_{op.name}{suffix}"
    if op.elementwise and op.is_unary:
        return unary_functions(op, suffix)
    if op.overloads:
        return [overload_function(op, overload) for overload in op.overloads]
    out = either_functions(op, suffix) if op.takes_either else []
    if not op.takes_either or op.options:
        own = f"wk_{op.with_options}{suffix}" if op.with_options else name
        results = [] if op.results_in_options else op.results
        out.append(handwritten(op, own, op.operands, results, in_place=bool(suffix)))
    if op.plain:
        given = ["(wk_site){0}"] + [a.c for a in op.operands] + (["NULL"] if op.options else [])
        parameters = [parameter for a in op.operands for parameter in a.parameters]
        out.append(Function(name, parameters, f"{name}_at({', '.join(given)})"))
    return out


def functions(op: Op) -> list[Function]:
    return functions_of(op, "") + (functions_of(op, "_") if op.in_place else [])


def option_member(a: Argument) -> str:
    notes = [f"default {a.default}" if a.is_marked and a.default is not None else ""]
    notes += ["" if a.enum else " or ".join(f'"{choice}"' for choice in a.choices), a.doc]
    text = "; ".join(filter(None, notes))
    return f"    {a.c_type}{a.c};" + (f" /* {text} */\n" if text else "\n")


def padding(members: list[Argument]) -> str:
    """What would be padding at the end of the struct is a member, which every initialiser sets to 0."""
    end = 0
    for a in members:
        size = SIZES.get(a.c_type, 8)
        end = (end + size - 1) // size * size + size
    return f"    char reserved[{-end % 8}];\n" if end % 8 else ""


def options_struct(op: Op) -> str:
    """The struct, and the list of its numbers, which macros.h goes through."""
    name, enums = op.options, ""
    for a in op.option_arguments:
        if a.enum:
            values = [f"WK_{op.name.upper()}_{choice.upper()} = {k}" for k, choice in enumerate(a.choices)]
            enums += f"enum {{ {', '.join(values)} }};\n"
    members = "".join(option_member(a) for a in op.struct_members) + padding(op.struct_members)
    marked = " ".join(f"wk_do_(wk_o_, {a.c})" for a in op.struct_members if a.is_marked)
    return (
        f"{enums}typedef struct {name} {{\n    size_t size;\n    wk_by_name by_name;\n{members}}} {name};\n"
        f"#ifndef __cplusplus\n#define {name}_numbers_(wk_do_, wk_o_) {marked}\n#endif\n"
    )


def enum_text(enum: dict[str, object]) -> str:
    lines = [f"{v['name']}," + (f" /* {v['doc']} */" if v.get("doc") else "") for v in enum["values"]]
    return f"typedef enum {enum['name']} {{\n" + "".join(f"    {line}\n" for line in lines) + f"}} {enum['name']};\n\n"


CALLS_INTRO = """The functions behind the forms of call: wk_NAME_at with the place of the call first, wk_NAME without
it, for a pointer to a function. What they do stands at the forms. Of those that take a number, _tf takes a tensor and a
fraction, _ti a tensor and a whole number, _ft and _it the other way round. A struct of options may be NULL, and so may
a list of dimensions, which is followed by its length: -1 stands for all."""


def calls_text(header: Header) -> str:
    guard = f"WICK_{header.name.upper()}_CALLS_H"
    out = banner(f"wick/{header.name}_calls.h: the functions behind wick/{header.name}.h.\n\n{CALLS_INTRO}", header)
    out += (
        f'#ifndef {guard}\n#define {guard}\n\n#if !defined __cplusplus && !defined __clang__\n'
        "#pragma GCC system_header /* see macros.h */\n#endif\n\n"
        '#include "call.h"\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    )
    out += "".join(enum_text(enum) for enum in header.enums)
    known: set[str] = set()
    for section in header.sections:
        out += heading(section.title) + "\n"
        for op in section.ops:
            out += comment(f"{op.name}: {op.doc}")
            if op.options and op.options not in known:
                known.add(op.options)
                out += options_struct(op)
            out += "".join(f"WK_API {function.prototype};\n" for function in functions(op)) + "\n"
    return out + "#ifdef __cplusplus\n}\n#endif\n#endif\n"


# ---- src/ops/generated: signatures, functions, entries for wk_call ---------------------------------------------------


def parameter(a: Argument) -> str:
    """What is known of a parameter, for wk_call and bindings."""
    base = a.type.rstrip("?").removesuffix("[]").removesuffix("(a!)")
    fields = [f".name = {c_text(a.name)}", f".type = {c_text(base)}"]
    marks = {
        "list": a.type.rstrip("?").endswith("[]"),
        "optional": a.type.endswith("?") or a.default is not None,
        "keyword": a.keyword,
        "number": a.number,
        "written": a.type.endswith("(a!)"),
    }
    fields += [f".{mark} = true" for mark, is_set in marks.items() if is_set]
    return "{" + ", ".join(fields) + "}"


def signature(op: Op) -> str:
    """The part of the descriptor that stands in the row."""
    fields = [f".name = {c_text(op.name)}", f".schema = {c_text(op.schema)}", f".group = {c_text(op.group)}"]
    fields.append(f".doc = {c_text(op.doc)}")
    if op.node:
        fields.append(f".node = {c_text(op.node)}")
    names = [a.name for a in op.arguments]
    nodes = [f"[{names.index(name)}] = {c_text(node)}" for name, node in op.number_node.items()]
    if nodes:
        fields.append(f".number_node = {{{', '.join(nodes)}}}")
    if op.dims_node:
        fields.append(f".dims_node = {c_text(op.dims_node)}")
    if op.arity:
        fields.append(f".arity = {op.arity}")
    if RESULTS[op.result]:
        fields.append(f".result = {RESULTS[op.result]}")
    if DTYPES[op.dtypes]:
        fields.append(f".domain = {DTYPES[op.dtypes]}")
    fields.append(f".parameters = (const wk__parameter[]){{{', '.join(parameter(a) for a in op.arguments)}}}")
    fields.append(f".parameter_count = {len(op.arguments)}")
    takes_dtype = op.group == "reduction" and any(a.type == "dtype?" for a in op.arguments)
    fields += [".takes_dtype = true"] if takes_dtype else []
    fields += [".waits = true"] if op.waits else []
    fields += [f".invoke = {op.invoke}"] if op.invoke else []
    return f"#define WK__SIGNATURE_{op.name} {', '.join(fields)}\n"


def invoke_prototype(op: Op) -> str:
    return f"int {op.invoke}(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)"


def reader(op: Op) -> str:
    """Options with their defaults in place of what is not given: the op's file need not know these."""
    known = [(a, a.default if a.usual is None else a.usual) for a in op.option_arguments if a.c_type == "double "]
    lines = [f"own->{a.c} = wk__option(own->{a.c}, {usual});" for a, usual in known if usual is not None]
    if not lines:
        return ""
    name, struct = op.options.removeprefix("wk_"), op.options
    return (
        f"static inline bool wk__read_{name}(wk_site site, const char *op, const {struct} *given, {struct} *own)\n"
        "{\n    if (!wk__options(site, op, given, own)) return false;\n"
        + "".join(f"    {line}\n" for line in lines)
        + "    return true;\n}\n"
    )


def has_invoke(op: Op) -> bool:
    return op.invoke not in ("", "wk__invoke_pointwise")


def signatures_text(header: Header) -> str:
    guard = f"WICK_OPS_GENERATED_{header.name.upper()}_H"
    out = banner(
        f"The signatures of the ops of wick/{header.name}.h: what their descriptors begin with. The compiler refuses a "
        "member that the op's file sets as well.",
        header,
    )
    out += f'#ifndef {guard}\n#define {guard}\n\n#include "../../base/options.h"\n#include "../call.h"\n'
    out += f"#include <wick/{header.name}.h>\n\n"
    ops = header.ops
    if any(has_invoke(op) for op in ops):
        out += comment("The entries for wk_call of ops that take more than tensors.")
    out += "".join(f"{invoke_prototype(op)};\n" for op in ops if has_invoke(op)) + "\n"
    entries = [op for op in ops if op.entry]
    if entries:
        out += comment("What the functions of an op call that has an entry of its own, in its file.")
    for op in entries:
        out += f"wk_tensor *wk__{op.name}(wk_site site, wk__arg a, wk__arg b);\n"
        out += f"wk_tensor *wk__{op.name}_(wk_site site, wk_tensor *a, wk__arg b);\n"
    readers = {op.options: reader(op) for op in ops if op.options and not header.signatures_only and reader(op)}
    if readers:
        out += "\n" + comment("Options as wk__options reads them, with the default of each number that is not given.")
    out += "".join(readers.values())
    return out + "\n" + "\n".join(signature(op) for op in ops) + "\n#endif\n"


def invoke_option(a: Argument, k: int) -> str:
    """The value of an option from argument k: one that is not given is 0."""
    if a.enum:
        return "choice"
    if a.c_type == "double ":
        return f"wk__value_option(&args[{k}])"
    if a.is_tensor:
        return f"wk__value_tensor(&args[{k}])"
    if a.type.startswith("str"):
        return f"wk__value_text(&args[{k}], NULL)"
    number = f"wk__value_int(&args[{k}], {int(a.default or 0)})"
    return {"bool ": f"{number} != 0", "int64_t ": number}.get(a.c_type, f"({a.c_type.strip()}){number}")


def invoke_operand(op: Op, a: Argument, k: int) -> str:
    """What a function is called with for argument k."""
    if a.type == "Tensor[]":
        return f"args[{k}].tensors, args[{k}].kind == WK_VALUE_TENSORS ? args[{k}].count : 0"
    if a.is_list:
        return f"{a.c}, {a.count}"
    if a.is_tensor and a.number:
        return f"wk__value_arg(&args[{k}])" if op.entry else f"args[{k}]"
    if a.is_tensor:
        return f"wk__value_tensor(&args[{k}])"
    if a.c_type == "double ":
        return f"wk__value_float(&args[{k}], {a.default})"
    usual = a.usual if a.usual is not None else int(a.default or 0)
    number = f"wk__value_int(&args[{k}], {usual})"
    return f"{number} != 0" if a.c_type == "bool " else number


def invoke_locals(op: Op) -> list[str]:
    """What must be declared before the call."""
    lines = []
    for k, a in enumerate(op.arguments):
        if a.is_list and a.type != "Tensor[]":
            lines += [f"int {a.count};", f"const int64_t *{a.c} = wk__value_dims(&args[{k}], &{a.count});"]
        elif a.enum:
            texts = ", ".join(c_text(choice) for choice in a.choices)
            lines.append(
                f"const int choice = wk__value_choice(site, {c_text(op.name)}, {c_text(a.name)}, &args[{k}], "
                f"(const char *const[]){{{texts}, NULL}});"
            )
            lines.append("if (choice < 0) return -1;")
    if op.options:
        given = [(a, k) for k, a in enumerate(op.arguments) if a.option]
        values = "".join(f", .{a.c} = {invoke_option(a, k)}" for a, k in given)
        lines.append(f"const {op.options} options = {{.size = sizeof options{values}}};")
    return lines


def invoke(op: Op) -> str:
    """The entry for wk_call: takes the arguments apart and calls the function."""
    call = [invoke_operand(op, a, k) for k, a in enumerate(op.arguments) if not (a.option or a.absent)]
    call += ["&options"] if op.options else []
    call += [f"&out[{k}]" for k in range(len(op.results))]
    name = f"wk__{op.name}" if op.entry else f"wk_{op.with_options or op.name}_at"
    called = f"{name}(site, {', '.join(call)})"
    lines = ["(void)op;"] + invoke_locals(op)
    several = f"return {called} == WK_OK ? {len(op.results)} : -1;"
    lines.append(several if op.results else f"return wk__one(out, {called});")
    return invoke_prototype(op) + "\n{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def functions_text(header: Header, section: Section) -> str:
    out = banner(f"The functions of wick/{header.name}.h that only pass their operands on: {section.title}.", header)
    out += '#include "../forms.h"\n\n'
    for op in section.ops:
        definitions = [function.definition for function in functions(op) if function.body]
        if has_invoke(op):
            definitions.append(invoke(op))
        out += heading(op.name) + "\n" + "\n".join(definitions) + "\n"
    return out


# ---- tests/ops_examples_H.c ------------------------------------------------------------------------------------------


def example_test(op: Op) -> str:
    lines = ["(void)state;", "WK_SCOPE;"]
    for name, (kind, values) in operands_of_example(op).items():
        shape, row = [], values
        while isinstance(row, list):
            shape.append(str(len(row)))
            row = row[0]
        lines.append(f"wk_tensor *{name} = wk_of({kind}, ({', '.join(shape)}), {c_list(flat(values))});")
    call, gives = op.example["call"], flat(op.example["gives"])
    if "&values" in call:
        lines += ["wk_tensor *values = NULL;", f"assert_int_equal({call}, WK_OK);"]
        call = "values"
    if op.list_result:
        parts = [flat(part) for part in op.example["gives"]]
        lines += [f"wk_tensor *out[{len(parts)}] = {{NULL}};", f"assert_int_equal({call}, {len(parts)});"]
    else:
        parts = [gives]
    for k, part in enumerate(parts):
        given = f"out[{k}]" if op.list_result else call
        lines.append(f"expect_values({given}, {len(part)}, (const double[]){{{c_list(part)}}}, 1e-5);")
    return f"static void example_{op.name}(void **state)\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n\n"


def examples_text(header: Header) -> str:
    out = banner(f"The examples in wick/{header.name}.h give what stands there.", header)
    out += '#include "support_wick.h"\n#include <math.h>\n\n'
    ops = header.ops
    out += "".join(example_test(op) for op in ops)
    tests = ", ".join(f"cmocka_unit_test(example_{op.name})" for op in ops)
    return (
        f"{out}int main(void)\n{{\n    const struct CMUnitTest tests[] = {{{tests}}};\n"
        "    return cmocka_run_group_tests(tests, NULL, NULL);\n}\n"
    )


# ---- files -----------------------------------------------------------------------------------------------------------


def formatted(text: str) -> str:
    style = f"--style=file:{SOURCE}/.clang-format"
    done = subprocess.run(["clang-format", style, "--assume-filename=x.c"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.rstrip("\n") + "\n"


def list_text(ops: list[Op]) -> str:
    return LICENCE + (
        "/* The ops, in alphabetical order; the file of one is src/ops/NAME.c or that of its family. The table, `wick\n"
        " * ops`, wk_call and the tests are loops over this list. */\n"
        "/* Written by scripts/generate_ops.py from src/ops/rows: edit those. */\n"
        + "".join(f"WK__OP({op.name})\n" for op in sorted(ops, key=lambda op: op.name))
    )


def outputs(header: Header) -> dict[str, str]:
    if header.signatures_only:
        return {f"src/ops/generated/{header.name}.h": signatures_text(header)}
    texts = {
        f"include/wick/{header.name}.h": header_text(header),
        f"include/wick/{header.name}_calls.h": calls_text(header),
        f"src/ops/generated/{header.name}.h": signatures_text(header),
        f"tests/ops_examples_{header.name}.c": examples_text(header),
    }
    for section in header.sections:
        texts[f"src/ops/generated/{header.name}_{section.name}.c"] = functions_text(header, section)
    return texts


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else SOURCE
    headers = [read_header(folder) for folder in sorted(ROWS.iterdir())]
    for header in headers:
        for name, text in outputs(header).items():
            write(target / name, formatted(text))
    write(target / "src/ops/ops.def", list_text([op for header in headers for op in header.ops]))


if __name__ == "__main__":
    main(sys.argv[1:])
