/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a wk_sizes (sizes.h). The encoding is that of wk_sizes_of() in wick/core.h: the upper 4 bits are 0 or 15 for a
 * number, 4 for a pair, 5 for a triple and 6 for anything else, whose kind is in the next 4 bits. */
#include "sizes.h"
#include "context.h"
#include <inttypes.h>

typedef enum sizes_kind { NUMBER, PAIR = 4, TRIPLE = 5, SPECIAL = 6 } sizes_kind;
typedef enum special_kind { SAME = 1, VALID, ZERO, WRONG_COUNT, OUT_OF_RANGE } special_kind;

static const char *const written[2][1 + WK__MAX_SIZES] = {
    {"", "a number", "a number or WK_PAIR(a, b)", "a number or WK_TRIPLE(a, b, c)"},
    {"", "a number", "a number or (a, b)", "a number or (a, b, c)"},
};

const wk__sizes_rule wk__kernel_rule = {.name = "kernel", .least = 1, .is_kernel = true};
const wk__sizes_rule wk__stride_rule = {.name = "stride", .usual = 1, .least = 1};
const wk__sizes_rule wk__padding_rule = {.name = "padding"};
const wk__sizes_rule wk__dilation_rule = {.name = "dilation", .usual = 1, .least = 1};

static bool refuse(wk_site site, const char *op, const wk__sizes_rule *rule, int count, const char *problem)
{
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s %s; write %s%s", op, rule->name, problem,
                  written[rule->is_kernel][count], rule->pads ? ", WK_SAME or WK_VALID" : "");
    return false;
}

static bool refuse_count(wk_site site, const char *op, const wk__sizes_rule *rule, int count, int given)
{
    char problem[80];
    snprintf(problem, sizeof problem, "has %d numbers for %d dimension%s", given, count, count == 1 ? "" : "s");
    return refuse(site, op, rule, count, problem);
}

/* Returns bits [at, at + width) of a value as a signed number. */
static int64_t field(wk_sizes value, int at, int width)
{
    const uint64_t bits = (uint64_t)value >> at & (((uint64_t)1 << width) - 1), sign = (uint64_t)1 << (width - 1);
    return (int64_t)(bits ^ sign) - (int64_t)sign;
}

static bool unpack(wk_site site, const char *op, const wk__sizes_rule *rule, wk_sizes given, int count, int64_t size[])
{
    const int kind = (int)((uint64_t)given >> 60), numbers = kind == PAIR ? 2 : 3, width = kind == PAIR ? 30 : 20;
    const int special = kind == SPECIAL ? (int)((uint64_t)given >> 56 & 15) : 0;
    if (kind == PAIR || kind == TRIPLE) {
        if (numbers != count) return refuse_count(site, op, rule, count, numbers);
        for (int d = 0; d < count; d++) size[d] = field(given, width * (count - 1 - d), width);
        return true;
    }
    if (special == WRONG_COUNT) return refuse_count(site, op, rule, count, (int)(given & 0xffff));
    if (special == SAME || special == VALID) return refuse(site, op, rule, count, "must be given in numbers");
    if (special == OUT_OF_RANGE || (kind != NUMBER && kind != 15 && special != ZERO))
        return refuse(site, op, rule, count, "has a number out of range");
    for (int d = 0; d < count; d++) size[d] = special == ZERO ? 0 : given ? given : rule->usual;
    return true;
}

bool wk__sizes_read(wk_site site, const char *op, const wk__sizes_rule *rule, wk_sizes given, int count, int64_t size[])
{
    if (!unpack(site, op, rule, given, count, size)) return false;
    for (int d = 0; d < count; d++) {
        if (size[d] >= rule->least) continue;
        char problem[80];
        snprintf(problem, sizeof problem, "must be at least %" PRId64 ", got %" PRId64, rule->least, size[d]);
        return refuse(site, op, rule, count, problem);
    }
    return true;
}

const char *wk__unsqueeze_hint(int ndim, int least)
{
    return ndim == least - 1 ? "; add the missing first dimension with wk_unsqueeze(x, 0)" : "";
}

int wk__sizes_count(wk_sizes given)
{
    const int kind = (int)((uint64_t)given >> 60);
    return kind == PAIR ? 2 : kind == TRIPLE ? 3 : 1;
}
