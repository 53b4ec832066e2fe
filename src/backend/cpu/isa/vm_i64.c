/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of class i64. */
#include "block_io.h"

#define CLASS         i64
#define WIDE          1
#define F(name)       i64_##name
#define SCALAR        int64_t
#define VECTOR        i64v
#define MASK          i64v
#define LANE_COUNT    LANES8
#define UNSIGNED      u64v
#define LANE          int64_t
#define UNSIGNED_LANE uint64_t
#define BITS          64
#define LOWEST        INT64_MIN
#define HIGHEST       INT64_MAX
#include "vm_integer.inc"
#include "vm_class.inc"
