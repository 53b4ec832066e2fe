/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation form C: canonical decomposition, order of combining characters, and composition (Unicode Standard
 * Annex 15); and removal of accents. Syllables of Hangul are computed. */
#include "base/alloc.h"
#include "unicode.h"
#include <string.h>

/* Characters first, ..., last of a combining class other than 0. */
typedef struct combining_range {
    uint32_t first, last;
    uint8_t class;
} combining_range;

/* A character and the one or two characters of its canonical decomposition. */
typedef struct decomposition {
    uint32_t code, first, second; /* second: 0 if there is one */
} decomposition;

/* Characters first, ..., last that have neither a class nor a decomposition in the version of Unicode of BERT. */
typedef struct later_range {
    uint32_t first, last;
} later_range;

#include "nfc_tables.inc"

/* Hangul: L x V x T. */
enum {
    S_BASE = 0xac00,
    L_BASE = 0x1100,
    V_BASE = 0x1161,
    T_BASE = 0x11a7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28,
    S_COUNT = L_COUNT * V_COUNT * T_COUNT
};

/* A character with its combining class. */
typedef struct mark {
    uint32_t code;
    uint8_t class;
} mark;

/* A text as characters. */
typedef struct marks {
    mark *at; /* owned */
    int64_t count, capacity;
    int64_t run;    /* index after the last character of class 0 */
    bool unordered; /* a class after run is lower than the one before it */
    bool bert;      /* characters of later_ranges are without class and decomposition */
    bool failed;
} marks;

static uint8_t class_of(uint32_t code)
{
    const combining_range *range = &combining_ranges[WK__CODE_SEARCH(combining_ranges, code)];
    return code >= range->first && code <= range->last ? range->class : 0;
}

static bool is_later(uint32_t code)
{
    const later_range *range = &later_ranges[WK__CODE_SEARCH(later_ranges, code)];
    return code >= range->first && code <= range->last;
}

static const decomposition *decomposition_of(uint32_t code)
{
    const decomposition *found = &decompositions[WK__CODE_SEARCH(decompositions, code)];
    return found->code == code ? found : NULL;
}

/* Orders the combining characters from m->run on by class, and keeps the order within a class. Counting sort,
 * because a text may have very many of them. */
static void order_run(marks *m)
{
    const int64_t count = m->count - m->run;
    int64_t place[256] = {0};
    mark *run = m->at + m->run, *copy = wk__realloc(NULL, (size_t)count, sizeof *copy);
    if (!copy) {
        m->failed = true;
        return;
    }
    for (int64_t k = 0; k < count; k++) place[run[k].class + (run[k].class < 255)]++;
    for (int k = 1; k < 256; k++) place[k] += place[k - 1];
    memcpy(copy, run, (size_t)count * sizeof *copy);
    for (int64_t k = 0; k < count; k++) run[place[copy[k].class]++] = copy[k];
    wk__free(copy);
}

/* Ends a run of combining characters. */
static void end_run(marks *m)
{
    if (m->unordered && !m->failed) order_run(m);
    m->unordered = false;
}

static void add(marks *m, uint32_t code)
{
    const mark added = {code, m->bert && is_later(code) ? 0 : class_of(code)};
    if (added.class == 0) end_run(m);
    if (m->failed || !wk__grow(&m->at, &m->capacity, m->count + 1, sizeof *m->at)) {
        m->failed = true;
        return;
    }
    if (added.class > 0 && m->count > m->run && m->at[m->count - 1].class > added.class) m->unordered = true;
    m->at[m->count++] = added;
    if (added.class == 0) m->run = m->count;
}

/* Appends the full decomposition of a character; at most four deep. */
static void decompose(marks *m, uint32_t code)
{
    const decomposition *parts = code < 0xc0 || (m->bert && is_later(code)) ? NULL : decomposition_of(code);
    if (code >= S_BASE && code < S_BASE + S_COUNT) {
        const uint32_t s = code - S_BASE, t = s % T_COUNT;
        add(m, L_BASE + s / (V_COUNT * T_COUNT));
        add(m, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT);
        if (t > 0) add(m, T_BASE + t);
    } else if (parts) {
        decompose(m, parts->first);
        if (parts->second) decompose(m, parts->second);
    } else {
        add(m, code);
    }
}

/* Returns the composition of two characters; 0 if they have none. */
static uint32_t compose(uint32_t first, uint32_t second)
{
    if (first >= L_BASE && first < L_BASE + L_COUNT && second >= V_BASE && second < V_BASE + V_COUNT)
        return S_BASE + ((first - L_BASE) * V_COUNT + (second - V_BASE)) * T_COUNT;
    if (first >= S_BASE && first < S_BASE + S_COUNT && (first - S_BASE) % T_COUNT == 0 && second > T_BASE &&
        second < T_BASE + T_COUNT)
        return first + (second - T_BASE);
    int low = 0, high = sizeof compositions / sizeof *compositions;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        const decomposition *pair = &decompositions[compositions[middle]];
        if (pair->first < first || (pair->first == first && pair->second <= second))
            low = middle;
        else
            high = middle;
    }
    const decomposition *found = &decompositions[compositions[low]];
    return found->first == first && found->second == second ? found->code : 0;
}

/* Composes each character with the last one of class 0, unless one between them has the same or a higher class. */
static void compose_all(marks *m)
{
    int64_t starter = -1, kept = 0;
    uint8_t last = 0; /* class of the last character that was kept after the starter; 0: none */
    for (int64_t k = 0; k < m->count; k++) {
        const mark c = m->at[k];
        const bool reached = starter >= 0 && (kept == starter + 1 || (last > 0 && last < c.class));
        const uint32_t composed = reached ? compose(m->at[starter].code, c.code) : 0;
        if (composed) {
            m->at[starter].code = composed;
            continue;
        }
        if (c.class == 0) starter = kept;
        last = c.class;
        m->at[kept++] = c;
    }
    m->count = kept;
}

/* Decomposes a text. */
static void decompose_all(marks *m, const char *bytes, int64_t count)
{
    int length;
    for (int64_t at = 0; at < count; at += length) decompose(m, wk__utf8_code(bytes + at, &length));
    end_run(m);
}

void wk__text_add_without_accents(wk__text *text, const char *bytes, int64_t count)
{
    marks m = {.bert = true};
    decompose_all(&m, bytes, count);
    for (int64_t k = 0; k < m.count; k++)
        if (!wk__is_bert_mark(m.at[k].code)) wk__text_add_code(text, m.at[k].code);
    text->failed |= m.failed;
    wk__free(m.at);
}

void wk__text_add_nfc(wk__text *text, const char *bytes, int64_t count)
{
    const char *at = bytes, *const end = at + count;
    while (at < end && (unsigned char)*at < 0xcc) at++; /* below U+0300 nothing changes */
    if (at == end) {
        wk__text_add_n(text, bytes, count);
        return;
    }
    marks m = {0};
    decompose_all(&m, bytes, count);
    compose_all(&m);
    for (int64_t k = 0; k < m.count; k++) wk__text_add_code(text, m.at[k].code);
    text->failed |= m.failed;
    wk__free(m.at);
}
