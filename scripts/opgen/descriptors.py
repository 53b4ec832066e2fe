# SPDX-License-Identifier: Apache-2.0
"""src/ops/generated: signatures, functions whose body is one call, entries for wk_call."""

import re

from opgen.c_functions import entry_parameters, functions, overload_function
from opgen.spec import Argument, Header, Op, Overload, Section
from opgen.c_text import banner, c_list, c_text, comment, heading

DTYPES = {
    "any": None,
    "numbers": "WK__NUMBERS",
    "floats": "WK__FLOATS",
    "i64 and i32": "1 << WK_I64 | 1 << WK_I32",
    "integers": "WK__INTS",
    "integers and bool": "WK__INTS | WK__BOOLS",
    "u8": "1 << WK_U8",
}
RESULTS = {"same": None, "float": "WK__RESULT_FLOAT", "bool": "WK__RESULT_BOOL"}


def default_value(a: Argument) -> str:
    """Returns the default of an argument; "" for none."""
    if a.default is None:
        return ""
    default = [a.default] if a.is_sizes else a.default
    if isinstance(default, list):
        numbers = f"(const int64_t[]){{{c_list(default)}}}" if default else "NULL"
        member = f".count = {len(default)}, .ints = {numbers}"
    elif a.kind == "WK_VALUE_TEXT":
        member = f".text = {c_text(a.default)}"
    else:
        member = f".f = {a.default!r}" if a.kind == "WK_VALUE_FLOAT" else f".i = {int(a.default)}"
    return f"{{.kind = {a.kind}, {member}}}"


def parameter(a: Argument) -> str:
    """Returns the initialiser of its wk_parameter."""
    fields = [".size = sizeof(wk_parameter)", f".name = {c_text(a.name)}", f".doc = {c_text(a.doc)}"]
    fields.append(f".kind = {a.kind}")
    marks = {
        "optional": a.is_optional,
        "keyword_only": a.keyword,
        "accepts_scalar": a.number,
        "mutated": a.is_written,
    }
    fields += [f".{mark} = true" for mark, is_set in marks.items() if is_set]
    if a.default is not None:
        fields.append(f".default_value = {default_value(a)}")
    if a.choices:
        fields.append(f".choices = (const char *const[]){{{', '.join(c_text(c) for c in a.choices)}, NULL}}")
    return "{" + ", ".join(fields) + "}"


def parameter_lists(ops: list[Op]) -> dict[str, str]:
    """Returns the distinct lists of parameters of a header, each named after its first op."""
    found: dict[str, str] = {}
    for op in ops:
        found.setdefault(", ".join(parameter(a) for a in op.arguments), f"wk__parameters_{op.name}")
    return found


def parameters_text(header: Header) -> str:
    head = (
        f"Parameters of the ops of wick/{header.name}.h, as wk_op_parameter returns them (wick/call.h). Ops with equal "
        "parameters share a list, which is named after the first of them."
    )
    out = banner(head, header) + '#include "ops/core/entries.h"\n\n'
    for members, name in parameter_lists(header.ops).items():
        out += f"const wk_parameter {name}[] = {{{members}}};\n\n"
    return out


def results(op: Op) -> list[str]:
    """Returns the number of results and their names."""
    if op.list_result or op.results_vary:
        return [".results = -1"]
    if not op.results:
        return [".results = 0"] if op.no_result else [".results = 1"]
    names = ", ".join(c_text(name) for name in op.results)
    return [f".results = {len(op.results)}", f".result_names = (const char *const[]){{{names}}}"]


def signature(op: Op, lists: dict[str, str]) -> str:
    """Returns the part of the descriptor that follows from the row."""
    fields = [f".name = {c_text(op.name)}", f".schema = {c_text(op.schema)}", f".category = {c_text(op.category)}"]
    fields.append(f".doc = {c_text(op.doc)}")
    if op.node:
        fields.append(f".grad_fn_name = {c_text(op.node)}")
    names = [a.name for a in op.arguments]
    nodes = [f"[{names.index(name)}] = {c_text(node)}" for name, node in op.number_node.items()]
    if nodes:
        fields.append(f".grad_fn_name_scalar = {{{', '.join(nodes)}}}")
    if op.dims_node:
        fields.append(f".grad_fn_name_dims = {c_text(op.dims_node)}")
    if op.arity:
        fields.append(f".arity = {op.arity}")
    if RESULTS[op.result]:
        fields.append(f".result = {RESULTS[op.result]}")
    if DTYPES[op.dtypes]:
        fields.append(f".dtypes = {DTYPES[op.dtypes]}")
    fields.append(f".parameters = {lists[', '.join(parameter(a) for a in op.arguments)]}")
    fields.append(f".parameter_count = {len(op.arguments)}")
    fields += results(op)
    fields += [".view = true"] if op.view or op.category == "view" else []
    takes_dtype = op.category == "reduction" and any(a.type == "dtype?" for a in op.arguments)
    fields += [".takes_dtype = true"] if takes_dtype else []
    fields += [".data_dependent_shape = true"] if op.data_dependent_shape else []
    fields += [] if op.own_invoke else [f".invoke = {entry(op)}"]
    fields += [f".invoke_in_place = {entry(op, '_')}"] if op.in_place else []
    return f"#define WK__SIGNATURE_{op.name} {', '.join(fields)}\n"


def entry(op: Op, suffix: str = "") -> str:
    """Returns the name of the entry for wk_call, of NAME or of NAME_."""
    return f"wk__invoke_{op.name}{suffix}" if op.has_own_entry else f"wk__invoke_pointwise{suffix}"


def invoke_prototype(op: Op, suffix: str) -> str:
    return f"int {entry(op, suffix)}(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)"


def entry_prototypes(op: Op) -> str:
    """Returns the prototype of wk__NAME if the op's file defines it."""
    out = ""
    for overload in op.overloads:
        function = overload_function(op, overload)
        if overload.entry:
            out += f"{function.returns}wk__{overload.name}({', '.join(function.parameters)});\n"
    if op.entry and op.takes_either:
        out += f"wk_tensor *wk__{op.name}(wk_site site, wk__arg a, wk__arg b);\n"
        out += f"wk_tensor *wk__{op.name}_(wk_site site, wk_tensor *a, wk__arg b);\n"
    elif op.entry:
        out += f"{'int ' if op.list_result else 'wk_tensor *'}wk__{op.name}({', '.join(entry_parameters(op))});\n"
    return out


def choice_check(op: Op, a: Argument) -> str:
    """Returns the function that checks an option that is one of several constants, also for modules."""
    names = a.constants(op.name)
    return (
        f"static inline bool wk__check_{op.name}_{a.c}(wk_site site, const char *op, const char *option, int *value)\n"
        f"{{\n    static const char *const names[] = {{{', '.join(c_text(n) for n in names)}}};\n"
        f"    return wk__option_choice(site, op, option, names, {len(names)}, {names[0]}, value);\n}}\n"
    )


def reader(op: Op) -> str:
    """Returns the function that fills in defaults of options and checks constants."""
    known = [(a, a.default if a.usual is None else a.usual) for a in op.option_arguments if a.c_type == "double "]
    lines = [f"own->{a.c} = wk__option_or(own->{a.c}, {usual});" for a, usual in known if usual is not None]
    chosen = [a for a in op.option_arguments if a.enum]
    lines += [f'if (!wk__check_{op.name}_{a.c}(site, op, ".{a.c}", &own->{a.c})) return false;' for a in chosen]
    if not lines:
        return ""
    name, struct = op.options.removeprefix("wk_"), op.options
    return "".join(choice_check(op, a) for a in chosen) + (
        f"static inline bool wk__read_{name}(wk_site site, const char *op, const {struct} *given, {struct} *own)\n"
        "{\n    if (!wk__options(site, op, given, own)) return false;\n"
        + "".join(f"    {line}\n" for line in lines)
        + "    return true;\n}\n"
    )


def entries(op: Op) -> list[str]:
    """Returns the suffixes of the entries that are generated."""
    if not op.has_own_entry:
        return []
    return ([] if op.own_invoke else [""]) + (["_"] if op.in_place else [])


def signatures_text(header: Header) -> str:
    guard = f"WICK_OPS_GENERATED_{header.name.upper()}_H"
    out = banner(
        f"The signatures of the ops of wick/{header.name}.h: what their descriptors begin with. The compiler refuses a "
        "member that the op's file sets as well.",
        header,
    )
    out += f'#ifndef {guard}\n#define {guard}\n\n#include "base/options.h"\n#include "ops/core/call.h"\n'
    out += f"#include <wick/call.h>\n#include <wick/{header.name}.h>\n\n"
    ops = header.ops
    if any(entries(op) for op in ops):
        out += comment("Entries for wk_call of ops that take more than tensors.")
    out += "".join(f"{invoke_prototype(op, suffix)};\n" for op in ops for suffix in entries(op)) + "\n"
    own = "".join(entry_prototypes(op) for op in ops)
    out += (comment("Entries defined in the files of the ops.") if own else "") + own
    readers = {op.options: reader(op) for op in ops if op.options and not header.signatures_only and reader(op)}
    if readers:
        out += "\n" + comment("Options as read by wk__options, with defaults of omitted numbers and constants.")
    out += "".join(readers.values())
    lists = parameter_lists(ops)
    out += "\n" + "".join(f"extern const wk_parameter {name}[];\n" for name in lists.values())
    return out + "\n" + "\n".join(signature(op, lists) for op in ops) + "\n#endif\n"


def invoke_option(a: Argument, k: int) -> str:
    """Returns the value of an option from argument k; 0 if omitted."""
    if a.is_choice:
        return f"{a.enum} + {a.name}" if a.enum else f"({a.c_type.strip()}){a.name}"
    if a.c_type == "double ":
        return f"wk__value_option(&args[{k}])"
    if a.is_sizes:
        return f"wk__value_sizes(&args[{k}])"
    if a.is_tensor:
        return f"wk__value_tensor(&args[{k}])"
    if a.type.startswith("str"):
        return f"wk__value_text(&args[{k}], NULL)"
    if a.c_type == "wk_device ":
        return f"wk__value_device(&args[{k}])"
    number = f"wk__value_int(&args[{k}], {int(a.default or 0)})"
    if a.is_result:
        return f"{number} != 0 ? &more[{a.name.upper()}] : NULL"
    truth = f"{number} {'==' if a.negated else '!='} 0"
    return {"bool ": truth, "int64_t ": number}.get(a.c_type, f"({a.c_type.strip()}){number}")


def invoke_operand(op: Op, a: Argument, k: int, suffix: str) -> str:
    """Returns the operand of a function for argument k."""
    if suffix and k == 0:
        return "wk__value_tensor(&args[0])"
    if op.entry and a.is_scalar:
        given = f"wk__value_arg(&args[{k}])"
        return given if a.default is None else f"args[{k}].kind == WK_VALUE_NONE ? wk__int_arg({a.default}) : {given}"
    if a.type == "Tensor[]":
        return f"args[{k}].tensors, args[{k}].kind == WK_VALUE_TENSORS ? args[{k}].count : 0"
    if a.is_list:
        return f"{a.c}, {a.count}" if a.count else a.c
    if a.is_sizes:
        return f"wk__value_sizes(&args[{k}])"
    if a.is_tensor and a.number and not op.of_number:
        return f"wk__value_arg(&args[{k}])" if op.entry else f"args[{k}]"
    if a.is_tensor:
        return f"wk__value_tensor(&args[{k}])"
    if a.c_type == "double ":
        return f"wk__value_float(&args[{k}], {a.usual or a.default or 0})"
    if a.type == "str":
        return f"wk__value_text(&args[{k}], NULL)"
    if a.c_type == "wk_device ":
        return f"wk__value_device(&args[{k}])"
    usual = a.usual if a.usual is not None else int(a.default or 0)
    number = f"wk__value_int(&args[{k}], {usual})"
    return {"bool ": f"{number} != 0", "wk_dtype ": f"(wk_dtype){number}"}.get(a.c_type, number)


def list_locals(op: Op) -> list[str]:
    """Returns the lists among the arguments with their lengths; two of one length are adjacent."""
    lines = []
    for k, a in enumerate(op.arguments):
        if not a.is_list or a.type == "Tensor[]":
            continue
        if not a.count:
            lines += [f"if (!wk__check_same_length(op, site, args, {k}, {k + 1})) return -1;"]
            lines += [f"const int64_t *{a.c} = args[{k}].ints;"]
            continue
        lines += [f"int {a.count};", f"const int64_t *{a.c} = wk__value_dims(&args[{k}], &{a.count});"]
        if a.default == []:
            lines.append(f"if ({a.count} < 0) {a.count} = 0;")
    return lines


def choice_locals(op: Op) -> list[str]:
    """Returns the index of a text among its choices."""
    lines = []
    for k, a in enumerate(op.arguments):
        if a.is_choice:
            texts = ", ".join(c_text(choice) for choice in a.choices)
            lines.append(
                f"const int {a.name} = wk__value_choice(site, {c_text(op.name)}, {c_text(a.name)}, &args[{k}], "
                f"(const char *const[]){{{texts}, NULL}});"
            )
            lines.append(f"if ({a.name} < 0) return -1;")
    return lines


def options_local(op: Op) -> list[str]:
    given = [(a, k) for k, a in enumerate(op.arguments) if a.option]
    values = "".join(f", .{a.c} = {invoke_option(a, k)}" for a, k in given)
    results = [a.name.upper() for a in op.option_arguments if a.is_result]
    lines = [f"enum {{ {', '.join(results + ['MORE'])} }};", "wk_tensor *more[MORE] = {NULL};"] if results else []
    return lines + [f"const {op.options} options = {{.size = sizeof options{values}}};"] if op.options else []


def returned(op: Op, name: str, operands: list[str], results: list[str]) -> str:
    """Returns the call, whose value is the number of results."""
    call = operands + ["out"] * op.list_result + ["&options"] * bool(op.options)
    if op.list_result:
        return f"return {name}(site, {', '.join(call)});"
    if op.results_in_options:
        return f"return wk__return_one_and_optional(out, {name}(site, {', '.join(call)}), more, MORE);"
    called = f"{name}(site, {', '.join(call + [f'&out[{k}]' for k in range(len(results))])})"
    if op.no_result or results:
        return f"return {called} == WK_OK ? {len(results)} : -1;"
    return f"return wk__return_one(out, {called});"


def overload_returned(op: Op, overload: Overload) -> tuple[str, str]:
    """Returns the test for one of several functions and its call: by the type of the last argument, or by missing
    ones."""
    given, operands, test = op.operands_of(overload), [], ""
    for k, a in enumerate(op.arguments):
        if a in given:
            operands.append(invoke_operand(op, a, k, ""))
        elif op.of_number:
            test = f"args[{k}].kind == WK_VALUE_FLOAT" if overload is op.of_number else f"args[{k}].kind != {a.kind}"
            operands.append(invoke_operand(op, given[-1], k, ""))
        else:
            test = test or f"args[{k}].kind == WK_VALUE_NONE"
    name = f"wk__{overload.name}" if overload.entry else f"wk_{overload.name}_at"
    return test, returned(op, name, operands, overload.results)


def overload_lines(op: Op) -> list[str]:
    calls = sorted((overload_returned(op, overload) for overload in op.overloads), key=lambda call: not call[0])
    return [f"if ({test}) {call}" if test else call for test, call in calls]


def call_lines(op: Op, suffix: str) -> list[str]:
    if op.overloads and not op.entry:
        return overload_lines(op)
    operands = [invoke_operand(op, a, k, suffix) for k, a in enumerate(op.arguments) if not (a.option or a.absent)]
    name = f"wk__{op.name}{suffix}" if op.entry else f"wk_{op.with_options or op.name}{suffix}_at"
    return [returned(op, name, operands, op.results)]


def invoke(op: Op, suffix: str) -> str:
    """Returns the entry for wk_call, which unpacks the arguments and calls the function."""
    lines = list_locals(op) + choice_locals(op) + options_local(op) + call_lines(op, suffix)
    unused = [] if any("(op, " in line for line in lines) else ["(void)op;"]
    lines = unused + ["(void)out;"] * op.no_result + lines
    return invoke_prototype(op, suffix) + "\n{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


# The kinds of functions of such a file: how a definition of the kind begins, and what the head says of it.
KINDS = {
    r"wk_tensor \*wk_\w+_at\(": "wk_NAME_at             called by the macro wk_NAME, which passes the call site",
    r"wk_tensor \*\(wk_": "(wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro",
    r"wk_tensor \*\(?wk_\w+_(_at)?\)?\(": "wk_NAME_, wk_NAME__at  in place: writes its result into the first operand",
    r"int wk__invoke_": "wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error",
}


def functions_head(header: Header, section: Section, definitions: list[str]) -> str:
    kinds = [said for begin, said in KINDS.items() if any(re.match(begin, text) for text in definitions)]
    what = f"Generated functions of wick/{header.name}.h. Section: {section.title}."
    return banner("\n\n".join([what, "\n".join(f"    {said}" for said in kinds)]), header)


def functions_text(header: Header, section: Section) -> str:
    """Returns the functions of a section that are not defined in the files of the ops."""
    text, all_definitions = "", []
    for op in section.ops:
        definitions = [function.definition for function in functions(op) if function.body]
        definitions += [invoke(op, suffix) for suffix in entries(op)]
        text += heading(op.name) + "\n" + "\n".join(definitions) + "\n" if definitions else ""
        all_definitions += definitions
    return functions_head(header, section, all_definitions) + '#include "ops/core/entries.h"\n\n' + text
