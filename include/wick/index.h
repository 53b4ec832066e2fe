/* SPDX-License-Identifier: Apache-2.0 */
/* wick/index.h: reading and writing elements by an index for each dimension, as x[1, :, 2:10] in Python.
 *
 *     number              the element or slice at this index; the dimension is dropped
 *     WK_ALL              all of the dimension, as :
 *     WK_SLICE(a, b)      indices a to b - 1, as a:b; WK_SLICE(a, b, step) every step-th of them, as a:b:step
 *     WK_NEW              a new dimension of size 1, as None
 *     WK_REST             all of the dimensions that no other index is for, as ...
 *     i64 or i32 tensor   the elements at these indices; several such tensors broadcast together
 *     bool tensor         the elements at which it is true; it replaces as many dimensions as it has
 *
 * A negative number counts from the end, and WK_END is the end. Missing indices at the end are WK_ALL. Without tensors
 * wk_get returns a view; with tensors it copies. The dimensions of adjacent tensors are in the position of the first
 * tensor, else they come first. */
#ifndef WICK_INDEX_H
#define WICK_INDEX_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One index. Made by the functions below, or by the macros WK_ALL, WK_SLICE, WK_NEW and WK_REST. */
typedef enum wk_index_kind {
    WK_INDEX_NUMBER,
    WK_INDEX_SLICE,
    WK_INDEX_NEW,
    WK_INDEX_REST,
    WK_INDEX_TENSOR
} wk_index_kind;
typedef struct wk_index {
    wk_index_kind kind;
    int64_t first, end, step; /* of a slice; first is the number */
    wk_tensor *tensor;        /* not owned */
} wk_index;

static inline wk_index wk_index_number(int64_t number)
{
    wk_index index = {WK_INDEX_NUMBER, number, 0, 0, NULL};
    return index;
}
static inline wk_index wk_index_slice(int64_t first, int64_t end, int64_t step)
{
    wk_index index = {WK_INDEX_SLICE, first, end, step, NULL};
    return index;
}
static inline wk_index wk_index_new(void)
{
    wk_index index = {WK_INDEX_NEW, 0, 0, 0, NULL};
    return index;
}
static inline wk_index wk_index_rest(void)
{
    wk_index index = {WK_INDEX_REST, 0, 0, 0, NULL};
    return index;
}
static inline wk_index wk_index_tensor(wk_tensor *tensor)
{
    wk_index index = {WK_INDEX_TENSOR, 0, 0, 0, tensor};
    return index;
}
/* wk_get(x, (indices)): Selects elements of x.
 * Gradient:  flows to the selected elements; an element that is selected several times gets the sum
 * Returns:   a view that shares x's memory, or with tensors a new tensor; owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if there are more indices than dimensions or one is out of range, for tensors possibly
 *            reported later; WK_ERR_ARGUMENT for two WK_REST, a step less than 1 or an unknown kind; WK_ERR_SHAPE if
 *            tensors do not broadcast or a mask does not fit; WK_ERR_DTYPE for a tensor of another dtype
 * Example:   wk_get(x, (WK_ALL, 0)) is {1, 3} for x = {{1, 2}, {3, 4}}
 * PyTorch:   x[indices] */
WK_RESULT_API wk_tensor *wk_get_at(wk_site site, wk_tensor *x, const wk_index *index, int count);

/* wk_set(x, (indices), value): Writes a number or a tensor, which broadcasts, to the elements that wk_get selects.
 * Order:     an element that is selected several times gets the last value
 * Gradient:  flows to value, and to the other elements of x
 * Dtypes:    value is converted to x's dtype
 * Returns:   x; NULL on error
 * Errors:    as wk_get; WK_ERR_SHAPE if value does not broadcast; WK_ERR_STATE if x is a leaf that requires grad or
 *            selected elements share memory, as in an expanded dimension; a single row of one may be written
 * Example:   wk_set(x, (1, WK_ALL), 9) makes x {{1, 2}, {9, 9}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   x[indices] = value */
WK_API wk_tensor *wk_set_at(wk_site site, wk_tensor *x, const wk_index *index, int count, wk_value value);

#ifdef __cplusplus
}
#endif

#define WK_END 0x7fffffffffffffff /* INT64_MAX */

#ifndef __cplusplus
#define WK_ALL                          wk_index_slice(0, WK_END, 1)
#define WK_NEW                          wk_index_new()
#define WK_REST                         wk_index_rest()
#define WK_SLICE(...)                   WK_JOIN_(WK_SLICE_OF_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define WK_SLICE_OF_1(...)              WK_REFUSE_INDEX_("WK_SLICE: write both ends: WK_SLICE(first, WK_END)")
#define WK_SLICE_OF_2(first, end)       wk_index_slice(WK_SIZE_(first), WK_SIZE_(end), 1)
#define WK_SLICE_OF_3(first, end, step) wk_index_slice(WK_SIZE_(first), WK_SIZE_(end), WK_SIZE_(step))
#define WK_SLICE_OF_WK4_(...)           WK_REFUSE_INDEX_("WK_SLICE: the arguments are WK_SLICE(first, end, step)")
#define WK_REFUSE_INDEX_(text)                                                                                         \
    __extension__({                                                                                                    \
        _Static_assert(0, text);                                                                                       \
        wk_index_new();                                                                                                \
    })

#define wk_get(x, ...) WK_NEW_TENSOR_(WK_JOIN_(WK_GET_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, x, __VA_ARGS__))
#define WK_GET_1(wk_l_, x, list)                                                                                       \
    WK_INDEXED_(wk_l_, list, WK_GET_TEXT_, WK_GIVE_(wk_tensor *, wk_get_at(WK_HERE, x, wk_l_.at, wk_l_.count)))
#define WK_GET_WK2_(...) WK_REFUSE_(wk_tensor *, WK_GET_TEXT_)
#define WK_GET_TEXT_     "wk_get: write indices in parentheses: wk_get(x, (0, WK_ALL))"

#define wk_set(x, ...) WK_JOIN_(WK_SET_, WK_COUNT_4_(__VA_ARGS__))(WK_LIST_NAME_, x, __VA_ARGS__)
#define WK_SET_1(...)  WK_REFUSE_(wk_tensor *, WK_SET_TEXT_)
#define WK_SET_2(wk_l_, x, list, value)                                                                                \
    WK_INDEXED_(wk_l_, list, WK_SET_TEXT_,                                                                             \
                WK_GIVE_(wk_tensor *, wk_set_at(WK_HERE, x, wk_l_.at, wk_l_.count, WK_VALUE_(value))))
#define WK_SET_3(...)    WK_REFUSE_(wk_tensor *, WK_SET_TEXT_)
#define WK_SET_WK4_(...) WK_REFUSE_(wk_tensor *, WK_SET_TEXT_)
#define WK_SET_TEXT_     "wk_set: write indices in parentheses, then the value: wk_set(x, (0, WK_ALL), 1)"

/* Declares wk_l_, a list in parentheses or a WK_ARRAY of wk_index, for `last`. Up to 8 indices may be written. */
typedef struct wk_indices_ {
    const wk_index *at;
    int count;
} wk_indices_;
static inline wk_indices_ wk_array_of_indices_(const wk_index *at, int64_t count)
{
    wk_indices_ indices = {at, count > INT32_MAX ? -1 : (int)count};
    return indices;
}
#define WK_INDEXED_(wk_l_, list, text, last)     WK_JOIN_(WK_INDEXED_, WK_KIND_(list))(wk_l_, list, text, last)
#define WK_INDEXED_NOT_(wk_l_, list, text, last) WK_REFUSE_LIST_(wk_tensor *, text, WK_TEXTS_(list))
#define WK_INDEXED_LIST_(wk_l_, list, text, last)                                                                      \
    __extension__({                                                                                                    \
        const wk_index WK_JOIN_(wk_l_, in_)[] = {wk_index_new(), WK_INDICES_ list}; /* a dummy first: () is legal */   \
        const wk_indices_ wk_l_ = {WK_JOIN_(wk_l_, in_) + 1,                                                           \
                                   (int)(WK_BYTES_(WK_JOIN_(wk_l_, in_)) / sizeof(wk_index)) - 1};                     \
        last;                                                                                                          \
    })
#define WK_INDEXED_ARRAY_(wk_l_, list, text, last)                                                                     \
    __extension__({                                                                                                    \
        const wk_indices_ wk_l_ = wk_array_of_indices_ WK_NOTHING_ list;                                               \
        last;                                                                                                          \
    })

/* Each index once, as a wk_index. */
#define WK_INDEX_(x) WK_INDEX_2_(x, WK_JOIN_(wk_index_, __COUNTER__))
#define WK_INDEX_2_(x, wk_i_)                                                                                          \
    WK_ONCE_(wk_index, wk_i_, x,                                                                                       \
             _Static_assert(_Generic(wk_i_, wk_index : 1, wk_tensor * : 1, float : 0, double : 0, default              \
                                     : WK_IS_WHOLE_(wk_i_)),                                                           \
                            "an index is an integer, WK_ALL, WK_SLICE(first, end), WK_NEW, WK_REST or a tensor");      \
             WK_GIVE_(wk_index, _Generic(wk_i_, wk_index                                                               \
                                         : wk_index_itself_, wk_tensor *                                               \
                                         : wk_index_tensor_, default                                                   \
                                         : __builtin_choose_expr(WK_IS_WHOLE_(wk_i_), wk_index_number_,                \
                                                                 wk_index_refused_))(0, wk_i_)))
static inline wk_index wk_index_itself_(int unused, wk_index index)
{
    (void)unused;
    return index;
}
static inline wk_index wk_index_tensor_(int unused, wk_tensor *tensor)
{
    (void)unused;
    return wk_index_tensor(tensor);
}
static inline wk_index wk_index_number_(int unused, int64_t number)
{
    (void)unused;
    return wk_index_number(number);
}
/* Replaces the functions above for a type that the _Static_assert refuses; not defined. */
wk_index wk_index_refused_(int unused, ...);
#define WK_INDICES_(...)         WK_JOIN_(WK_INDICES_, WK_COUNT_8_(__VA_ARGS__))(__VA_ARGS__)
#define WK_INDICES_1(wk1_)       WK_JOIN_(WK_INDICES_1_, WK_IS_MISSING_(wk1_))(wk1_)
#define WK_INDICES_1_1(wk1_)     WK_INDEX_(wk1_)
#define WK_INDICES_1_WK2_(wk1_)  /* () */
#define WK_INDICES_2(wk1_, wk2_) WK_INDEX_(wk1_), WK_INDEX_(wk2_)
#define WK_INDICES_3(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_2(__VA_ARGS__)
#define WK_INDICES_4(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_3(__VA_ARGS__)
#define WK_INDICES_5(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_4(__VA_ARGS__)
#define WK_INDICES_6(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_5(__VA_ARGS__)
#define WK_INDICES_7(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_6(__VA_ARGS__)
#define WK_INDICES_8(wk1_, ...)  WK_INDEX_(wk1_), WK_INDICES_7(__VA_ARGS__)
#define WK_INDICES_WK9_(...)     WK_REFUSE_INDEX_("at most 8 indices; use a WK_ARRAY of wk_index for more")
#endif

#endif
