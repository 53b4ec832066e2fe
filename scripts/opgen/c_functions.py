# SPDX-License-Identifier: Apache-2.0
"""include/wick/H_calls.h: the exported functions and the structs of options."""

from dataclasses import dataclass

from opgen.spec import Argument, Header, Op, Overload
from opgen.c_text import banner, comment, heading

# Bytes of a member; the others have 8
SIZES = {"bool ": 1, "int ": 4, "wk_dtype ": 4, "wk_reduction ": 4, "wk_block_format ": 4}
ALIGNED = {"wk_device ": 4}  # where that is not its size


BEHIND_ELEMENTS = "wk_tensor_options"  # may follow elements: macros.h goes through all its members


@dataclass
class Function:
    """An exported function: its prototype, and the call that is its body; "" if the op's file defines it."""

    name: str
    parameters: list[str]
    body: str = ""
    returns: str = "wk_tensor *"

    @property
    def prototype(self) -> str:
        return f"{self.returns}{self.name}({', '.join(self.parameters)})"

    @property
    def declaration(self) -> str:
        """Returns the declaration: a new tensor must be used, the operand of a call in place need not be."""
        in_place = self.name.removesuffix("_at").removesuffix("_f64").removesuffix("_i64").removesuffix("_scalar")
        is_new = self.returns == "wk_tensor *" and not in_place.endswith("_")
        return f"{'WK_RESULT_API' if is_new else 'WK_API'} {self.prototype};\n"

    @property
    def definition(self) -> str:
        name = f"({self.name})" if not self.name.endswith("_at") else self.name  # a macro of this name is there, too
        return f"wk_tensor *{name}({', '.join(self.parameters)})\n{{\n    return {self.body};\n}}\n"


SIDES = {"t": ("wk_tensor *", "wk__tensor_arg"), "f": ("double ", "wk__float_arg"), "i": ("int64_t ", "wk__int_arg")}

SCALAR_SUFFIXES = {"tt": "", "tf": "_scalar_f64", "ti": "_scalar_i64", "ft": "_rscalar_f64", "it": "_rscalar_i64"}


def either_call(op: Op, suffix: str, site: str, left: str, right: str) -> str:
    """Returns the call; left and right convert a and b to wk__arg, except a of an entry in place."""
    if op.entry:
        return f"wk__{op.name}{suffix}({site}, {'a' if suffix else f'{left}(a)'}, {right}(b))"
    operands = (f"{{.tensor = {x}}}" if make == "wk__tensor_arg" else f"{make}({x})" for make, x in ((left, "a"),
                                                                                                     (right, "b")))
    return f"wk__elementwise{suffix}(&wk__op_{op.name}, {site}, (wk__arg[]){{{', '.join(operands)}}}, 2, NULL)"


def either_functions(op: Op, suffix: str) -> list[Function]:
    """Returns the functions of two tensors and of a tensor and a scalar; in place the first is a tensor."""
    name, out = f"wk_{op.name}{suffix}", []
    for left, right in ("tt", "tf", "ti") if suffix else ("tt", "tf", "ti", "ft", "it"):
        (left_type, left_arg), (right_type, right_arg) = SIDES[left], SIDES[right]
        kinds = SCALAR_SUFFIXES[left + right]
        parameters = ["wk_site site", f"{left_type}a", f"{right_type}b"]
        out.append(Function(f"{name}{kinds}_at", parameters, either_call(op, suffix, "site", left_arg, right_arg)))
    if not suffix:
        body = either_call(op, suffix, "(wk_site){0}", "wk__tensor_arg", "wk__tensor_arg")
        out.append(Function(name, ["wk_tensor *a", "wk_tensor *b"], body))
    return out


def unary_functions(op: Op, suffix: str) -> list[Function]:
    name, call = f"wk_{op.name}{suffix}", f"wk__unary{suffix}(&wk__op_{op.name}, "
    with_site = Function(f"{name}_at", ["wk_site site", "wk_tensor *x"], f"{call}site, x)")
    return [with_site, Function(name, ["wk_tensor *x"], f"{call}(wk_site){{0}}, x)")]


def handwritten(op: Op, name: str, operands: list[Argument], results: list[str], in_place: bool = False) -> Function:
    """Returns a function defined in the op's file."""
    parameters = ["wk_site site"]
    for k, a in enumerate(operands):
        tensor = a.is_tensor and ((in_place and k == 0) or op.overloads)
        parameters += [f"wk_tensor *{a.c}"] if tensor else a.parameters
    if op.list_result:
        parameters.append("wk_tensor **out")
    if op.options:
        parameters.append(f"const {op.options} *options")
    if op.list_result:
        return Function(f"{name}_at", parameters, returns="int ")
    if len(results) < 2:
        return Function(f"{name}_at", parameters)
    return Function(f"{name}_at", parameters + [f"wk_tensor **{result}" for result in results], returns="wk_code ")


def entry_parameters(op: Op) -> list[str]:
    """Returns the parameters of wk__NAME, which takes scalars as wk__arg."""
    parameters = ["wk_site site"]
    for a in op.operands:
        parameters += [f"wk__arg {a.c}"] if a.is_scalar else a.parameters
    if op.options:
        parameters.append(f"const {op.options} *options")
    return parameters + (["wk_tensor **out"] if op.list_result else [])


def number_function(op: Op, kind: str) -> Function:
    """Returns a function that forwards scalars to wk__NAME: double (kind f) or int64_t (i)."""
    type, make = SIDES[kind]
    parameters, passed = ["wk_site site"], ["site"]
    for a in op.operands:
        parameters += [f"{type}{a.c}"] if a.is_scalar else a.parameters
        passed += [f"{make}({a.c})"] if a.is_scalar else [a.c, a.count] if a.is_list else [a.c]
    if op.options:
        parameters.append(f"const {op.options} *options")
        passed.append("options")
    name = f"wk_{op.name}_{kind}64_at" if op.numbers_told_apart else f"wk_{op.name}_at"
    return Function(name, parameters, f"wk__{op.name}({', '.join(passed)})")


def number_functions(op: Op) -> list[Function]:
    return [number_function(op, kind) for kind in ("fi" if op.numbers_told_apart else "f")]


def overload_function(op: Op, overload: Overload) -> Function:
    return handwritten(op, f"wk_{overload.name}", op.operands_of(overload), overload.results)


def functions_of(op: Op, suffix: str) -> list[Function]:
    """Returns the functions of a row, or of its call in place."""
    name = f"wk_{op.name}{suffix}"
    if op.elementwise and op.is_unary:
        return unary_functions(op, suffix)
    if op.overloads or op.numbers_told_apart:
        numbers = number_functions(op) if op.numbers_told_apart else []
        return numbers + [overload_function(op, overload) for overload in op.overloads]
    if op.scalars:
        return number_functions(op)
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
    told = (a.is_marked or (a.is_sizes and a.default != 0)) and a.default is not None
    notes = [f"default {a.default}" if told else ""]
    notes += ["" if a.is_choice or a.is_sizes else " or ".join(f'"{choice}"' for choice in a.choices), a.doc]
    text = "; ".join(filter(None, notes))
    return f"    {a.c_type}{a.c};" + (f" /* {text} */\n" if text else "\n")


def padding(members: list[Argument]) -> str:
    """Returns a member in place of padding at the end of the struct, so that every initialiser sets it to 0."""
    end = 0
    for a in members:
        size = SIZES.get(a.c_type, 8)
        aligned = ALIGNED.get(a.c_type, size)
        end = (end + aligned - 1) // aligned * aligned + size
    return f"    char reserved[{-end % 8}];\n" if end % 8 else ""


def options_struct(op: Op) -> str:
    """Returns the struct, and the list of its doubles for macros.h."""
    name, enums = op.options, ""
    for a in op.option_arguments:
        if a.enum:
            values = [f"{constant} = {a.enum + k}" for k, constant in enumerate(a.constants(op.name))]
            default, others = a.constants(op.name)[0], "no number is a constant of two options, so others are refused"
            enums += comment(f"For .{a.c}: 0 counts as {default}; {others}.")
            enums += f"enum {{ {', '.join(values)} }};\n"
    members = "".join(option_member(a) for a in op.struct_members) + padding(op.struct_members)
    marked = " ".join(f"wk_do_(wk_o_, {a.c})" for a in op.struct_members if a.is_marked)
    lists = f"#define {name}_numbers_(wk_do_, wk_o_) {marked}\n"
    if name == BEHIND_ELEMENTS:
        each = " ".join(f"wk_do_(wk_d_, {a.c_type.strip()}, {a.c})" for a in op.struct_members)
        lists += f"#define {name}_members_(wk_do_, wk_d_) {each}\n"
    return (
        f"{enums}typedef struct {name} {{\n    size_t size;\n    wk_by_name by_name;\n{members}}} {name};\n"
        f"#ifndef __cplusplus\n{lists}#endif\n"
    )


def enum_text(enum: dict[str, object]) -> str:
    lines = [f"{v['name']}," + (f" /* {v['doc']} */" if v.get("doc") else "") for v in enum["values"]]
    return f"typedef enum {enum['name']} {{\n" + "".join(f"    {line}\n" for line in lines) + f"}} {enum['name']};\n\n"


CALLS_INTRO = """The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first;
wk_NAME, where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A
suffix names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
_rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may be
NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions."""


def calls_text(header: Header) -> str:
    guard = f"WICK_{header.name.upper()}_CALLS_H"
    out = banner(f"wick/{header.name}_calls.h: the functions behind wick/{header.name}.h.\n\n{CALLS_INTRO}", header)
    out += (
        f'#ifndef {guard}\n#define {guard}\n\n#if !defined __cplusplus && !defined __clang__\n'
        "#pragma GCC system_header /* see macros.h */\n#endif\n\n"
    )
    out += "".join(f'#include "{name}"\n' for name in header.includes)
    out += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    out += "".join(enum_text(enum) for enum in header.enums)
    known: set[str] = set()
    for section in header.sections:
        out += heading(section.title) + "\n"
        for op in section.ops:
            out += comment(f"{op.name}: {op.doc}")
            if op.options and op.options not in known:
                known.add(op.options)
                out += options_struct(op)
            out += "".join(function.declaration for function in functions(op)) + "\n"
    return out + "#ifdef __cplusplus\n}\n#endif\n#endif\n"
