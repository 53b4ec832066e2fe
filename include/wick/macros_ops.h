/* SPDX-License-Identifier: Apache-2.0 */
/* wick/macros_ops.h: call forms of operands that may be numbers, of reductions and of single ops; macros.h has the
 * patterns that they are made of. Names that end in an underscore are internal. */
#ifndef WICK_MACROS_OPS_H
#define WICK_MACROS_OPS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "macros.h"

#ifndef __cplusplus

/* ---- numbers for tensors ----------------------------------------------------------------------------------------- */

/* The function for a number of this type. */
#define WK_NUMBER_(f, x) _Generic((x), float : f##_f64_at, double : f##_f64_at, default : f##_i64_at)

/* 2 for a tensor, 1 for a number that C converts to double or int64_t, 0 for anything else. */
#define WK_OPERAND_(x)  _Generic(x, wk_tensor * : 2, float : 1, double : 1, default : WK_IS_WHOLE_(x))
#define WK_IS_WHOLE_(x) (__builtin_classify_type(x) == 1)
#define WK_WHOLE_(f, x) __builtin_choose_expr(WK_IS_WHOLE_(x), f, wk_refused_)

/* The last operand is a number, or a number or a tensor. */
#define WK_LAST_NUMBER_(f, operands, x) WK_LAST_NUMBER_2_(f, operands, x, WK_JOIN_(wk_number_, __COUNTER__))
#define WK_LAST_NUMBER_2_(f, operands, x, wk_n_)                                                                       \
    WK_ONCE_(int, wk_n_, x, WK_GIVE_(wk_tensor *, WK_NUMBER_(f, wk_n_)(WK_HERE, WK_BARE_ operands, wk_n_)))
#define WK_LAST_EITHER_(f, operands, x) WK_LAST_EITHER_2_(f, operands, x, WK_JOIN_(wk_last_, __COUNTER__))
#define WK_LAST_EITHER_2_(f, operands, x, wk_x_)                                                                       \
    WK_ONCE_(wk_tensor *, wk_x_, x,                                                                                    \
             WK_GIVE_(wk_tensor *, _Generic(wk_x_, wk_tensor *                                                         \
                                            : f##_at, float                                                            \
                                            : f##_f64_at, double                                                       \
                                            : f##_f64_at, default                                                      \
                                            : f##_i64_at)(WK_HERE, WK_BARE_ operands, wk_x_)))

/* A tensor or a number on either side, of which one is a tensor. */
#define WK_ARITH_(f, a, b) WK_ARITH_2_(f, a, b, WK_JOIN_(wk_a_, __COUNTER__), WK_JOIN_(wk_b_, __COUNTER__))
#define WK_ARITH_2_(f, a, b, wk_x_, wk_y_)                                                                             \
    WK_OPEN_(wk_tensor *, wk_x_, wk_y_)                                                                                \
    __auto_type wk_x_ = (a);                                                                                           \
    __auto_type wk_y_ = (b);                                                                                           \
    _Static_assert(                                                                                                    \
        WK_OPERAND_(wk_x_) + WK_OPERAND_(wk_y_) > 2,                                                                   \
        #f ": expected a wk_tensor * and a wk_tensor * or a number; wk_full((), 2) creates a tensor of a number, "     \
           "(wk_tensor *)x casts a void *");                                                                           \
    WK_GIVE_(wk_tensor *, _Generic(wk_y_, wk_tensor *                                                                  \
                                   : _Generic(wk_x_, wk_tensor *                                                       \
                                              : f##_at, float                                                          \
                                              : f##_rscalar_f64_at, double                                             \
                                              : f##_rscalar_f64_at, default                                            \
                                              : WK_WHOLE_(f##_rscalar_i64_at, wk_x_)),                                 \
                                     float                                                                             \
                                   : _Generic(wk_x_, wk_tensor *                                                       \
                                              : f##_scalar_f64_at, default                                             \
                                              : wk_refused_),                                                          \
                                     double                                                                            \
                                   : _Generic(wk_x_, wk_tensor *                                                       \
                                              : f##_scalar_f64_at, default                                             \
                                              : wk_refused_),                                                          \
                                     default                                                                           \
                                   : _Generic(wk_x_, wk_tensor *                                                       \
                                              : WK_WHOLE_(f##_scalar_i64_at, wk_y_), default                           \
                                              : wk_refused_))(WK_HERE, wk_x_, wk_y_));                                 \
    WK_CLOSE_
/* A tensor, and a tensor or a number: in-place arithmetic. */
#define WK_ARITH_1_(f, a, b) WK_ARITH_3_(f, a, b, WK_JOIN_(wk_a_, __COUNTER__), WK_JOIN_(wk_b_, __COUNTER__))
#define WK_ARITH_3_(f, a, b, wk_x_, wk_y_)                                                                             \
    WK_OPEN_(wk_tensor *, wk_x_, wk_y_)                                                                                \
    wk_tensor *wk_x_ = (a);                                                                                            \
    __auto_type wk_y_ = (b);                                                                                           \
    _Static_assert(WK_OPERAND_(wk_y_) > 0, #f ": expected a tensor or a number as second operand");                    \
    WK_GIVE_(wk_tensor *, _Generic(wk_y_, wk_tensor *                                                                  \
                                   : f##_at, float                                                                     \
                                   : f##_scalar_f64_at, double                                                         \
                                   : f##_scalar_f64_at, default                                                        \
                                   : WK_WHOLE_(f##_scalar_i64_at, wk_y_))(WK_HERE, wk_x_, wk_y_));                     \
    WK_CLOSE_

/* A wk_value (wick/call.h) of a tensor, a number or a wk_value. */
#define WK_NONE      ((wk_value){.kind = WK_VALUE_NONE})
#define WK_VALUE_(x) WK_VALUE_2_(x, WK_JOIN_(wk_value_, __COUNTER__))
#define WK_VALUE_2_(x, wk_x_)                                                                                          \
    WK_ONCE_(wk_tensor *, wk_x_, x,                                                                                    \
             WK_GIVE_(wk_value, _Generic(wk_x_, wk_tensor *                                                            \
                                         : wk_value_of_tensor, wk_value                                                \
                                         : wk_value_itself, float                                                      \
                                         : wk_value_of_float, double                                                   \
                                         : wk_value_of_float, default                                                  \
                                         : wk_value_of_int)(wk_x_)))

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* (x), (x, dims), (x, .key = value, ...) or (x, dims, .key = value, ...)
 *
 * Each name is WK_REDUCE_OPT_ followed by the facts known by then: one argument or more (WK2_), whether the second is a
 * list (1 no, WK2_ yes), and whether options follow a list. wk_sum(x, (0), .keepdim = true) becomes in turn
 *
 *     WK_REDUCE_WK2_(wk_sum, wk_reduce_options, x, (0), .keepdim = true)            more than x
 *     WK_REDUCE_WK2_WK2_(wk_sum, wk_reduce_options, x, (0), .keepdim = true)        (0) is a list
 *     WK_REDUCE_DIMS_WK2_(wk_sum, wk_reduce_options, ..., x, (0), .keepdim = true)  something follows it
 *     WK_CALL_(wk_tensor *, wk_sum, (x, the list's dimensions and their number), wk_reduce_options, .keepdim = true)
 */
#define WK_REDUCE_OPT_(f, type, ...)    WK_JOIN_(WK_REDUCE_, WK_COUNT_(__VA_ARGS__))(f, type, __VA_ARGS__)
#define WK_REDUCE_1(f, type, x)         f##_at(WK_HERE, x, NULL, -1, NULL)
#define WK_REDUCE_WK2_(f, type, x, ...) WK_JOIN_(WK_REDUCE_WK2_, WK_IS_LIST_(__VA_ARGS__, ))(f, type, x, __VA_ARGS__)
#define WK_REDUCE_WK2_1(f, type, x, ...)                                                                               \
    WK_CALLED_(WK_JOIN_(wk_options_, __COUNTER__), wk_tensor *, f##_at, (WK_HERE, x, NULL, -1), type,                  \
               WK_REDUCE_CHECKS_(f, __VA_ARGS__), __VA_ARGS__)
#define WK_REDUCE_CHECKS_(f, ...) WK_REDUCE_CHECKS_2_(WK_JOIN_(wk_options_, __COUNTER__), f, __VA_ARGS__)
#define WK_REDUCE_CHECKS_2_(wk_o_, f, ...)                                                                             \
    enum {                                                                                                             \
        WK_JOIN_(wk_o_, somewhere_) = WK_NAMED_AMONG_(__VA_ARGS__),                                                    \
        WK_JOIN_(wk_o_, alone_) = WK_IS_NAMED_(__VA_ARGS__, ) || !WK_JOIN_(wk_o_, somewhere_)                          \
    };                                                                                                                 \
    _Static_assert(WK_JOIN_(wk_o_, somewhere_), WK_REDUCE_TEXT_(f, WK_TEXTS_(__VA_ARGS__)));                           \
    _Static_assert(WK_JOIN_(wk_o_, alone_),                                                                            \
                   #f ": write dimensions in parentheses, options after them: " #f "(x, (0, 1), .key = value)")
#define WK_REDUCE_TEXT_(f, said) #f ": write dimensions in parentheses, " #f "(x, (" said ")); " WK_BY_NAME_TEXT_
#define WK_REDUCE_WK2_WK2_(f, type, x, ...)                                                                            \
    WK_JOIN_(WK_REDUCE_DIMS_, WK_COUNT_(__VA_ARGS__))(f, type, WK_INTS_NAME_, x, __VA_ARGS__)
#define WK_REDUCE_DIMS_1(f, type, wk_s_, x, dims)                                                                      \
    WK_SIZED_(wk_tensor *, wk_s_, dims, "", WK_GIVE_(wk_tensor *, f##_at(WK_HERE, x, wk_s_.at, wk_s_.count, NULL)))
#define WK_REDUCE_DIMS_WK2_(f, type, wk_s_, x, dims, ...)                                                              \
    WK_SIZED_(wk_tensor *, wk_s_, dims, "", WK_CALL_(wk_tensor *, f, (x, wk_s_.at, wk_s_.count), type, __VA_ARGS__))

/* (x), (x, dim) or (x, dim, .key = value, ...): a single dimension without parentheses */
#define WK_REDUCE_ONE_(f, ...) WK_JOIN_(WK_REDUCE_ONE_, WK_COUNT_4_(__VA_ARGS__))(f, __VA_ARGS__)
#define WK_ONE_DIM_(dim_)      &(const wk_one_dim_){.by_name = NULL, dim_}.dim
typedef struct wk_one_dim_ { /* for any argument; a static assertion rejects those that are not a dimension */
    wk_by_name by_name;
    int64_t dim;
    bool keepdim;
    wk_dtype dtype;
} wk_one_dim_;
#define WK_REDUCE_ONE_1(f, x)      f##_at(WK_HERE, x, NULL, -1, NULL)
#define WK_REDUCE_ONE_2(f, x, dim) WK_JOIN_(WK_REDUCE_ONE_2_, WK_IS_PAIR_(dim, ))(f, x, dim)
#define WK_REDUCE_ONE_2_1(f, x, dim)                                                                                   \
    __extension__({                                                                                                    \
        _Static_assert(__builtin_strncmp(WK_TEXT_(dim, ), ".", 1) != 0,                                                \
                       #f ": the dimension comes before the options: (x, 1, .key = value)");                           \
        WK_GIVE_(wk_tensor *, f##_at(WK_HERE, x, WK_ONE_DIM_(dim), 1, NULL));                                          \
    })
#define WK_REDUCE_ONE_2_WK2_(f, x, dim)                                                                                \
    __extension__({                                                                                                    \
        WK_REDUCE_ONE_CHECK_(f, dim)                                                                                   \
        WK_REDUCE_ONE_2_1(f, x, dim);                                                                                  \
    })
#define WK_REDUCE_ONE_CHECK_(f, dim)                                                                                   \
    _Static_assert(WK_IS_BLOCK_(dim), #f ": pass one dimension, without parentheses, or none: " #f "(x, 1), " #f "(x"  \
                                         ")");
#define WK_REDUCE_ONE_3(f, x, dim, ...) WK_JOIN_(WK_REDUCE_ONE_3_, WK_IS_PAIR_(dim, ))(f, x, dim, __VA_ARGS__)
#define WK_REDUCE_ONE_3_1(f, x, dim, ...)                                                                              \
    WK_CALL_(wk_tensor *, f, (x, WK_ONE_DIM_(dim), 1), wk_reduce_options, __VA_ARGS__)
#define WK_REDUCE_ONE_3_WK2_(f, x, dim, ...)                                                                           \
    __extension__({                                                                                                    \
        WK_REDUCE_ONE_CHECK_(f, dim)                                                                                   \
        WK_REDUCE_ONE_3_1(f, x, dim, __VA_ARGS__);                                                                     \
    })
#define WK_REDUCE_ONE_WK4_ WK_REDUCE_ONE_3

/* ---- lists of tensors -------------------------------------------------------------------------------------------- */

/* ((x, y), dim) */
#define WK_CAT_(f, said, ...) WK_JOIN_(WK_CAT_, WK_KIND_1ST_(__VA_ARGS__, ))(f, said, WK_LIST_NAME_, __VA_ARGS__)
#define WK_CAT_NOT_(f, said, wk_l_, ...)                                                                               \
    WK_REFUSE_(wk_tensor *, #f ": write tensors in parentheses: " #f "((x, y), 0), not " #f "(" said ")")
#define WK_CAT_ARRAY_                     WK_CAT_LIST_
#define WK_CAT_LIST_(f, said, wk_l_, ...) WK_JOIN_(WK_CAT_LIST_, WK_COUNT_(__VA_ARGS__))(f, said, wk_l_, __VA_ARGS__)
#define WK_CAT_LIST_1(f, said, wk_l_, list)                                                                            \
    WK_REFUSE_(wk_tensor *, #f ": the dimension is missing: " #f "(" said ", 0)")
#define WK_CAT_LIST_WK2_(f, said, wk_l_, list, ...)                                                                    \
    WK_JOIN_(WK_CAT_DIM_, WK_COUNT_(__VA_ARGS__))(f, said, wk_l_, list, __VA_ARGS__)
#define WK_CAT_DIM_WK2_(f, said, wk_l_, list, ...)                                                                     \
    WK_REFUSE_(wk_tensor *, #f ": one dimension: " #f "((x, y), 0), not " #f "(" said ")")
#define WK_CAT_DIM_1(f, said, wk_l_, list, dim)                                                                        \
    WK_LISTED_(wk_tensor *, wk_l_, list, "", WK_GIVE_(wk_tensor *, f##_at(WK_HERE, wk_l_.at, wk_l_.count, dim)))

/* ("ij,jk->ik", (x, y)) */
#define WK_EINSUM_(equation, ...) WK_JOIN_(WK_EINSUM_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, equation, __VA_ARGS__)
#define WK_EINSUM_1(wk_l_, equation, list)                                                                             \
    WK_LISTED_(wk_tensor *, wk_l_, list, WK_EINSUM_TEXT_,                                                              \
               WK_GIVE_(wk_tensor *, wk_einsum_at(WK_HERE, equation, wk_l_.at, wk_l_.count)))
#define WK_EINSUM_WK2_(...) WK_REFUSE_(wk_tensor *, WK_EINSUM_TEXT_)
#define WK_EINSUM_TEXT_     "wk_einsum: write tensors in parentheses: wk_einsum(\"ij,jk->ik\", (x, y))"

/* (x, (i, j), values) or (x, (i, j), values, .key = value) */
#define WK_INDEX_PUT_(f, x, list, ...)                                                                                 \
    WK_JOIN_(WK_INDEX_PUT_, WK_COUNT_(__VA_ARGS__))(f, WK_LIST_NAME_, x, list, __VA_ARGS__)
#define WK_INDEX_PUT_1(f, wk_l_, x, list, values)                                                                      \
    WK_LISTED_(wk_tensor *, wk_l_, list, WK_INDEX_PUT_TEXT_(f),                                                        \
               WK_GIVE_(wk_tensor *, f##_at(WK_HERE, x, wk_l_.at, wk_l_.count, values, NULL)))
#define WK_INDEX_PUT_WK2_(f, wk_l_, x, list, values, ...)                                                              \
    WK_LISTED_(wk_tensor *, wk_l_, list, WK_INDEX_PUT_TEXT_(f),                                                        \
               WK_CALL_(wk_tensor *, f, (x, wk_l_.at, wk_l_.count, values), wk_index_put_options, __VA_ARGS__))
#define WK_INDEX_PUT_TEXT_(f) #f ": write index tensors in parentheses: " #f "(x, (i, j), values)"

/* ((x, y), out) or ((x, y), out, .key = value) */
#define WK_MESHGRID_(...)     WK_JOIN_(WK_MESHGRID_, WK_KIND_1ST_(__VA_ARGS__, ))(WK_LIST_NAME_, __VA_ARGS__, )
#define WK_MESHGRID_NOT_(...) WK_REFUSE_(int, "wk_meshgrid: write tensors in parentheses: wk_meshgrid((x, y), out)")
#define WK_MESHGRID_ARRAY_    WK_MESHGRID_LIST_
#define WK_MESHGRID_LIST_(wk_l_, list, ...)                                                                            \
    WK_JOIN_(WK_MESHGRID_OUT_, WK_COUNT_4_(__VA_ARGS__))(wk_l_, list, __VA_ARGS__)
#define WK_MESHGRID_OUT_1(wk_l_, list, wk1_)                                                                           \
    WK_REFUSE_(int, "wk_meshgrid: the array for the results is missing: wk_meshgrid((x, y), out)")
#define WK_MESHGRID_OUT_2(wk_l_, list, out, wk1_)                                                                      \
    WK_LISTED_(int, wk_l_, list, "", WK_GIVE_(int, wk_meshgrid_at(WK_HERE, wk_l_.at, wk_l_.count, out, NULL)))
#define WK_MESHGRID_OUT_3(wk_l_, list, out, ...)                                                                       \
    WK_LISTED_(int, wk_l_, list, "",                                                                                   \
               WK_CALL_(int, wk_meshgrid, (wk_l_.at, wk_l_.count, out), wk_meshgrid_options, __VA_ARGS__))
#define WK_MESHGRID_OUT_WK4_ WK_MESHGRID_OUT_3

/* ---- wk_tensordot, wk_arange, wk_squeeze ------------------------------------------------------------------------- */

/* (a, b, (dims), (dims)) or (a, b, n) */
#define WK_TENSORDOT_(a, b, ...)                                                                                       \
    WK_JOIN_(WK_TENSORDOT_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, WK_INTS_NAME_, a, b, __VA_ARGS__)
#define WK_TENSORDOT_1(wk_n_, wk_t_, a, b, n)                                                                          \
    WK_ONCE_(int, wk_n_, n,                                                                                            \
             WK_GIVE_(wk_tensor *, wk_tensordot_at(WK_HERE, a, b, wk_last_dims_(wk_n_), wk_dims_(wk_n_),               \
                                                   wk_last_dims_(0), wk_dims_(wk_n_))))
#define WK_TENSORDOT_WK2_(wk_s_, wk_t_, a, b, dims_a, dims_b)                                                          \
    WK_SIZED_(wk_tensor *, wk_s_, dims_a, WK_TENSORDOT_TEXT_,                                                          \
              WK_SIZED_(wk_tensor *, wk_t_, dims_b, WK_TENSORDOT_TEXT_,                                                \
                        WK_GIVE_(wk_tensor *,                                                                          \
                                 wk_tensordot_at(WK_HERE, a, b, wk_s_.at, wk_s_.count, wk_t_.at, wk_t_.count))))
#define WK_TENSORDOT_TEXT_ "wk_tensordot: write lists in parentheses, wk_tensordot(a, b, (1), (0)), or a number"
/* The dimensions from -n to -1, and from 0 on; their number, -1 if it is out of range. */
static inline const int64_t *wk_last_dims_(int64_t n)
{
    static const int64_t dims[] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
    return n >= 0 && n <= 8 ? dims + 8 - n : dims;
}
static inline int wk_dims_(int64_t n)
{
    return n >= 0 && n <= 8 ? (int)n : -1;
}

/* (end), (start, end) or (start, end, step), each with options. A long double holds every double and every int64_t. */
#define WK_ARANGE_(...) WK_JOIN_(WK_ARANGE_, WK_COUNT_(__VA_ARGS__))(WK_JOIN_(wk_number_, __COUNTER__), __VA_ARGS__)
#define WK_ARANGE_1(wk_n_, end)                                                                                        \
    WK_ONCE_(int, wk_n_, end, WK_GIVE_(wk_tensor *, WK_NUMBER_(wk_arange, wk_n_)(WK_HERE, wk_n_, NULL)))
#define WK_ARANGE_WK2_(wk_n_, first, ...)                                                                              \
    WK_ARANGE_2_(wk_n_, WK_JOIN_(wk_n_, of_), WK_JOIN_(wk_n_, o_), first, WK_TEXT_(__VA_ARGS__, ),                     \
                 WK_TEXT_2ND_(__VA_ARGS__, "", ), __VA_ARGS__)
#define WK_TEXT_2ND_(wk1_, wk2_, ...) #wk2_
#define WK_ARANGE_2_(wk_n_, wk_d_, wk_o_, first, second, third, ...)                                                   \
    WK_OPEN_(int, wk_n_, WK_JOIN_(wk_n_, 2_))                                                                          \
    __auto_type wk_n_ = (first);                                                                                       \
    WK_ELEMENTS_AND_OPTIONS_(long double, 2, wk_d_, wk_o_, __VA_ARGS__)                                                \
    WK_GIVE_(wk_tensor *, WK_IS_OPTION_(second) ? WK_NUMBER_(wk_arange, wk_n_)(WK_HERE, wk_n_, &wk_o_)                 \
                                                : wk_arange_range_at(WK_HERE, wk_n_, wk_d_.element[0],                 \
                                                                     WK_GIVEN_(third) ? wk_d_.element[1] : 1,          \
                                                                     WK_IS_WHOLE_(wk_n_), &wk_o_));                    \
    WK_CLOSE_
#define WK_GIVEN_(text) ((text)[0] != '"' && !WK_IS_OPTION_(text))

/* (x), (x, dim) or (x, (dims...)) */
#define WK_SQUEEZE_(...)        WK_JOIN_(WK_SQUEEZE_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WK_SQUEEZE_1(x)         wk_squeeze_at(WK_HERE, x, NULL, -1)
#define WK_SQUEEZE_WK2_(x, ...) WK_JOIN_(WK_SQUEEZE_BY_, WK_COUNT_(__VA_ARGS__))(x, #__VA_ARGS__, __VA_ARGS__)
#define WK_SQUEEZE_BY_WK2_(x, said, ...)                                                                               \
    WK_REFUSE_(wk_tensor *, "wk_squeeze: write dimensions in parentheses: wk_squeeze(x, (" said "))")
#define WK_SQUEEZE_BY_1(x, said, dim) WK_JOIN_(WK_SQUEEZE_DIM_, WK_IS_LIST_(dim, ))(x, dim)
#define WK_SQUEEZE_DIM_1(x, dim)      wk_squeeze_at(WK_HERE, x, (const int64_t[]){dim}, 1)
#define WK_SQUEEZE_DIM_WK2_(x, dims)  WK_SQUEEZE_DIMS_(WK_INTS_NAME_, x, dims)
#define WK_SQUEEZE_DIMS_(wk_s_, x, dims)                                                                               \
    WK_SIZED_(wk_tensor *, wk_s_, dims, "", WK_GIVE_(wk_tensor *, wk_squeeze_at(WK_HERE, x, wk_s_.at, wk_s_.count)))

#endif
#endif
