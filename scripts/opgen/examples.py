# SPDX-License-Identifier: Apache-2.0
"""tests/ops/examples_H.c: the examples of the headers as tests."""

from opgen.spec import Header, Op
from opgen.c_text import banner, c_list, flat, operands_of_example


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
    out = banner(f"Tests the examples in wick/{header.name}.h.", header)
    out += '#include "support/wick.h"\n#include <math.h>\n\n'
    ops = header.ops
    out += "".join(example_test(op) for op in ops)
    tests = ", ".join(f"cmocka_unit_test(example_{op.name})" for op in ops)
    return (
        f"{out}int main(void)\n{{\n    const struct CMUnitTest tests[] = {{{tests}}};\n"
        "    return cmocka_run_group_tests(tests, NULL, NULL);\n}\n"
    )
