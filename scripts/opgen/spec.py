# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of ops: an op, its arguments, its section and header. docs/contributing/ops.md describes them."""

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

C_TYPES = {
    "Tensor": "wk_tensor *",
    "float": "double ",
    "Scalar": "double ",
    "number": "long double ",
    "int": "int64_t ",
    "bool": "bool ",
    "dtype": "wk_dtype ",
    "Device": "wk_device ",
    "str": "const char *",
    "int[1]": "wk_sizes ",  # a number for all dimensions, or a number for each
    "int[2]": "wk_sizes ",
    "int[3]": "wk_sizes ",
}
KINDS = {  # of an argument for wk_call
    "Tensor": "WK_VALUE_TENSOR",
    "Tensor[]": "WK_VALUE_TENSORS",
    "float": "WK_VALUE_FLOAT",
    "Scalar": "WK_VALUE_FLOAT",
    "int": "WK_VALUE_INT",
    "int[]": "WK_VALUE_INTS",
    "bool": "WK_VALUE_BOOL",
    "dtype": "WK_VALUE_DTYPE",
    "Device": "WK_VALUE_DEVICE",
    "str": "WK_VALUE_TEXT",
    "int[1]": "WK_VALUE_INTS",
    "int[2]": "WK_VALUE_INTS",
    "int[3]": "WK_VALUE_INTS",
}


@dataclass
class Argument:
    """A parameter of an op, as PyTorch names it."""

    name: str
    type: str  # Tensor, Tensor[], int[], int[2], int, bool, float, Scalar, dtype, str; ? is optional, (a!) is written
    # in place
    c: str = ""  # its name in C, if it differs
    c_type: str = ""  # its type in C, if it does not follow
    count: str = "count"  # of a list: the parameter with its length, "" if another list has it
    said: str = ""  # of a list: an example
    dims: bool = False  # one dimension or none, in C a list
    default: object = None
    usual: object = None  # the number in place of an omitted one, if it is the same for every call
    omit: bool = False  # may be omitted in C: one of the last, up to three
    keyword: bool = False  # in Python by name only
    option: bool | None = None  # a member of the options in C; default if it is no tensor or list
    absent: bool = False  # not in C, as it has no effect
    negated: bool = False  # of a bool that is true by default: its option in C is the opposite
    number: bool = False  # a tensor that may be a number
    whole: bool = False  # a Scalar that keeps integers: wk_NAME_i64 beside wk_NAME_f64
    no_list: str = ""  # the error for a list in its place
    choices: list[str] = field(default_factory=list)  # values of a str; in C too, or the values of an enum
    enum: int = 0  # in C the choices are constants WK_NAME_CHOICE, numbered from this; no two options share a number
    doc: str = ""

    def __post_init__(self) -> None:
        self.c = self.c or self.name
        base = self.type.rstrip("?").removesuffix("(a!)")
        self.is_sizes = C_TYPES.get(base) == "wk_sizes "
        if self.choices and not self.is_sizes and self.default not in (None, self.choices[0]):
            sys.exit(f"{self.name}: the default of a text is the first of its choices")
        self.is_list = base.endswith("[]") or self.dims
        self.is_tensor = base == "Tensor"
        self.is_scalar = base == "Scalar"
        self.element = "wk_tensor *const *" if base == "Tensor[]" else "const int64_t *"
        if self.option is None:
            self.option = not (self.is_tensor or self.is_list or self.absent)
        if not self.is_list:
            self.c_type = self.c_type or ("int " if self.enum else C_TYPES[base])

    def constants(self, op_name: str) -> list[str]:
        """Returns the constants in C of its choices."""
        return [f"WK_{op_name.upper()}_{choice.upper().replace('-', '_')}" for choice in self.choices]

    @property
    def schema(self) -> str:
        default = "=None" if self.type.endswith("?") else ""
        if self.default is not None:
            default = f'="{self.default}"' if isinstance(self.default, str) else f"={self.default}"
        return f"{self.type} {self.name}{default}"

    @property
    def is_written(self) -> bool:
        return self.type.endswith("(a!)")

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("?") or self.default is not None

    @property
    def kind(self) -> str:
        return KINDS[self.type.rstrip("?").removesuffix("(a!)")]

    @property
    def is_choice(self) -> bool:
        """Whether C passes the number of a choice."""
        return bool(self.choices) and not self.is_sizes and self.c_type != "const char *"

    @property
    def is_result(self) -> bool:
        """Whether C passes a pointer that receives a further result."""
        return self.c_type == "wk_tensor **"

    @property
    def is_marked(self) -> bool:
        """Whether it is a double among the options whose default is not 0."""
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
    arguments: list[str]  # their names; one that has another type in it is "int NAME", "float NAME", "bool NAME", or
    # "number NAME", which is a fraction or any int64_t
    results: list[str] = field(default_factory=list)
    form: bool = False  # it has a form of call of its own
    entry: bool = False  # wk_call calls wk__NAME of the op's file instead, whose messages name the op


@dataclass
class Op:
    """One row."""

    name: str
    doc: str
    category: str
    arguments: list[Argument]
    example: dict[str, object] = field(default_factory=dict)
    notes: str = ""
    formula: str = ""  # a line each
    shapes: str = ""
    dtype_rule: str = ""  # where it does not follow from dtypes and result
    gradient: str = ""  # where it is not what the formula says
    returns: str = ""  # where it is not a new tensor
    errors: str = ""
    torch: str = ""  # its name in PyTorch, if it differs
    elementwise: bool = True  # its functions are generated: the body is one call
    in_place: bool = False
    dtypes: str = "any"
    result: str = "same"
    results: list[str] = field(default_factory=list)  # the names of several
    list_result: bool = False  # a list of tensors; in C into an array, and the function returns their number
    results_in_options: bool = False  # in C options receive the others
    results_vary: bool = False  # their number depends on the arguments
    no_result: bool = False
    view: bool = False  # results may share the memory of the first argument, as all of category "view"
    node: str = ""  # grad_fn of a result
    number_node: dict[str, str] = field(default_factory=dict)  # the same if an argument is a number
    dims_node: str = ""  # and if dimensions are given
    arity: int = 0  # operands of the expression, if it does not take all arguments
    data_dependent_shape: bool = False  # so that the call waits for the device
    entry: bool = False  # the op's file has wk__NAME (and wk__NAME_), which takes scalars as wk__arg
    own_invoke: bool = False  # the op's file has the entry for wk_call
    macro: str = ""  # its macro in macros_ops.h, WK_NAME_(parameters)
    plain: bool = False  # there is wk_NAME(x) beside options, as a function
    options: str = ""  # the struct of options, if ops share one
    members: list[str] = field(default_factory=list)  # their order in that struct, if it is not that of the arguments
    c_options: list[Argument] = field(default_factory=list)  # those that wk_call does not have
    with_options: str = ""  # the function of a call with options, if one without has its own
    overloads: list[Overload] = field(default_factory=list)  # its functions, if there are several
    attributes: list[str] = field(default_factory=list)  # that the gradient reads, "int dim", "float p"
    attributes_of: str = ""  # the family of the attributes, if ops share them

    def __post_init__(self) -> None:
        for text in ("doc", "notes", "shapes", "dtype_rule", "gradient", "returns", "errors", "torch"):
            setattr(self, text, " ".join(getattr(self, text).split()))
        self.arguments = [Argument(**a) for a in self.arguments]
        self.c_options = [Argument(**a) for a in self.c_options]
        for before, a in zip(self.arguments, self.arguments[1:]):
            a.keyword = a.keyword or before.keyword
        self.overloads = [Overload(**o) for o in self.overloads]
        if self.option_arguments and not self.options:
            self.options = f"wk_{self.name}_options"
        if self.elementwise:
            if self.arity:
                raise TypeError("arity follows from the arguments where elementwise is true: leave it out")
            floats = [a for a in self.option_arguments if a.type.startswith("float")]
            self.arity = len(self.operands) + len(floats)

    @property
    def family(self) -> str:
        """The family whose attributes the op has."""
        return self.attributes_of or self.name

    @property
    def operands(self) -> list[Argument]:
        return [a for a in self.arguments if not (a.option or a.absent)]

    @property
    def option_arguments(self) -> list[Argument]:
        return [a for a in self.arguments if a.option] + self.c_options

    @property
    def scalars(self) -> list[Argument]:
        """Operands that are scalars, which wk__NAME takes as wk__arg."""
        return [a for a in self.operands if a.is_scalar] if self.entry else []

    @property
    def numbers_told_apart(self) -> bool:
        return any(a.whole for a in self.operands)

    def operands_of(self, overload: Overload) -> list[Argument]:
        """Returns the operands of one of its functions."""
        by_name = {a.name: a for a in self.arguments}
        typed = [name.rpartition(" ") for name in overload.arguments]
        return [Argument(name, type, option=False) if type else by_name[name] for type, _, name in typed]

    @property
    def shorter(self) -> Overload | None:
        """The function of a call without the last argument, if that selects it."""
        told = len(self.overloads) == 2 and self.overloads[1].arguments == self.overloads[0].arguments[:-1]
        return self.overloads[1] if told else None

    @property
    def of_number(self) -> Overload | None:
        """The function of a call whose last argument is a double; the next one takes an int64_t."""
        told = len(self.overloads) == 3 and self.overloads[1].arguments[-1].startswith("float ")
        return self.overloads[1] if told else None

    @property
    def struct_members(self) -> list[Argument]:
        by_name = {a.name: a for a in self.option_arguments}
        return [by_name[name] for name in self.members] or self.option_arguments

    @property
    def is_unary(self) -> bool:
        return len(self.arguments) == 1

    @property
    def takes_either(self) -> bool:
        """Whether either side may be a tensor or a number."""
        return len(self.operands) == 2 and all(a.number for a in self.operands)

    @property
    def schema(self) -> str:
        parts = [a.schema for a in self.arguments]
        first = next((k for k, a in enumerate(self.arguments) if a.keyword), None)
        if first is not None:
            parts.insert(first, "*")
        results = "Tensor[]" if self.list_result else "Tensor"
        if self.arguments[0].is_written:
            results = "Tensor(a!)"
        if self.no_result:
            results = "()"
        if self.results:
            results = f"({', '.join(f'Tensor {r}' for r in self.results)})"
        return f"{self.name}({', '.join(parts)}) -> {results}"

    @property
    def has_own_entry(self) -> bool:
        """Whether its entry for wk_call does more than forward tensors and numbers."""
        simple = self.elementwise and not self.entry and not self.options and (self.is_unary or self.takes_either)
        return not simple


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
    includes: list[str]

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
    includes = head.get("includes", ["call.h"])
    return Header(folder.name, head["title"], head.get("text", ""), sections, enums, only, includes)
