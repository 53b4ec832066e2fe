# SPDX-License-Identifier: Apache-2.0
"""include/wick/H.h: the macros that programs call."""

import re

from opgen.spec import Argument, Header, Op, Overload
from opgen.c_text import LICENCE, c_number, c_text, comment, heading, written
from opgen.docs import doc_comment


def either_forms(op: Op, suffix: str) -> str:
    """Returns (a, b) with a number on either side, and with options."""
    name, first = f"wk_{op.name}{suffix}", "WK_ARITH_1_" if suffix else "WK_ARITH_"
    if not op.options:
        return f"#define {name}(a, b) {first}({name}, a, b)\n"
    own = f"WK_{op.name.upper()}{'_IN_PLACE' if suffix else ''}"
    option = op.option_arguments[0]
    said = f'{name.rstrip("_")}(a, b, .{option.c} = "{option.choices[0]}")'
    text = "" if suffix else f"#define {own}_TEXT_ {c_text(f'wk_{op.name}: options must be named: {said}')}\n"
    left = "a" if suffix else "WK_VALUE_(a)"
    return (
        f"#define {name}(a, ...) WK_JOIN_({own}_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)\n"
        f"#define {own}_1(a, b) {first}({name}, a, b)\n"
        f"#define {own}_WK2_(a, b, ...) WK_CALL_OF_(wk_tensor *, wk_{op.with_options}{suffix}_at, "
        f"({left}, WK_VALUE_(b)), {op.options}, WK_{op.name.upper()}_TEXT_, __VA_ARGS__)\n{text}"
    )


def shaped_form(op: Op, name: str) -> str:
    """Returns a macro with a shape among numbers, then options."""
    names = [a.c for a in op.operands]
    if len(names) == 1:
        return f"#define {name}(...) WK_SHAPED_(wk_tensor *, {name}, {op.options}, #__VA_ARGS__, __VA_ARGS__)\n"
    if op.numbers_told_apart:
        return f"#define {name}({names[0]}, ...) WK_SHAPED_NUMBER_({name}, {op.options}, {names[0]}, __VA_ARGS__)\n"
    early = ", ".join(names[:-1])
    text = c_text(f"{name}: write sizes in parentheses: {name}({early}, (")
    return (
        f"#define {name}({early}, ...) "
        f'WK_SHAPED_LAST_({name}, {op.options}, {text} #__VA_ARGS__ "))", ({early}), __VA_ARGS__)\n'
    )


def one_operand_form(op: Op, name: str, operand: Argument) -> str:
    """Returns a macro with one operand, then options."""
    form = f"WK_OPT_(wk_tensor *, {name}, {op.options}, __VA_ARGS__)\n"
    if not operand.no_list:
        return f"#define {name}(...) {form}"
    own = f"{name.upper()}_"
    return (
        f"#define {name}(...) WK_JOIN_({own}, WK_IS_PAIR_(__VA_ARGS__, ))(__VA_ARGS__)\n"
        f"#define {own}1(...) {form}"
        f"#define {own}WK2_(...) WK_REFUSE_(wk_tensor *, {c_text(f'{name}: {operand.no_list}')})\n"
    )


def list_option_form(op: Op, name: str, operands: list[Argument]) -> str:
    """Returns a macro with operands, one of which is a list, then options."""
    k = next(k for k, a in enumerate(operands) if a.is_list)
    early = [a.c for a in operands[:-1]]
    before = "".join(f"{a.c}, " for a in operands[:k])
    between = "".join(f"{a.c}, " for a in operands[k + 1 : -1])
    said = ", ".join(a.said if a.is_list else a.c for a in operands)
    text = c_text(f"{name}: write sizes in parentheses: {name}({said})")
    return (
        f"#define {name}({', '.join(early)}, ...) WK_LIST_OPT_({name}, {op.options}, {text}, {early[k]}, ({before}), "
        f"({between}), __VA_ARGS__)\n"
    )


def option_form(op: Op, name: str, operands: list[Argument]) -> str:
    """Returns a macro with operands, then options."""
    names = [a.c for a in operands]
    if any(a.dims for a in operands):
        return f"#define {name}(...) WK_REDUCE_ONE_({name}, __VA_ARGS__)\n"
    if any(a.is_list for a in operands):
        if any(a.is_tensor for a in operands) and len(operands) > 2:
            return list_option_form(op, name, operands)
        if not operands[0].is_tensor:
            return shaped_form(op, name)
        return f"#define {name}(...) WK_REDUCE_OPT_({name}, {op.options}, __VA_ARGS__)\n"
    said, early = ", ".join(names), ", ".join(names[:-1])
    if operands[-1].is_sizes:
        form, parameters = f"WK_OPT{len(names) if len(names) > 1 else ''}_SIZES_", ", ".join(names[:-1] + ["..."])
        early_operands = [f"WK_SIZES_OF_({a.c})" if a.is_sizes else a.c for a in operands[:-1]]
        passed_on = ", ".join(early_operands + ["__VA_ARGS__"])
        return f'#define {name}({parameters}) {form}(wk_tensor *, {name}, {op.options}, "{said}", {passed_on})\n'
    if len(names) == 1:
        return one_operand_form(op, name, operands[0])
    if op.numbers_told_apart:
        return f'#define {name}({early}, ...) WK_OPT2_NUMBER_({name}, {op.options}, "{said}", {early}, __VA_ARGS__)\n'
    form = f"WK_OPT{len(names)}_" + ("TENSOR_" if len(names) == 3 and operands[-1].type == "Tensor?" else "")
    return (
        f"#define {name}({early}, ...) "
        f'{form}(wk_tensor *, {name}, {op.options}, "{said}", {early}, __VA_ARGS__)\n'
    )


LOCALS = ("wk_s_", "wk_t_")  # the lists of a call, in its macros


def lists_of(op: Op) -> list[Argument]:
    return [a for a in op.operands if a.is_list]


def passed(op: Op) -> list[str]:
    """Returns the arguments of the function; two lists may share one length."""
    lists = dict(zip((a.c for a in lists_of(op)), LOCALS))
    if any(not a.count for a in lists_of(op)):
        counts = {name: "" for name in lists} | {lists_of(op)[-1].c: f", wk_as_many_({', '.join(LOCALS)})"}
    else:
        counts = {name: f", {local}.count" for name, local in lists.items()}
    return [f"{lists[a.c]}.at{counts[a.c]}" if a.is_list else a.c for a in op.operands]


def sizes_call(op: Op, name: str) -> str:
    """Returns the call that forwards the lists among the operands."""
    outs = ["out"] if op.list_result else []
    type = "int" if op.list_result else "wk_tensor *"
    said = ", ".join([a.said if a.is_list else a.c for a in op.operands if a.is_list or not a.omit] + outs)
    what = "sizes" if len(lists_of(op)) == 1 else "lists"
    text = c_text(f"{name}: write {what} in parentheses: {name}({said})")
    call = f"WK_GIVE_({type}, {name}_at(WK_HERE, {', '.join(passed(op) + outs)}))"
    for a, local in reversed(list(zip(lists_of(op), LOCALS))):
        call = f"WK_SIZED_({type}, {local}, {a.c}, {text}, {call})"
    return call


def list_form(op: Op, name: str) -> str:
    """Returns a macro with lists among the operands."""
    names = [a.c for a in op.operands] + (["out"] if op.list_result else [])
    if op.operands[0].type == "Tensor[]":
        return f"#define {name}(...) WK_CAT_({name}, #__VA_ARGS__, __VA_ARGS__)\n"
    if len(names) == 2:
        return f"#define {name}({names[0]}, ...) WK_VIEW_({name}, #__VA_ARGS__, {names[0]}, __VA_ARGS__)\n"
    own, given, count = f"{name.upper()}_", ", ".join(names), len(lists_of(op))
    return (
        f"#define {name}({given}) {own}({'WK_INTS_NAME_, ' * count}{given})\n"
        f"#define {own}({', '.join(LOCALS[:count])}, {given}) {sizes_call(op, name)}\n"
    )


def omitting_form(op: Op, name: str) -> str:
    """Returns a macro whose last operands may be omitted; others may be lists."""
    own, names, lists = name.upper(), [a.c for a in op.operands], len(lists_of(op))
    omitted = [c_number(a.usual if a.default is None else a.default) for a in op.operands if a.omit]
    needed, local = len(names) - len(omitted), list(LOCALS[:lists])
    early = names[: needed - 1]
    counts = ["1", "2", "3", "WK4_"][: len(omitted) + 1] if len(omitted) > 1 else ["1", "WK2_"]
    counted = "WK_COUNT_4_" if len(omitted) > 1 else "WK_COUNT_"
    given = ", ".join(["WK_INTS_NAME_"] * lists + early + ["__VA_ARGS__"])
    out = f"#define {name}({', '.join(early + ['...'])}) WK_JOIN_({own}_, {counted}(__VA_ARGS__))({given})\n"
    said = ", ".join(a.said if a.is_list else a.c for a in op.operands[:needed])
    refusal = f"WK_REFUSE_({result_type(op, op.results)}, {c_text(f'{name}: an argument is missing: {name}({said})')})"
    for k, count in enumerate(counts[:-1]):
        there = ", ".join(local + names[: needed + k])
        if k == 0 and needed > 1:
            out += f"#define {own}_1({there}) WK_JOIN_({own}_1_, WK_IS_MISSING_({names[needed - 1]}))({there})\n"
            out += f"#define {own}_1_WK2_({there}) {refusal}\n"
            count = "1_1"
        out += f"#define {own}_{count}({there}) {own}_{counts[-1]}({there}, {', '.join(omitted[k:])})\n"
    if lists:
        out += f"#define {own}_{counts[-1]}({', '.join(local + names)}) {sizes_call(op, name)}\n"
    else:  # of more the function itself tells
        out += f"#define {own}_{counts[-1]}(...) WK_PLAIN_({name}, __VA_ARGS__)\n"
    return out + (f"#define {own}_WK4_ {own}_3\n" if len(omitted) == 2 else "")


def macro_form(op: Op, name: str) -> str:
    """Returns a macro that calls a handwritten one."""
    macro, _, parameters = op.macro.removesuffix(")").partition("(")
    given = parameters.replace("...", "__VA_ARGS__")
    return f"#define {name}({parameters}) {macro}({f'{name}, ' * op.in_place}{given})\n"


def result_type(op: Op, results: list[str]) -> str:
    """Returns the type of the function's result."""
    if op.list_result:
        return "int"
    return "wk_code" if len(results) > 1 and not op.results_in_options else "wk_tensor *"


def plain_form(op: Op, name: str, operands: list[Argument], results: list[str]) -> str:
    """Returns a macro with exactly these operands."""
    type = result_type(op, results)
    names = [a.c for a in operands] + (["out"] if op.list_result else results if type == "wk_code" else [])
    if type == "wk_tensor *" and any(a.type == "Device" for a in operands):
        only = f"#define {name}(...) {name}_at(WK_HERE, __VA_ARGS__)\n"
        form = f"#define {name}(...) WK_ON_DEVICE_({type}, {name}, __VA_ARGS__)\n"
        return f"#ifdef __cplusplus\n{only}#else\n{new(form, name)}#endif\n"
    said = f'{len(names)}, {name}, "{", ".join(names)}", __VA_ARGS__'
    if is_new(type, name):
        return f"#define {name}(...) WK_EXACT_NEW_({said})\n"
    return f"#define {name}(...) WK_EXACT_({type}, {said})\n"


def shorter_form(op: Op, name: str) -> str:
    """Returns (x, n, dim), or (x, n), which calls another function."""
    form = f"#define {name}(x, ...) WK_SHORTER_(wk_{op.shorter.name}, {name}, x, __VA_ARGS__)\n"
    return f"#ifdef __cplusplus\n{plain_form(op, name, op.operands, op.results)}#else\n{new(form, name)}#endif\n"


def is_new(type: str, name: str) -> bool:
    """Returns whether a call returns a new tensor."""
    return type == "wk_tensor *" and not name.endswith("_")


def new(form: str, name: str) -> str:
    """Returns the macro with a result that must be used."""
    head, body = re.match(r"(#define \w+\([^)]*\)) (.*)", form).groups()
    return f"{head} WK_NEW_TENSOR_({body})\n" + form.partition("\n")[2]


def last_form(op: Op, name: str, macro: str) -> str:
    """Returns a macro that selects the function by the type of the last operand."""
    *early, last = [a.c for a in op.operands]
    return f"#define {name}({', '.join(early)}, {last}) {macro}({name}, ({', '.join(early)}), {last})\n"


def takes_values(op: Op) -> bool:
    return any(a.number or a.is_sizes for a in op.operands)


def value_form(op: Op, name: str) -> str:
    """Returns a macro with operands of which some may be numbers; its error names optional ones that are omitted."""
    names, absent = [a.c for a in op.operands], [a for a in op.operands if a.number and a.type.endswith("?")]
    values = [f"WK_VALUE_({a.c})" if a.number else f"WK_SIZES_OF_({a.c})" if a.is_sizes else a.c for a in op.operands]
    call = f"{name}_at(WK_HERE, {', '.join(values)})"
    if len(absent) != 2 or names[1:] != [a.c for a in absent]:
        return f"#define {name}({', '.join(names)}) {call}\n"
    own = f"WK_{op.name.upper()}{'_IN_PLACE' if name.endswith('_') else ''}"
    ends = " and ".join(names[1:])
    said = f"{name}: write {ends} after {names[0]}, in this order and without names, WK_NONE for no limit"
    refused = f"WK_REFUSE_(wk_tensor *, {own}_TEXT_)\n"
    return (
        f"#define {name}({names[0]}, ...) WK_JOIN_({own}_, WK_COUNT_4_(__VA_ARGS__))({names[0]}, __VA_ARGS__)\n"
        f"#define {own}_2({', '.join(names)}) {call}\n"
        f"#define {own}_1(...) {refused}#define {own}_3(...) {refused}#define {own}_WK4_(...) {refused}"
        f"#define {own}_TEXT_ {c_text(f'{said}: {name}({names[0]}, 0, WK_NONE)')}\n"
    )


def form(op: Op, suffix: str) -> str:
    """Returns the macro wk_NAME of a row, or wk_NAME_."""
    name = f"wk_{op.name}{suffix}"
    results = op.results if op.results and not (op.overloads or op.results_in_options) else []
    if is_plain(op):
        return plain_form(op, name, op.operands_of(op.overloads[0]) if op.overloads else op.operands, results)
    if op.shorter and not op.macro:
        return shorter_form(op, name)
    text = special_form(op, suffix, name)
    return new(text, name) if is_new(result_type(op, results), name) else text


def is_plain(op: Op) -> bool:
    special = op.macro or op.shorter or op.of_number or op.options or op.numbers_told_apart or op.operands[-1].omit
    return not (special or op.takes_either or takes_values(op) or any(a.is_list for a in op.operands))


def special_form(op: Op, suffix: str, name: str) -> str:
    if op.takes_either:
        return either_forms(op, suffix)
    if op.macro:
        return macro_form(op, name)
    if op.of_number:
        return last_form(op, name, "WK_LAST_EITHER_")
    if op.options:
        return option_form(op, name, op.operands)
    if op.numbers_told_apart:
        return last_form(op, name, "WK_LAST_NUMBER_")
    if op.operands[-1].omit:
        return omitting_form(op, name)
    if any(a.is_list for a in op.operands):
        return list_form(op, name)
    return value_form(op, name)


def overload_form(op: Op, overload: Overload) -> str:
    name = f"wk_{overload.name}"
    operands = op.operands_of(overload)
    if not op.options:
        return plain_form(op, name, operands, overload.results)
    text = option_form(op, name, operands)
    return new(text, name) if is_new(result_type(op, overload.results), name) else text


def forms(op: Op) -> str:
    main = form(op, "")
    if needs_c(op) and not only_in_c(op):
        main = f"#ifndef __cplusplus\n{main}#endif\n"
    others = "".join(overload_form(op, overload) for overload in op.overloads if overload.form)
    return doc_comment(op) + main + (form(op, "_") if op.in_place else "") + others


def needs_c(op: Op) -> bool:
    """Whether the macro does more than add the call site (docs/contributing/invariants.md, rule 31)."""
    told = op.of_number or op.numbers_told_apart
    return bool(op.macro or op.options or told) or takes_values(op) or any(a.is_list or a.omit for a in op.operands)


def only_in_c(op: Op) -> bool:
    """Returns whether there is no macro in C++."""
    return needs_c(op) and (bool(op.options) or not any(overload.form for overload in op.overloads))


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
        if in_c and not only_in_c(section.ops[0]):
            in_c = False
            out += "#endif\n\n"
        out += heading(section.title) + (comment(section.text) if section.text else "") + "\n"
        for op in section.ops:
            if only_in_c(op) != in_c:
                in_c = not in_c
                out += "#ifndef __cplusplus\n" if in_c else "#endif\n\n"
            out += forms(op) + "\n"
    return out + ("#endif\n\n" if in_c else "") + "#endif\n"
