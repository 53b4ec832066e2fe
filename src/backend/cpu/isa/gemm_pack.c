/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of every dtype, and the GEMM table of this instruction set. Elements are moved as bits, so one function
 * serves f32 and i32. */
#include "gemm_isa.h"
#include "backend/cpu/half.h"

enum { ROWS = GEMM_FLOAT_ROWS, AHEAD = 16 };

#define TO         u32_at
#define VECTOR     u32v
#define VECTOR_AT  u32v_at
#define SPAN       LANES4
#define PART_STORE part_store_32
#define LOW        interleave_low_32
#define HIGH       interleave_high_32

#define FROM      u32_at
#define WIDEN(x)  (x)
#define NARROW(x) (x)
#define NAME(x)   x##_32
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      uint16_t
#define WIDEN(x)  bits_of_float(f32_of_f16(x))
#define NARROW(x) f16_of_f32(float_of_bits(x))
#define NAME(x)   x##_f16
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      uint16_t
#define WIDEN(x)  ((uint32_t)(x) << 16)
#define NARROW(x) bf16_of_f32(float_of_bits(x))
#define NAME(x)   x##_bf16
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      int8_t
#define WIDEN(x)  ((TO)(x))
#define NARROW(x) ((int8_t)(x))
#define NAME(x)   x##_i8
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      uint8_t
#define WIDEN(x)  ((TO)(x))
#define NARROW(x) ((uint8_t)(x))
#define NAME(x)   x##_u8
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      int16_t
#define WIDEN(x)  ((TO)(x))
#define NARROW(x) ((int16_t)(x))
#define NAME(x)   x##_i16
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#undef TO
#undef VECTOR
#undef VECTOR_AT
#undef SPAN
#undef PART_STORE
#undef LOW
#undef HIGH

#define TO         u64_at
#define VECTOR     u64v
#define VECTOR_AT  u64v_at
#define SPAN       LANES8
#define PART_STORE part_store_64
#define LOW        interleave_low_64
#define HIGH       interleave_high_64

#define FROM      u64_at
#define WIDEN(x)  (x)
#define NARROW(x) (x)
#define NAME(x)   x##_64
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

#define FROM      uint8_t
#define WIDEN(x)  ((TO)((x) != 0))
#define NARROW(x) ((uint8_t)((x) != 0))
#define NAME(x)   x##_bool
#include "gemm_pack.inc"
#undef FROM
#undef WIDEN
#undef NARROW
#undef NAME

const wk__gemm WK__ISA_NAME(wk__gemm)[] = {
    {WK_F32, &WK__ISA_NAME(wk__gemm_f32), pack_32, unpack_32},
    {WK_F16, &WK__ISA_NAME(wk__gemm_f32), pack_f16, unpack_f16},
    {WK_BF16, &WK__ISA_NAME(wk__gemm_f32), pack_bf16, unpack_bf16},
    {WK_F64, &WK__ISA_NAME(wk__gemm_f64), pack_64, unpack_64},
    {WK_I8, &WK__ISA_NAME(wk__gemm_i32), pack_i8, unpack_i8},
    {WK_U8, &WK__ISA_NAME(wk__gemm_i32), pack_u8, unpack_u8},
    {WK_I16, &WK__ISA_NAME(wk__gemm_i32), pack_i16, unpack_i16},
    {WK_I32, &WK__ISA_NAME(wk__gemm_i32), pack_32, unpack_32},
    {WK_I64, &WK__ISA_NAME(wk__gemm_i64), pack_64, unpack_64},
    {WK_BOOL, &WK__ISA_NAME(wk__gemm_i64), pack_bool, unpack_bool},
    {0},
};
