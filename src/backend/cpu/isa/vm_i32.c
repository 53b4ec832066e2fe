/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of class i32, in which i8, u8, i16 and bool compute too. */
#include "block_io.h"

#define CLASS         i32
#define WIDE          0
#define F(name)       i32_##name
#define SCALAR        int32_t
#define VECTOR        i32v
#define MASK          i32v
#define LANE_COUNT    LANES4
#define UNSIGNED      u32v
#define LANE          int32_t
#define UNSIGNED_LANE uint32_t
#define BITS          32
#define LOWEST        INT32_MIN
#define HIGHEST       INT32_MAX
#include "vm_integer.inc"
#include "vm_class.inc"
