/* SPDX-License-Identifier: Apache-2.0 */
/* Generates functions around bodies: one kernel per body, or one kernel with a switch over several. */
#include "codegen_blocks.h"
#include "codegen_epilogue.h"

/* Defines T, STORAGE, LOAD, STORE and NAME for templates: the dtype's class, its storage type, conversions between
 * them, and the class's suffix. WORD has the bits of an element, KEY at least as many, 32 or 64; SIGN and INFINITE are
 * the sign bit and infinity for comparing elements, 0 if the dtype has none. */
static void define_dtype(wk__text *text, wk_dtype dtype)
{
    const char *suffix = wk__gpu_suffix(dtype), *storage = wk__gpu_storage_type(dtype);
    wk__text_format(text, "#define T %s\n#define STORAGE %s\n#define NAME(x) x##_%s\n", wk__gpu_class_type(dtype),
                    storage, suffix);
    static const char *const infinite[WK_DTYPE_COUNT] = {
        [WK_F32] = "0x7f800000u", [WK_F64] = "0x7ff0000000000000L", [WK_F16] = "0x7c00u", [WK_BF16] = "0x7f80u"};
    const int bits = 8 * (int)wk_dtype_size(dtype);
    wk__text_format(text, "#define IS_FLOAT %d\n#define WORD u%d\n#define KEY u%d\n", dtype <= WK_BF16, bits,
                    bits == 64 ? 64 : 32);
    wk__text_format(text, "#define SIGN ((WORD)%d << %d)\n#define INFINITE ((WORD)%s)\n",
                    dtype != WK_U8 && dtype != WK_BOOL, bits - 1, infinite[dtype] ? infinite[dtype] : "0");
    if (dtype == WK_F16 || dtype == WK_BF16) {
        const char *name = wk_dtype_str(dtype);
        wk__text_format(text, "#define LOAD(x) wk_from_%s(x)\n#define STORE(x) wk_to_%s(x)\n", name, name);
    } else {
        wk__text_add(text, dtype == WK_BOOL ? "#define LOAD(x) ((T)((x) != 0))\n#define STORE(x) ((u8)((x) != 0))\n"
                                            : "#define LOAD(x) ((T)(x))\n#define STORE(x) ((STORAGE)(x))\n");
    }
}

static void print_fixed(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    define_dtype(text, (wk_dtype)spec->dtype);
    wk__text_format(text, "#define SCRATCH m%d\n", spec->nmemory - 1); /* if any */
    for (const char *const *piece = spec->source_template->text; *piece != NULL; piece++) {
        if (*piece == wk__gpu_mark_outer) {
            wk__gpu_codegen_epilogue_outer(text, spec);
        } else if (*piece == wk__gpu_mark_result) {
            wk__gpu_codegen_epilogue_result(text, spec);
        } else if (*piece == wk__gpu_mark_decoder) {
            wk__gpu_codegen_decoder(text, spec);
        } else {
            wk__text_add(text, *piece);
        }
    }
    wk__text_add(text, "#undef T\n#undef STORAGE\n#undef NAME\n#undef IS_FLOAT\n#undef LOAD\n#undef STORE\n"
                       "#undef WORD\n#undef KEY\n#undef SIGN\n#undef INFINITE\n#undef SCRATCH\n");
}

void wk__gpu_codegen_body(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    if (spec->group != NULL) wk__text_format(text, "#define idx %s\n", spec->config.index32 ? "i32" : "i64");
    if (spec->source_template != NULL) {
        print_fixed(text, spec);
    } else {
        wk__gpu_codegen_program(text, spec->group, spec->config);
    }
    if (spec->group != NULL) wk__text_add(text, "#undef idx\n");
}

static void print_memory_parameters(wk__text *text, int count)
{
    wk__text_add(text, "GM i32 *F");
    for (int k = 0; k < count; k++) wk__text_format(text, ", GM char *m%d", k);
}

void wk__gpu_codegen_function(wk__text *text, const wk__gpu_target *target, const wk__gpu_kernel_spec *spec,
                              const char *name, const char *body)
{
    bool by_value = wk__gpu_arguments_by_value(target, spec);
    if (by_value) wk__text_format(text, "typedef struct { i64 v[%d]; } %s_arguments;\n", spec->narguments, name);
    const bool wide = wk_dtype_size(wk__compute_class((wk_dtype)spec->dtype)) > 4;
    if (spec->source_template != NULL && spec->source_template->min_groups_per_unit > 0 && !wide) {
        wk__text_format(text, "KERNEL_AT_ONCE(LOCALS, %d) %s(", spec->source_template->min_groups_per_unit, name);
    } else {
        wk__text_format(text, "KERNEL(LOCALS) %s(", name);
    }
    print_memory_parameters(text, spec->nmemory);
    if (by_value) {
        wk__text_format(text, ", const %s_arguments arguments)\n{\n#define A(k) arguments.v[k]\n", name);
    } else {
        wk__text_add(text, ", GM const i64 *arguments)\n{\n#define A(k) arguments[k]\n");
    }
    wk__text_add(text, body);
    wk__text_add(text, "#undef A\n}\n");
}

void wk__gpu_codegen_switch(wk__text *text, const char *name, int nmemory, const char *const bodies[], int count)
{
    wk__text_format(text, "KERNEL(LOCALS) %s(", name);
    print_memory_parameters(text, nmemory);
    wk__text_add(text, ", GM const i64 *arguments, const i32 which)\n{\n#define A(k) arguments[k]\nswitch (which) {\n");
    for (int k = 0; k < count; k++) {
        wk__text_format(text, "case %d: {\n", k);
        wk__text_add(text, bodies[k]);
        wk__text_add(text, "break; }\n");
    }
    wk__text_add(text, "}\n#undef A\n}\n");
}
