/* SPDX-License-Identifier: Apache-2.0 */
/* Stable sort along a dimension: by keys (sort_bitonic.c, sort_radix.c), or by merging, which sorts positions and only
 * reads values:
 *
 *   start    an item sorts 16 adjacent elements by insertion              -> first half of the scratch memory
 *   merge    an item finds the index of one position in the union of two  -> the other half, alternating
 *            sorted runs: its index in its own run plus the number of
 *            preceding elements in the other run (binary search)
 *   finish   an item writes one value and its position
 *
 * A line of n elements takes 2 + log2(n / 16) launches, each with an item per element. */
#include "sort.h"
#include "backend/gpu/codegen/device_source.h"

/* clang-format off */ /* of device code */
/* This item's line, and its position j there; `in`, and the two halves of the scratch memory. */
static const char head[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    if (item >= A(1)) return;
    const i64 line = item / PER_LINE;);
static const char memory[] = DEVICE_CODE(
    GM const STORAGE *in = (GM const STORAGE *)m2 + o2;
    GM i64 *half0 = (GM i64 *)m3 + line * LENGTH;
    GM i64 *half1 = half0 + LINES * LENGTH;
    GM i64 *from = BOUND == 0 ? half0 : half1;
    GM i64 *to = BOUND == 0 ? half1 : half0;);

/* BEFORE(x, y) is true if x must precede y regardless of their original order. NaN is greater than all others. */
static const char order[] = "#define PER_LINE LENGTH\n"
                            "#define AT(position) LOAD(in[(position) * STRIDE(2)])\n"
                            "#define LESS(x, y) ((x) < (y) || ((y) != (y) && (x) == (x)))\n"
                            "#define BEFORE(x, y) (MODE == 0 ? LESS(x, y) : LESS(y, x))\n";
static const char end_of_order[] = "#undef PER_LINE\n#undef AT\n#undef LESS\n#undef BEFORE\n";

static const char start_order[] = "#undef PER_LINE\n#define PER_LINE ((LENGTH + 15) / 16)\n";
static const char start_body[] = DEVICE_CODE(
    const i64 first = item % PER_LINE * 16;
    const i64 end = first + 16 < LENGTH ? first + 16 : LENGTH;
    for (i64 j = first; j < end; j++) {
        const T x = AT(j);
        i64 k = j;
        for (; k > first && BEFORE(x, AT(from[k - 1])); k--) from[k] = from[k - 1];
        from[k] = j;
    });

/* `low` counts the elements of the other run [other, other_end) that precede x; equal ones do if they are in the left
 * run. */
static const char merge_body[] = DEVICE_CODE(
    const i64 j = item % LENGTH;
    const i64 pair = j / (2 * WIDTH) * (2 * WIDTH);
    const i64 middle = pair + WIDTH < LENGTH ? pair + WIDTH : LENGTH;
    const i64 end = middle + WIDTH < LENGTH ? middle + WIDTH : LENGTH;
    const bool left = j < middle;
    const i64 other = left ? middle : pair;
    const T x = AT(from[j]);
    i64 low = 0;
    i64 high = left ? end - middle : middle - pair;
    while (low < high) {
        const i64 probe = (low + high) / 2;
        const T y = AT(from[other + probe]);
        const bool stands_before = left ? BEFORE(y, x) : !BEFORE(x, y);
        if (stands_before)
            low = probe + 1;
        else
            high = probe;
    }
    to[pair + (left ? j - pair : j - middle) + low] = from[j];);

static const char finish_body[] = DEVICE_CODE(
    const i64 j = item % LENGTH;
    const i64 position = from[j];
    ((GM STORAGE *)m0)[o0 + j * STRIDE(0)] = in[position * STRIDE(2)];
    ((GM i64 *)m1)[o1 + j * STRIDE(1)] = position;);
/* clang-format on */

static const char *const start_text[] = {
    wk__gpu_line_names, order, start_order, head, wk__gpu_line_starts, memory, start_body, end_of_order, NULL};
static const char *const merge_text[] = {wk__gpu_line_names, order,        head, wk__gpu_line_starts, memory,
                                         merge_body,         end_of_order, NULL};
static const char *const finish_text[] = {wk__gpu_line_names, order,        head, wk__gpu_line_starts, memory,
                                          finish_body,        end_of_order, NULL};
static const wk__gpu_template start = {.name = "sort_start", .text = start_text};
static const wk__gpu_template merge = {.name = "sort_merge", .text = merge_text};
static const wk__gpu_template finish = {.name = "sort_finish", .text = finish_text};

/* Undefined after the kernel: other kernels of the module have keys of other dtypes. */
const char wk__gpu_sort_keys[] =
    "#define EACH ((int)(32 / sizeof(KEY)))\n#define TILE (LOCALS * EACH)\n"
    "#define WORD_AT(j) (((GM const WORD *)m2)[o2 + (j) * STRIDE(2)])\n"
    "#define MAGNITUDE(x) ((x) & (WORD)(SIGN - 1))\n"
    "#define RISING(x) (MAGNITUDE(x) > INFINITE ? SIGN | (SIGN - 1) : MAGNITUDE(x) == 0 ? SIGN : "
    "((x) & SIGN) != 0 ? MAGNITUDE(~(x)) : (x) | SIGN)\n"
    "#if IS_FLOAT\n#define ORDERED(x) RISING(x)\n"
    "#else\n#define ORDERED(x) ((WORD)LOAD((STORAGE)(x)) ^ SIGN)\n#endif\n"
    "#define KEY_AT(j) ((KEY)(WORD)(MODE == 0 ? ORDERED(WORD_AT(j)) : ~ORDERED(WORD_AT(j))))\n";
const char wk__gpu_end_of_sort_keys[] = "#undef EACH\n#undef TILE\n#undef WORD_AT\n#undef MAGNITUDE\n#undef RISING\n"
                                        "#undef ORDERED\n#undef KEY_AT\n";

static wk_code plan_merge(wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    int64_t *argument = launch->argument, length = argument[WK__GPU_LENGTH], lines = argument[WK__GPU_LINES];
    int64_t elements = lines * length;
    launch->spec.nmemory = 4;
    launch->scratch = 2 * 8 * elements;
    launch->writes = false;
    argument[WK__GPU_BOUND] = 0; /* here: which half of the scratch memory is read */
    wk_code code = wk__gpu_emit_along_dim(launch, &start, lines * ((length + 15) / 16), emit, user, fail);
    for (int64_t width = 16; width < length && code == WK_OK; width *= 2) {
        argument[WK__GPU_WIDTH] = width;
        code = wk__gpu_emit_along_dim(launch, &merge, elements, emit, user, fail);
        argument[WK__GPU_BOUND] ^= 1;
    }
    launch->writes = true;
    return code == WK_OK ? wk__gpu_emit_along_dim(launch, &finish, elements, emit, user, fail) : code;
}

/* Merging is used for positions of more than 32 bits, and for small work-groups; on CPUs, where work-groups are loops,
 * also for runs that one item sorts, and for lines that are too long for one group but too short for many launches. */
static bool is_merged(const wk__gpu_target *target, int64_t length, int64_t tile)
{
    enum { RUN = 16, LONG = 1 << 16 };
    if (length > INT32_MAX || target->group_size < WK__GPU_PREFIX_ROW) return true;
    return !target->local_memory && (length <= RUN || (length > tile && length < LONG));
}

wk_code wk__gpu_lower_sort(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                           wk__fail *fail)
{
    wk__gpu_launch launch;
    wk__gpu_fill_along_dim(work->args, 3, &launch);
    const int64_t length = launch.argument[WK__GPU_LENGTH], tile = wk__gpu_sort_tile(target, launch.spec.dtype);
    if (length == 0) return WK_OK;
    if (is_merged(target, length, tile)) return plan_merge(&launch, emit, user, fail);
    return length <= tile ? wk__gpu_lower_sort_bitonic(target, &launch, emit, user, fail)
                          : wk__gpu_lower_sort_radix(target, &launch, emit, user, fail);
}
