/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort of long lines, with digits of 8 bits, from the lowest. Three launches per digit:
 *
 *   count    a work-group counts the digits in a tile of the line
 *   offsets  a work-group per digit of a line: number of that digit in the tiles before each, and in the line
 *   move     a work-group sorts its tile by the digit in local memory, and copies each run of one digit to its final
 *            position
 *
 * All of them preserve the order of equal digits. The first digit's launches read the line itself, the last one's write
 * the results; those between alternate between two halves of the scratch memory, which contain keys, then positions. */
#include "sort.h"
#include "backend/gpu/codegen/device_source.h"

/* Indices of this kernel's own arguments. */
enum {
    HALF = WK__GPU_LINE_ARGUMENTS, /* bytes of one half */
    COUNTS,                        /* offset of the counts in bytes */
    ARGUMENTS,
    DIGITS = 256
};

/* clang-format off */ /* of device code */
/* WIDTH: bits below the digit. BOUND: half that is read; the other one is written. Counts: [line][digit][tile]; then,
 * for entire lines, [line][digit]. */
static const char names[] = "#define HALF A(44)\n#define COUNTS A(45)\n"
                            "#define DIGIT(key) ((int)((key) >> WIDTH & 255))\n"
                            "#define KEYS(half) ((GM KEY *)(m3 + (half) * HALF) + line * LENGTH)\n"
                            "#define POSITIONS(half) "
                            "((GM u32 *)((GM KEY *)(m3 + (half) * HALF) + LINES * LENGTH) + line * LENGTH)\n"
                            "#define TILE_COUNTS ((GM u32 *)(m3 + COUNTS))\n"
                            "#define LINE_COUNTS (TILE_COUNTS + LINES * 256 * PARTS)\n"
                            "#define JOINED u32\n#define NOTHING 0u\n#define JOIN(x, y) ((x) + (y))\n";
static const char end_of_names[] = "#undef HALF\n#undef COUNTS\n#undef DIGIT\n#undef KEYS\n#undef POSITIONS\n"
                                   "#undef TILE_COUNTS\n#undef LINE_COUNTS\n"
                                   "#undef JOINED\n#undef NOTHING\n#undef JOIN\n";
_Static_assert(HALF == 44 && COUNTS == 45 && DIGITS == 256, "the texts have these numbers");

static const char tile_of_group[] = DEVICE_CODE(
    const i64 group = A(0) + GROUP;
    const i64 line = group / PARTS;
    const i64 part = group % PARTS;
    const i64 begin = part * TILE;
    const int here = (int)wk_min_i64(TILE, LENGTH - begin););

static const char count[] = DEVICE_CODE(
    SHARED(u32, counters, 256);
    for (int d = LOCAL; d < 256; d += LOCALS) counters[d] = 0;
    BARRIER;
    for (int i = LOCAL; i < here; i += LOCALS) {
        const KEY key = WIDTH == 0 ? KEY_AT(begin + i) : KEYS(BOUND)[begin + i];
        COUNT_UP(&counters[DIGIT(key)]);
    }
    BARRIER;
    for (int d = LOCAL; d < 256; d += LOCALS) TILE_COUNTS[(line * 256 + d) * PARTS + part] = counters[d];);

static const char offsets_head[] = DEVICE_CODE(
    const i64 row = A(0) + GROUP;
    GM u32 *counts = TILE_COUNTS + row * PARTS;
    u32 sum = 0;
    for (i64 first = 0; first < PARTS; first += LOCALS) {
        const i64 part = first + LOCAL;
        const u32 own = part < PARTS ? counts[part] : 0;);
static const char offsets_tail[] = DEVICE_CODE(
        if (part < PARTS) counts[part] = sum + before;
        sum += all;
    }
    if (LOCAL == 0) LINE_COUNTS[row] = sum;);

/* The tile in local memory, in order; the destination of each digit's run. */
static const char move_memory[] = DEVICE_CODE(
    SHARED(KEY, keys, TILE);
    SHARED(u32, positions, TILE);
    SHARED(u32, counters, LOCALS * 8);
    SHARED(u32, place_of, 256);
    SHARED(u32, begin_of, 256););
static const char move_load[] = DEVICE_CODE(
    for (int i = LOCAL; i < here; i += LOCALS) {
        keys[i] = WIDTH == 0 ? KEY_AT(begin + i) : KEYS(BOUND)[begin + i];
        positions[i] = WIDTH == 0 ? (u32)(begin + i) : POSITIONS(BOUND)[begin + i];
    }
    {
        GM const u32 *totals = LINE_COUNTS + line * 256;
        const int first = LOCAL * (256 / LOCALS);
        const int end = first + 256 / LOCALS;
        u32 own = 0;
        for (int d = first; d < end; d++) own += totals[d];);
/* After wk__gpu_prefix_before. The memory for prefixes is reused only after the next barrier. */
static const char move_places[] = DEVICE_CODE(
        u32 place = before;
        for (int d = first; d < end; d++) {
            place_of[d] = place + TILE_COUNTS[(line * 256 + d) * PARTS + part];
            place += totals[d];
        }
    });
/* Twice, by 4 bits. An item counts the digits of its adjacent elements, and a prefix over the counts of all items,
 * digit by digit, gives destinations: in the lower halves of words for digits 0 to 7, in the upper halves for the
 * others, which start where those end. */
static const char move_count[] = DEVICE_CODE(
    for (int shift = 0; shift < 8; shift += 4) {
        KEY own_key[EACH];
        u32 own_position[EACH];
        for (int d = 0; d < 8; d++) counters[d * LOCALS + LOCAL] = 0;
        for (int e = 0; e < EACH; e++) {
            const int i = LOCAL * EACH + e;
            if (i >= here) continue;
            own_key[e] = keys[i];
            own_position[e] = positions[i];
            const int digit = DIGIT(own_key[e]) >> shift & 15;
            counters[(digit & 7) * LOCALS + LOCAL] += 1u << digit / 8 * 16;
        }
        BARRIER;
        u32 own = 0;
        for (int c = LOCAL * 8; c < LOCAL * 8 + 8; c++) own += counters[c];);
static const char move_sort[] = DEVICE_CODE(
        u32 places = before + (all << 16);
        for (int c = LOCAL * 8; c < LOCAL * 8 + 8; c++) {
            const u32 counted = counters[c];
            counters[c] = places;
            places += counted;
        }
        BARRIER;
        for (int e = 0; e < EACH; e++) {
            if (LOCAL * EACH + e >= here) continue;
            const int digit = DIGIT(own_key[e]) >> shift & 15;
            const int c = (digit & 7) * LOCALS + LOCAL;
            const int to = (int)(counters[c] >> digit / 8 * 16 & 0xffffu);
            counters[c] += 1u << digit / 8 * 16;
            keys[to] = own_key[e];
            positions[to] = own_position[e];
        }
        BARRIER;
    });
static const char move_store[] = DEVICE_CODE(
    for (int i = LOCAL; i < here; i += LOCALS) {
        const int digit = DIGIT(keys[i]);
        if (i == 0 || DIGIT(keys[i - 1]) != digit) begin_of[digit] = (u32)i;
    }
    BARRIER;
    for (int i = LOCAL; i < here; i += LOCALS) {
        const KEY key = keys[i];
        const i64 to = (i64)(place_of[DIGIT(key)] - begin_of[DIGIT(key)] + (u32)i);
        const i64 position = (i64)positions[i];
        if (WIDTH + 8 < 8 * (int)sizeof(WORD)) {
            KEYS(1 - BOUND)[to] = key;
            POSITIONS(1 - BOUND)[to] = (u32)position;
        } else {
            ((GM STORAGE *)m0)[o0 + to * STRIDE(0)] = ((GM const STORAGE *)m2)[o2 + position * STRIDE(2)];
            ((GM i64 *)m1)[o1 + to * STRIDE(1)] = position;
        }
    });
/* clang-format on */

static const char *const count_text[] = {wk__gpu_line_names, wk__gpu_sort_keys,        names,
                                         tile_of_group,      wk__gpu_line_starts,      count,
                                         end_of_names,       wk__gpu_end_of_sort_keys, NULL};
static const char *const offsets_text[] = {
    wk__gpu_line_names, names,        wk__gpu_prefix_memory, offsets_head, wk__gpu_prefix_before,
    wk__gpu_prefix_all, offsets_tail, end_of_names,          NULL};
static const char *const move_text[] = {wk__gpu_line_names,
                                        wk__gpu_sort_keys,
                                        names,
                                        wk__gpu_prefix_memory,
                                        move_memory,
                                        tile_of_group,
                                        wk__gpu_line_starts,
                                        move_load,
                                        wk__gpu_prefix_before,
                                        move_places,
                                        move_count,
                                        wk__gpu_prefix_before,
                                        wk__gpu_prefix_all,
                                        move_sort,
                                        move_store,
                                        end_of_names,
                                        wk__gpu_end_of_sort_keys,
                                        NULL};
static const wk__gpu_template radix_count = {.name = "sort_count", .text = count_text};
static const wk__gpu_template radix_offsets = {.name = "sort_offsets", .text = offsets_text};
static const wk__gpu_template radix_move = {.name = "sort_move", .text = move_text};

static int64_t to_multiple_of_8(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

wk_code wk__gpu_lower_sort_radix(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                 void *user, wk__fail *fail)
{
    int64_t *argument = launch->argument, lines = argument[WK__GPU_LINES], length = argument[WK__GPU_LENGTH];
    const int64_t bits = 8 * (int64_t)wk_dtype_size((wk_dtype)launch->spec.dtype), digits = bits / 8;
    const int64_t tiles = wk__chunk_count(length, wk__gpu_sort_tile(target, launch->spec.dtype));
    const int64_t pair = (bits == 64 ? 8 : 4) + 4, halves = wk__min_i64(digits - 1, 2);
    argument[WK__GPU_PARTS] = tiles;
    argument[WK__GPU_BOUND] = 1;
    argument[HALF] = to_multiple_of_8(lines * length * pair);
    argument[COUNTS] = halves * argument[HALF];
    launch->spec.narguments = ARGUMENTS;
    launch->spec.nmemory = 4;
    launch->spec.per_group = true;
    launch->scratch = argument[COUNTS] + 4 * lines * DIGITS * (tiles + 1);
    const uint8_t dtype = launch->spec.dtype;
    wk_code code = WK_OK;
    for (int64_t digit = 0; digit < digits && code == WK_OK; digit++) {
        argument[WK__GPU_WIDTH] = 8 * digit;
        launch->writes = false;
        code = wk__gpu_emit_along_dim(launch, &radix_count, lines * tiles, emit, user, fail);
        launch->spec.dtype = WK_I64; /* one kernel for all dtypes: it only reads counts */
        if (code == WK_OK) code = wk__gpu_emit_along_dim(launch, &radix_offsets, lines * DIGITS, emit, user, fail);
        launch->spec.dtype = dtype;
        launch->writes = digit == digits - 1;
        if (code == WK_OK) code = wk__gpu_emit_along_dim(launch, &radix_move, lines * tiles, emit, user, fail);
        argument[WK__GPU_BOUND] ^= 1;
    }
    return code;
}
