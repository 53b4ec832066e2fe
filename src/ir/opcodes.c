/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of opcodes.def, and the compute class of each dtype. */
#include "ir.h"

const uint8_t wk__opcode_arity[WK__OPCODE_COUNT] = {
#define WK__OPCODE(name, arity, kind, text) arity,
#include "opcodes.def"
#undef WK__OPCODE
};

const char wk__opcode_kind[WK__OPCODE_COUNT] = {
#define WK__OPCODE(name, arity, kind, text) #kind[0],
#include "opcodes.def"
#undef WK__OPCODE
};

const char *const wk__opcode_name[WK__OPCODE_COUNT] = {
#define WK__OPCODE(name, arity, kind, text) #name,
#include "opcodes.def"
#undef WK__OPCODE
};

const char *const wk__opcode_text[WK__OPCODE_COUNT] = {
#define WK__OPCODE(name, arity, kind, text) text,
#include "opcodes.def"
#undef WK__OPCODE
};

wk_dtype wk__compute_class(wk_dtype dtype)
{
    switch (dtype) {
    case WK_F64: return WK_F64;
    case WK_I64: return WK_I64;
    case WK_I8:
    case WK_U8:
    case WK_I16:
    case WK_I32:
    case WK_BOOL: return WK_I32;
    default: return WK_F32;
    }
}
