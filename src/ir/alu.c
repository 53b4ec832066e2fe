/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of alu.def, and the class a dtype computes in. */
#include "ir.h"

const uint8_t wk__alu_arity[WK__ALU_COUNT] = {
#define WK__ALU(name, arity, kind, text) arity,
#include "alu.def"
#undef WK__ALU
};

const char wk__alu_kind[WK__ALU_COUNT] = {
#define WK__ALU(name, arity, kind, text) #kind[0],
#include "alu.def"
#undef WK__ALU
};

const char *const wk__alu_name[WK__ALU_COUNT] = {
#define WK__ALU(name, arity, kind, text) #name,
#include "alu.def"
#undef WK__ALU
};

const char *const wk__alu_text[WK__ALU_COUNT] = {
#define WK__ALU(name, arity, kind, text) text,
#include "alu.def"
#undef WK__ALU
};

wk_dtype wk__class_of(wk_dtype dtype)
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
