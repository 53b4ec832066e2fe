/* SPDX-License-Identifier: Apache-2.0 */
/* Padded copies of a factor that has coordinates. Of a box of places t, all elements that any tap u asks for stand in a
 * buffer, with zeros where a coordinate is outside, so that those of one tap are one step from another:
 *
 *     x[2 t + u - 1], 7 places, t = 0..3, u = 0..2             u = 1: t + 0          u = 0, 2: t + 0, t + 1
 *                                                              even  x0 x2 x4 x6     odd   0 x1 x3 x5 0
 *
 * Where t steps by s, what leaves the same remainder by s is a part of its own. In two and three dimensions parts are
 * row-major boxes:
 *
 *     element of tap u at place t = at[u] + (t0 * size[1] + t1) * size[2] + t2      places counted from the box's first
 *
 * A channel is one place of all other indices on which the factor depends; each has a copy. */
#ifndef WICK_CPU_PADDED_H
#define WICK_CPU_PADDED_H

#include "backend/backend.h"

enum {
    WK__PADDED_AXES = WK__MAX_AFFINE,
    WK__PADDED_SIZE = 4,    /* bytes of an element: tiles that read such copies are for f32 */
    WK__PADDED_STEP = 8,    /* the longest step of a place: a channel has as many parts along each axis */
    WK__PADDED_TAPS = 1024, /* the most taps: tables of them are on the stack */
};

/* A coordinate: step x place + what the tap adds, which is step x whole + remainder; low <= whole <= high. */
typedef struct wk__padded_axis {
    wk__affine_index q;
    int spatial_index;                 /* its index; -1: none, and one place */
    int64_t places, step;              /* of it */
    int64_t low, high;                 /* of the taps */
    int parts;                         /* remainders that some tap has, ... */
    int8_t part[WK__PADDED_STEP];      /* ... and of each its part; -1: no tap has it */
    int8_t remainder[WK__PADDED_STEP]; /* of a part */
} wk__padded_axis;

/* Indices of a contraction: a number counts their places, row-major. */
typedef struct wk__padded_list {
    int count;
    int8_t index[WK__MAX_INDICES];
    int64_t places;
} wk__padded_list;

typedef struct wk__padded {
    const wk__work_args *kernel;
    int a, b;                              /* numbers of the operands; b is copied */
    int first;                             /* axis along which boxes are cut; those before it are none */
    wk__padded_axis axis[WK__PADDED_AXES]; /* the one whose places are neighbours is the last */
    wk__padded_list taps, channels;
} wk__padded;

/* Where the copies of a box are. */
typedef struct wk__padded_box {
    int64_t place[WK__PADDED_AXES], places[WK__PADDED_AXES]; /* its first, and how many */
    int64_t size[WK__PADDED_AXES];                           /* of a part */
    int64_t part, channel;                                   /* elements from one to the next */
} wk__padded_box;

/* The index along which elements of C are neighbours, or the summed one along which those of A are, and b has a
 * coordinate. -1: there is none. */
int wk__padded_contiguous_index(const wk__work_args *kernel, int b, bool summed);
/* Fills in the axes and the taps of operand b. Places are indices of the result, or summed ones if `summed`; taps are
 * the others. False: its coordinates are of another kind. `last`: the index whose places are to be neighbours. */
bool wk__padded_init(wk__padded *p, const wk__work_args *kernel, int b, bool summed, int last);
void wk__padded_add(const wk__work_args *kernel, wk__padded_list *list, int index);
/* The offset of a number of a list in an operand, in elements, by its strides alone. */
int64_t wk__padded_offset(const wk__work_args *kernel, int operand, const wk__padded_list *list, int64_t number);

/* The box of places `from` .. `end` along the first axis. False: its copies are beyond any buffer. */
bool wk__padded_box_init(const wk__padded *p, int64_t from, int64_t end, wk__padded_box *box);
/* at[u] of all taps. */
void wk__padded_tap_offsets(const wk__padded *p, const wk__padded_box *box, int64_t at[]);
/* Writes the copy of one channel: `element` is where all coordinates are 0. */
void wk__padded_copy(const wk__padded *p, const wk__padded_box *box, int64_t element, char *to);

/* Does a coordinate of b change with it? */
bool wk__padded_depends_on(const wk__padded *p, int i);

#endif
