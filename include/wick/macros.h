/* wick/macros.h: how wk_name(...) becomes wk_name_at(site, ...). Nothing in here is an interface; names end in an underscore.
 *
 *   lists in parentheses    (2, 3) becomes an array and a count; () is an empty list
 *   keyword arguments       .key = value, ... become a pointer to a struct that begins with its size, NULL without any; a 0
 *                           that is written becomes WK_ZERO where 0 would mean another default
 *   numbers for tensors     chosen by type, each operand written once, so that nesting stays linear
 *   guards                  a variable whose cleanup runs at the end of the enclosing block, however it is left
 */
#ifndef WICK_MACROS_H
#define WICK_MACROS_H

#include "core.h"

#ifndef __cplusplus

/* A list in parentheses. The macro's name is the compiler's message when they are forgotten. */
#define WK_list_needs_parentheses_like_(...) __VA_ARGS__
#define WK_I64S_(list)                                                                                                 \
    (const int64_t[])                                                                                                  \
    {                                                                                                                  \
        0, WK_list_needs_parentheses_like_ list                                                                        \
    } /* a dummy first: () is legal */
#define WK_DIMS_(list) WK_I64S_(list) + 1, (int)(sizeof(WK_I64S_(list)) / sizeof(int64_t)) - 1

/* A call with an operand, or a list of tensors, that stands in a variable of its own: so it is written once, and what is nested in it
 * is, too. (Lists of sizes are written twice, the second time inside of sizeof.) */
#define WK_ONCE_(wk_x_, x, call)                                                                                       \
    __extension__({                                                                                                    \
        __auto_type wk_x_ = (x);                                                                                       \
        call;                                                                                                          \
    })
#define WK_LISTED_(wk_l_, list, call)                                                                                  \
    __extension__({                                                                                                    \
        wk_tensor *const wk_l_[] = {WK_list_needs_parentheses_like_ list};                                             \
        call;                                                                                                          \
    })
#define WK_LIST_(wk_l_) wk_l_, (int)(sizeof wk_l_ / sizeof *wk_l_)
#define WK_LIST_NAME_   WK_JOIN_(wk_list_, __COUNTER__)

#define WK_JOIN__(a, b) a##b
#define WK_JOIN_(a, b)  WK_JOIN__(a, b)

/* 1 for one argument, WK2_ for more (up to 16). The parameters have long names, and so have the tokens: a program may have
 * #define N 1024 of any single letter. */
#define WK_COUNT_(...)                                                                                                 \
    WK_COUNT__(__VA_ARGS__, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_,  \
               1, )
#define WK_COUNT__(wk1_, wk2_, wk3_, wk4_, wk5_, wk6_, wk7_, wk8_, wk9_, wk10_, wk11_, wk12_, wk13_, wk14_, wk15_,     \
                   wk16_, wk17_, ...)                                                                                  \
    wk17_
/* nothing for one or two arguments, WK3_ for more */
#define WK_COUNT_3_(...)                                                                                               \
    WK_COUNT__(__VA_ARGS__, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, WK3_, , , )

#define WK_BARE_(...)       __VA_ARGS__
#define WK_TEXT_(wk1_, ...) #wk1_

/* f(site, operands, options) with the options in a variable of its own. A number that is left out is told from one that is written as
 * 0: it begins as WK_LEFT_OUT_, which is meant to be overridden, and ends as 0; a written 0 becomes WK_ZERO.
 *
 * wk_zeros((2, 3), .dtype = WK_F64) goes by WK_NEW_ and WK_SHAPED_WK2_ to WK_CALL_(wk_zeros_at, (WK_DIMS_((2, 3))), wk_options,
 * .dtype = WK_F64), and that is
 *
 *     ({
 *         _Static_assert(__builtin_strncmp(".dtype = WK_F64", ".", 1) == 0, "options are written by name, ...");
 *         wk_options wk_options_7 = {.size = sizeof(wk_options), .dtype = WK_F64};
 *         wk_zeros_at(WK_HERE, (const int64_t[]){0, 2, 3} + 1, (int)(sizeof(...) / sizeof(int64_t)) - 1, &wk_options_7);
 *     })
 *
 * wk_options has no numbers; those of wk_elu(x, .alpha = 0) make it
 *
 *         wk_elu_options wk_options_8 = {.alpha = WK_LEFT_OUT_, .size = sizeof(wk_elu_options), .alpha = 0};
 *         wk_options_8.alpha = wk_written_(wk_options_8.alpha);
 */
#define WK_CALL_(f, operands, type, ...) WK_CALLED_(WK_JOIN_(wk_options_, __COUNTER__), f, operands, type, __VA_ARGS__)
#define WK_CALLED_(wk_o_, f, operands, type, ...)                                                                      \
    __extension__({                                                                                                    \
        _Static_assert(__builtin_strncmp(WK_TEXT_(__VA_ARGS__, ), ".", 1) == 0,                                        \
                       "options are written by name, .key = value; lists in parentheses, (2, 3)");                     \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"")                           \
            type wk_o_ = {type##_numbers_(WK_LEAVE_OUT_, wk_o_).size = sizeof(type), __VA_ARGS__};                     \
        _Pragma("GCC diagnostic pop") type##_numbers_(WK_WRITTEN_, wk_o_);                                             \
        f(WK_HERE, WK_BARE_ operands, &wk_o_);                                                                         \
    })
#define WK_LEFT_OUT_                 (-WK_ZERO)
#define WK_LEAVE_OUT_(wk_o_, member) .member = WK_LEFT_OUT_,
#define WK_WRITTEN_(wk_o_, member)   wk_o_.member = wk_written_(wk_o_.member);
static inline double wk_written_(double number)
{
    return number >= WK_LEFT_OUT_ && number <= WK_LEFT_OUT_ ? 0 : number >= 0 && number <= 0 ? WK_ZERO : number;
}

/* The numbers (double) of each struct of options whose default may be another than 0. */
#define wk_addc_options_numbers_(wk_do_, wk_o_)  wk_do_(wk_o_, value)
#define wk_addmm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, beta) wk_do_(wk_o_, alpha)
#define wk_backward_options_numbers_(wk_do_, wk_o_)
#define wk_bce_options_numbers_(wk_do_, wk_o_)
#define wk_bce_with_logits_options_numbers_(wk_do_, wk_o_)
#define wk_cosine_similarity_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#define wk_cross_entropy_options_numbers_(wk_do_, wk_o_)     wk_do_(wk_o_, ignore_index)
#define wk_dist_options_numbers_(wk_do_, wk_o_)              wk_do_(wk_o_, p)
#define wk_div_options_numbers_(wk_do_, wk_o_)
#define wk_elu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, alpha)
#define wk_gelu_options_numbers_(wk_do_, wk_o_)
#define wk_grad_options_numbers_(wk_do_, wk_o_)
#define wk_hardtanh_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, min_val) wk_do_(wk_o_, max_val)
#define wk_history_options_numbers_(wk_do_, wk_o_)  wk_do_(wk_o_, weight)
#define wk_hook_options_numbers_(wk_do_, wk_o_)
#define wk_huber_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, delta)
#define wk_init_options_numbers_(wk_do_, wk_o_)       wk_do_(wk_o_, gain)
#define wk_isin_options_numbers_(wk_do_, wk_o_)
#define wk_kl_div_options_numbers_(wk_do_, wk_o_)
#define wk_leaky_relu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, negative_slope)
#define wk_linear_options_numbers_(wk_do_, wk_o_)
#define wk_loader_options_numbers_(wk_do_, wk_o_)
#define wk_loss_options_numbers_(wk_do_, wk_o_)
#define wk_mnist_options_numbers_(wk_do_, wk_o_)
#define wk_multinomial_options_numbers_(wk_do_, wk_o_)
#define wk_nan_to_num_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, posinf) wk_do_(wk_o_, neginf)
#define wk_nn_embedding_options_numbers_(wk_do_, wk_o_)
#define wk_nn_layer_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#define wk_norm_options_numbers_(wk_do_, wk_o_)          wk_do_(wk_o_, p)
#define wk_optim_options_numbers_(wk_do_, wk_o_)                                                                       \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, momentum) wk_do_(wk_o_, dampening) wk_do_(wk_o_, weight_decay)                     \
        wk_do_(wk_o_, beta1) wk_do_(wk_o_, beta2) wk_do_(wk_o_, eps)
#define wk_options_numbers_(wk_do_, wk_o_)
#define wk_reduce_options_numbers_(wk_do_, wk_o_)
#define wk_round_options_numbers_(wk_do_, wk_o_)
#define wk_smooth_l1_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, beta)
#define wk_softplus_options_numbers_(wk_do_, wk_o_)       wk_do_(wk_o_, beta) wk_do_(wk_o_, threshold)
#define wk_unique_options_numbers_(wk_do_, wk_o_)
#define wk_var_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, correction)

/* (x) or (x, .key = value, ...) */
#define WK_OPT_(f, type, ...)        WK_JOIN_(WK_OPT_, WK_COUNT_(__VA_ARGS__))(f, type, __VA_ARGS__)
#define WK_OPT_1(f, type, x)         f(WK_HERE, x, NULL)
#define WK_OPT_WK2_(f, type, x, ...) WK_CALL_(f, (x), type, __VA_ARGS__)

/* (a, b) or (a, b, .key = value, ...) */
#define WK_OPT2_(f, type, a, ...)        WK_JOIN_(WK_OPT2_, WK_COUNT_(__VA_ARGS__))(f, type, a, __VA_ARGS__)
#define WK_OPT2_1(f, type, a, b)         f(WK_HERE, a, b, NULL)
#define WK_OPT2_WK2_(f, type, a, b, ...) WK_CALL_(f, (a, b), type, __VA_ARGS__)

/* (a, b, c) or (a, b, c, .key = value, ...) */
#define WK_OPT3_(f, type, a, b, ...)        WK_JOIN_(WK_OPT3_, WK_COUNT_(__VA_ARGS__))(f, type, a, b, __VA_ARGS__)
#define WK_OPT3_1(f, type, a, b, c)         f(WK_HERE, a, b, c, NULL)
#define WK_OPT3_WK2_(f, type, a, b, c, ...) WK_CALL_(f, (a, b, c), type, __VA_ARGS__)

/* (shape) or (shape, .key = value, ...) */
#define WK_NEW_(f, ...)                     WK_SHAPED_(f, wk_options, __VA_ARGS__)
#define WK_SHAPED_(f, type, ...)            WK_JOIN_(WK_SHAPED_, WK_COUNT_(__VA_ARGS__))(f, type, __VA_ARGS__)
#define WK_SHAPED_1(f, type, shape)         f(WK_HERE, WK_DIMS_(shape), NULL)
#define WK_SHAPED_WK2_(f, type, shape, ...) WK_CALL_(f, (WK_DIMS_(shape)), type, __VA_ARGS__)

/* WK2_ if the first argument is a list in parentheses, 1 if not. */
#define WK_IS_LIST_(wk1_, ...) WK_COUNT_(WK_COMMA_ wk1_)
#define WK_COMMA_(...)         ,

/* (x), (x, dims), (x, .key = value, ...) or (x, dims, .key = value, ...)
 *
 * Each name is WK_REDUCE_ with what is known by then: 1 argument or more (WK2_), whether the second is a list (1 no, WK2_ yes), and
 * behind a list whether options follow. wk_sum(x, (0), .keepdim = true) is in turn
 *
 *     WK_REDUCE_WK2_(wk_sum_at, wk_reduce_options, x, (0), .keepdim = true)         more than x
 *     WK_REDUCE_WK2_WK2_(wk_sum_at, wk_reduce_options, x, (0), .keepdim = true)     (0) is a list
 *     WK_REDUCE_DIMS_WK2_(wk_sum_at, wk_reduce_options, x, (0), .keepdim = true)    something follows it
 *     WK_CALL_(wk_sum_at, (x, WK_DIMS_((0))), wk_reduce_options, .keepdim = true)
 */
#define WK_REDUCE_(f, ...)                         WK_REDUCE_OPT_(f, wk_reduce_options, __VA_ARGS__)
#define WK_REDUCE_OPT_(f, type, ...)               WK_JOIN_(WK_REDUCE_, WK_COUNT_(__VA_ARGS__))(f, type, __VA_ARGS__)
#define WK_REDUCE_1(f, type, x)                    f(WK_HERE, x, NULL, -1, NULL)
#define WK_REDUCE_WK2_(f, type, x, ...)            WK_JOIN_(WK_REDUCE_WK2_, WK_IS_LIST_(__VA_ARGS__, ))(f, type, x, __VA_ARGS__)
#define WK_REDUCE_WK2_1(f, type, x, ...)           WK_CALL_(f, (x, NULL, -1), type, __VA_ARGS__)
#define WK_REDUCE_WK2_WK2_(f, type, x, ...)        WK_JOIN_(WK_REDUCE_DIMS_, WK_COUNT_(__VA_ARGS__))(f, type, x, __VA_ARGS__)
#define WK_REDUCE_DIMS_1(f, type, x, dims)         f(WK_HERE, x, WK_DIMS_(dims), NULL)
#define WK_REDUCE_DIMS_WK2_(f, type, x, dims, ...) WK_CALL_(f, (x, WK_DIMS_(dims)), type, __VA_ARGS__)

/* (x), (x, dim) or (x, dim, .key = value, ...): a single dimension without parentheses */
#define WK_REDUCE_ONE_(f, ...)                                                                                         \
    WK_JOIN_(WK_REDUCE_ONE_, WK_JOIN_(WK_COUNT_(__VA_ARGS__), WK_COUNT_3_(__VA_ARGS__)))(f, __VA_ARGS__)
#define WK_REDUCE_ONE_1(f, x) f(WK_HERE, x, NULL, -1, NULL)
#define WK_REDUCE_ONE_WK2_(f, x, dim)                                                                                  \
    __extension__({                                                                                                    \
        _Static_assert(__builtin_strncmp(WK_TEXT_(dim, ), ".", 1) != 0,                                                \
                       "the dimension comes before the options: (x, 1, .key = value)");                                \
        f(WK_HERE, x, (const int64_t[]){dim}, 1, NULL);                                                                \
    })
#define WK_REDUCE_ONE_WK2_WK3_(f, x, dim, ...)                                                                         \
    WK_CALL_(f, (x, (const int64_t[]){dim}, 1), wk_reduce_options, __VA_ARGS__)

/* A number that stays whole if it is. */
#define WK_NUMBER_(f, x) _Generic((x), float : f##_f_at, double : f##_f_at, default : f##_i_at)
#define WK_WHOLE_(g)                                                                                                   \
    _Bool:                                                                                                             \
    g, char : g,                                                                                                       \
              signed char : g,                                                                                         \
                            unsigned char : g,                                                                         \
                                            short : g,                                                                 \
                                                    unsigned short : g,                                                \
                                                                     int : g,                                          \
                                                                           unsigned : g,                               \
                                                                                      long : g,                        \
                                                                                             unsigned long : g,        \
                                                                                                             long long \
        : g,                                                                                                           \
          unsigned long long : g

/* A tensor or a number on either side. No default: so that int * or NULL is an error of the compiler. */
#define WK_ARITH_(f, a, b) WK_ARITH_2_(f, a, b, WK_JOIN_(wk_a_, __COUNTER__), WK_JOIN_(wk_b_, __COUNTER__))
#define WK_ARITH_2_(f, a, b, wk_x_, wk_y_)                                                                             \
    __extension__({                                                                                                    \
        __auto_type wk_x_ = (a);                                                                                       \
        __auto_type wk_y_ = (b);                                                                                       \
        _Generic(wk_x_, wk_tensor *                                                                                    \
                 : _Generic(wk_y_, wk_tensor *                                                                         \
                            : f##_at, float                                                                            \
                            : f##_tf_at, double                                                                        \
                            : f##_tf_at, WK_WHOLE_(f##_ti_at)),                                                        \
                   float                                                                                               \
                 : f##_ft_at, double                                                                                   \
                 : f##_ft_at, WK_WHOLE_(f##_it_at))(WK_HERE, wk_x_, wk_y_);                                            \
    })
/* A tensor, and a tensor or a number: in-place arithmetic. */
#define WK_ARITH_1_(f, a, b) WK_ARITH_3_(f, a, b, WK_JOIN_(wk_a_, __COUNTER__), WK_JOIN_(wk_b_, __COUNTER__))
#define WK_ARITH_3_(f, a, b, wk_x_, wk_y_)                                                                             \
    __extension__({                                                                                                    \
        wk_tensor *wk_x_ = (a);                                                                                        \
        __auto_type wk_y_ = (b);                                                                                       \
        _Generic(wk_y_, wk_tensor *                                                                                    \
                 : f##_at, float                                                                                       \
                 : f##_tf_at, double                                                                                   \
                 : f##_tf_at, WK_WHOLE_(f##_ti_at))(WK_HERE, wk_x_, wk_y_);                                            \
    })

/* The dtype of a C type. */
#define WK_DTYPE_(p)                                                                                                   \
    _Generic((p), const float *: WK_F32, float *: WK_F32, const double *: WK_F64, double *: WK_F64,                         \
        const long *: WK_LONG_, long *: WK_LONG_, const long long *: WK_I64, long long *: WK_I64, const int *: WK_I32,      \
        int *: WK_I32, const short *: WK_I16, short *: WK_I16, const signed char *: WK_I8, signed char *: WK_I8,            \
        const unsigned char *: WK_U8, unsigned char *: WK_U8, const bool *: WK_BOOL, bool *: WK_BOOL)
#define WK_LONG_ (sizeof(long) == 8 ? WK_I64 : WK_I32)

/* A declaration that lasts to the end of the enclosing block. The type comes first: gcc takes attributes alone for a statement, which
 * ends an `if (c)`, and leaves them out of the declaration behind it. */
#define WK_GUARD_(open)                                                                                                \
    wk_guard __attribute__((cleanup(wk_guard_close), unused)) WK_JOIN_(wk_guard_, __COUNTER__) = open

#endif
#endif
