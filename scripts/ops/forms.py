# SPDX-License-Identifier: Apache-2.0
"""include/wick/H.h: the forms of call that people write."""

from ops.rows import Header, Op
from ops.texts import LICENCE, c_text, comment, example_text, heading, options_text, written


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
