/* SPDX-License-Identifier: Apache-2.0 */
/* Padded copies of a factor with coordinates. For a box of positions t, all elements that any tap u reads are copied to
 * a buffer, with zeros where a coordinate is out of range, so that those of one tap are contiguous:
 *
 *     x[2 t + u - 1], size 7, t = 0..3, u = 0..2               u = 1: t + 0          u = 0, 2: t + 0, t + 1
 *                                                              even  x0 x2 x4 x6     odd   0 x1 x3 x5 0
 *
 * If t has step s, elements with equal remainders modulo s form a separate part. In two and three dimensions parts are
 * row-major boxes:
 *
 *     element of tap u at position t = at[u] + (t0 * size[1] + t1) * size[2] + t2      positions relative to the box
 *
 * A channel is one combination of all other indices on which the factor depends; each has a copy. */
#ifndef WICK_CPU_PADDED_H
#define WICK_CPU_PADDED_H

#include "backend/backend.h"

enum {
    WK__PADDED_AXES = WK__MAX_AFFINE,
    WK__PADDED_SIZE = 4,    /* bytes per element: tiles that read padded copies are f32 */
    WK__PADDED_STEP = 8,    /* maximum step of a position: a channel has up to that many parts per axis */
    WK__PADDED_TAPS = 1024, /* maximum taps if tables of them are on the stack */
};

/* A coordinate: step x position + the tap's shift, which is step x whole + remainder; low <= whole <= high. */
typedef struct wk__padded_axis {
    wk__affine_index q;
    int spatial_index;                 /* index of the position; -1: none, and a single position */
    int64_t places, step;              /* extent and step of the position */
    int64_t low, high;                 /* range of `whole` over the taps */
    int parts;                         /* number of remainders that occur */
    int8_t part[WK__PADDED_STEP];      /* part of each remainder; -1: does not occur */
    int8_t remainder[WK__PADDED_STEP]; /* remainder of each part */
} wk__padded_axis;

/* A list of indices, whose combinations are numbered in row-major order. */
typedef struct wk__padded_list {
    int count;
    int8_t index[WK__MAX_INDICES];
    int64_t places; /* number of combinations */
} wk__padded_list;

typedef struct wk__padded {
    const wk__work_args *kernel;
    int a, b;                              /* operand numbers; b is copied */
    int first;                             /* axis along which boxes are divided; earlier axes are unused */
    wk__padded_axis axis[WK__PADDED_AXES]; /* the last is the one with contiguous positions */
    wk__padded_list taps, channels;
} wk__padded;

/* Layout of the copies of a box. */
typedef struct wk__padded_box {
    int64_t place[WK__PADDED_AXES], places[WK__PADDED_AXES]; /* first position, and number of positions */
    int64_t size[WK__PADDED_AXES];                           /* of a part */
    int64_t part, channel;                                   /* elements from one to the next */
} wk__padded_box;

/* Returns the index along which C is contiguous, or if `summed` the summed one along which A is, if a coordinate of b
 * depends on it; -1 if none. */
int wk__padded_contiguous_index(const wk__work_args *kernel, int b, bool summed);
/* Fills in the axes and taps of operand b. Positions are result indices, or summed ones if `summed`; taps are the
 * others, at most `most`. Returns false if its coordinates have another form. `last`: the index with contiguous
 * positions. */
bool wk__padded_init(wk__padded *p, const wk__work_args *kernel, int b, bool summed, int last, int64_t most);
void wk__padded_add(const wk__work_args *kernel, wk__padded_list *list, int index);
/* Returns the offset of a combination in an operand, in elements, by strides only. */
int64_t wk__padded_offset(const wk__work_args *kernel, int operand, const wk__padded_list *list, int64_t number);
/* Computes the offsets of all combinations. */
void wk__padded_offsets(const wk__work_args *kernel, int operand, const wk__padded_list *list, int64_t offset[]);

/* Computes at which elements of C, A and B combination `number` of a list begins; in C, at position `from` of the first
 * axis. */
void wk__padded_start(const wk__padded *p, const wk__padded_list *list, int64_t number, int64_t from,
                      int64_t offset[1 + WK__FACTORS]);

/* Computes the box of positions `from` .. `end` along the first axis; returns false if its copies exceed any buffer. */
bool wk__padded_box_init(const wk__padded *p, int64_t from, int64_t end, wk__padded_box *box);
/* Computes at[u] for all taps. */
void wk__padded_tap_offsets(const wk__padded *p, const wk__padded_box *box, int64_t at[]);
/* Writes the copy of one channel; `element` is the offset where all coordinates are 0. */
void wk__padded_copy(const wk__padded *p, const wk__padded_box *box, int64_t element, char *to);

/* Lines of a result: the positions of a box, for a range of one other result index and one combination of the rest. */
typedef struct wk__padded_lines {
    const wk__padded *b;
    const wk__padded_box *box;
    const wk__padded_list *batch;
    int64_t number; /* of the batch */
    int line;       /* index of the lines; -1: none, and a single line */
    int64_t offset; /* of line 0 at the first position of the box, in elements of C */
} wk__padded_lines;

/* Enumerates boxes of lines `from` .. `end` whose positions are equally spaced in C, for an epilogue. */
void wk__padded_visit_boxes(const wk__padded_lines *lines, int64_t from, int64_t end, wk__epilogue_box_visit *visit,
                            void *user);

/* Returns true if a coordinate of b depends on index i. */
bool wk__padded_depends_on(const wk__padded *p, int i);

#endif
