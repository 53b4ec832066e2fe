/* Elements between memory and panels. Each loop is written once, and inlined for each size of an element. */
#include "run_move.h"

#include <stdlib.h>

typedef uint8_t bytes1 __attribute__((may_alias));
typedef uint16_t bytes2 __attribute__((may_alias));
typedef uint32_t bytes4 __attribute__((may_alias));
typedef uint64_t bytes8 __attribute__((may_alias));

static inline void copy_element(char *to, const char *from, int size)
{
    switch (size) {
    case 1: *(bytes1 *)to = *(const bytes1 *)from; break;
    case 2: *(bytes2 *)to = *(const bytes2 *)from; break;
    case 4: *(bytes4 *)to = *(const bytes4 *)from; break;
    default: *(bytes8 *)to = *(const bytes8 *)from;
    }
}

static inline void move_element(char *in_panel, intptr_t in_memory, int size, bool fill)
{
    if (fill) {
        copy_element(in_panel, (const char *)in_memory, size);
    } else {
        copy_element((char *)in_memory, in_panel, size);
    }
}

static inline void move_lanes(char *panel, intptr_t address, const int64_t offset[], int64_t lanes, int size, bool fill)
{
    for (int64_t l = 0; l < lanes; l++) move_element(panel + l * size, address + (intptr_t)offset[l], size, fill);
}

void wk__move_lanes(char *panel, intptr_t address, const int64_t offset[], int64_t lanes, int size, bool fill)
{
    switch (size) {
    case 1: move_lanes(panel, address, offset, lanes, 1, fill); break;
    case 2: move_lanes(panel, address, offset, lanes, 2, fill); break;
    case 4: move_lanes(panel, address, offset, lanes, 4, fill); break;
    default: move_lanes(panel, address, offset, lanes, 8, fill);
    }
}

void wk__spread_lanes(char *panel, intptr_t address, int64_t lanes, int size)
{
    const char *from = (const char *)address;
    switch (size) {
    case 1:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + l, from, 1);
        break;
    case 2:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 2 * l, from, 2);
        break;
    case 4:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 4 * l, from, 4);
        break;
    default:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 8 * l, from, 8);
    }
}

enum { UNROLLED = 16 /* columns of a whole patch */ };

static inline void move_columns(char *panel, int64_t pitch, intptr_t memory, int64_t step, int64_t columns, int size,
                                bool fill)
{
    for (int64_t c = 0; c < columns; c++) move_element(panel + c * pitch, memory + (intptr_t)(c * step), size, fill);
}

/* Lane by lane: a lane's columns lie together. */
static inline void move_rows(char *panel, int64_t pitch, intptr_t address, int64_t step, const int64_t offset[],
                             int64_t lanes, int64_t columns, int size, bool fill)
{
    for (int64_t l = 0; l < lanes; l++) {
        intptr_t memory = address + (intptr_t)offset[l];
        if (columns == UNROLLED) {
            move_columns(panel + l * size, pitch, memory, step, UNROLLED, size, fill);
        } else {
            move_columns(panel + l * size, pitch, memory, step, columns, size, fill);
        }
    }
}

void wk__move_patch(char *panel, int64_t pitch, intptr_t address, int64_t step, const int64_t offset[], int64_t lanes,
                    int64_t columns, int size, bool fill)
{
    if (columns < 4 || llabs(step) > 2 * size) {
        for (int64_t c = 0; c < columns; c++) {
            wk__move_lanes(panel + c * pitch, address + (intptr_t)(c * step), offset, lanes, size, fill);
        }
        return;
    }
    switch (size) {
    case 1: move_rows(panel, pitch, address, step, offset, lanes, columns, 1, fill); break;
    case 2: move_rows(panel, pitch, address, step, offset, lanes, columns, 2, fill); break;
    case 4: move_rows(panel, pitch, address, step, offset, lanes, columns, 4, fill); break;
    default: move_rows(panel, pitch, address, step, offset, lanes, columns, 8, fill);
    }
}
