/* SPDX-License-Identifier: Apache-2.0 */
/* wick/macros.h: expands wk_name(...) to wk_name_at(site, ...). Names that end in an underscore are internal.
 *
 *   lists in parentheses    (2, 3) becomes an array and a count; () is an empty list; WK_ARRAY, the only public name
 *                           here, is a list whose length is known at run time
 *   keyword arguments       .key = value, ... become a pointer to a struct that begins with its size, or NULL; a
 *                           written 0 becomes WK_EXPLICIT_ZERO if the default is another number
 *   numbers for tensors     are selected by type; each operand is expanded once, so that nesting is linear
 *   guards                  are variables whose cleanup runs at the end of the enclosing block, however it is left
 */
#ifndef WICK_MACROS_H
#define WICK_MACROS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header
#endif

#include "core.h"
#include "option_numbers.h"

#ifndef __cplusplus

/* gcc reports an error in a macro at the macro, followed by each expansion on the way to the program. For macros of
 * system headers it reports the program's line only, so each header with macros declares itself one. Arguments that the
 * program writes still get warnings, and clang reports the program's line anyway. */

/* ---- pasting and counting ---------------------------------------------------------------------------------------- */

#define WK_JOIN__(a, b) a##b
#define WK_JOIN_(a, b)  WK_JOIN__(a, b)

/* 1 for one argument, WK2_ for more (up to 16). Parameters and tokens have long names, as a program may define any
 * single letter as a macro. */
#define WK_COUNT_(...)                                                                                                 \
    WK_COUNT__(__VA_ARGS__, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_, WK2_,  \
               1, )
#define WK_COUNT__(wk1_, wk2_, wk3_, wk4_, wk5_, wk6_, wk7_, wk8_, wk9_, wk10_, wk11_, wk12_, wk13_, wk14_, wk15_,     \
                   wk16_, wk17_, ...)                                                                                  \
    wk17_
/* 1, 2, 3, and WK4_ for more */
#define WK_COUNT_4_(...)                                                                                               \
    WK_COUNT__(__VA_ARGS__, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, WK4_, 3, 2, 1, )

#define WK_BARE_(...) __VA_ARGS__
#define WK_NOTHING_(...)
#define WK_COMMA_(...)      ,
#define WK_TEXT_(wk1_, ...) #wk1_
#define WK_TEXTS_(...)      #__VA_ARGS__

/* WK2_ if the first argument is a list in parentheses, 1 if not. */
#define WK_IS_LIST_(wk1_, ...)         WK_COUNT_(WK_COMMA_ wk1_)
/* WK2_ for an argument that is missing, 1 for one that is there. */
#define WK_IS_MISSING_(wk1_)           WK_JOIN_(WK_IS_MISSING_, WK_IS_LIST_(wk1_, ))(wk1_)
#define WK_IS_MISSING_1(wk1_)          WK_IS_LIST_(wk1_(), )
#define WK_IS_MISSING_WK2_(wk1_)       1
#define WK_IS_MISSING_1ST_(wk1_, ...)  WK_IS_MISSING_(wk1_)
/* WK2_ for a list of two or more in parentheses with nothing after it; 1 for anything else, as (n) or (n + 1) * 2. */
#define WK_IS_PAIR_(wk1_, ...)         WK_IS_PAIR_2_(WK_COUNTED_ wk1_, 1, )
#define WK_COUNTED_(...)               , WK_COUNT_(__VA_ARGS__),
#define WK_IS_PAIR_2_(...)             WK_IS_PAIR_3_(__VA_ARGS__)
#define WK_IS_PAIR_3_(wk1_, wk2_, ...) wk2_

/* ---- refused calls ----------------------------------------------------------------------------------------------- */

/* Replaces an invalid call: one error with the right spelling, and a value of the call's type, so that the surrounding
 * expression causes no further error. */
#define WK_REFUSE_(type, text)                                                                                         \
    __extension__({                                                                                                    \
        _Static_assert(0, text);                                                                                       \
        (type)0;                                                                                                       \
    })
/* Replaces a call whose list, with the text said, is not in parentheses. */
#define WK_REFUSE_LIST_(type, text, said)                                                                              \
    __extension__({                                                                                                    \
        _Static_assert(__builtin_strncmp(said, "{", 1) == 0, text);                                                    \
        _Static_assert(__builtin_strncmp(said, "{", 1) != 0, WK_BRACED_TEXT_);                                         \
        (type)0;                                                                                                       \
    })
/* Whether one of up to eight arguments begins as an option does. */
#define WK_NAMED_AMONG_(...)              WK_AMONG_(WK_IS_NAMED_, __VA_ARGS__)
/* Whether is_ holds for one of up to eight arguments. */
#define WK_AMONG_(is_, ...)               WK_JOIN_(WK_AMONG_, WK_COUNT_4_(__VA_ARGS__))(is_, __VA_ARGS__)
#define WK_AMONG_1(is_, wk1_)             is_(wk1_, )
#define WK_AMONG_2(is_, wk1_, wk2_)       (is_(wk1_, ) || is_(wk2_, ))
#define WK_AMONG_3(is_, wk1_, wk2_, wk3_) (is_(wk1_, ) || is_(wk2_, ) || is_(wk3_, ))
#define WK_AMONG_WK4_(is_, ...)           WK_AMONG_4_(is_, __VA_ARGS__, , , , , )
#define WK_AMONG_4_(is_, wk1_, wk2_, wk3_, wk4_, wk5_, wk6_, wk7_, wk8_, ...)                                          \
    (is_(wk1_, ) || is_(wk2_, ) || is_(wk3_, ) || is_(wk4_, ) || is_(wk5_, ) || is_(wk6_, ) || is_(wk7_, ) ||          \
     is_(wk8_, ))
#define WK_IS_NAMED_(...) (__builtin_strncmp(WK_TEXT_(__VA_ARGS__, ), ".", 1) == 0)
/* The same with the arguments after the list: if they are options, the error is behind, as text would propose to put
 * them into the parentheses. (clang prints the name of an enumerator, but all of an expression.) */
#define WK_REFUSE_BEFORE_(type, text, behind, list, ...)                                                               \
    __extension__({                                                                                                    \
        enum {                                                                                                         \
            wk_braces_ = __builtin_strncmp(WK_TEXTS_(list), "{", 1) == 0,                                              \
            wk_no_braces_ = !wk_braces_,                                                                               \
            wk_options_behind_ = wk_braces_ || WK_NAMED_AMONG_(__VA_ARGS__),                                           \
            wk_no_options_ = wk_braces_ || !wk_options_behind_                                                         \
        };                                                                                                             \
        _Static_assert(wk_options_behind_, text);                                                                      \
        _Static_assert(wk_no_options_, behind);                                                                        \
        _Static_assert(wk_no_braces_, WK_BRACED_TEXT_);                                                                \
        (type)0;                                                                                                       \
    })
#define WK_BRACED_TEXT_                   "write a list in parentheses, (2, 3), not in braces"
/* Replaces a call without its last argument. */
#define WK_REFUSE_MISSING_(type, f, said) WK_REFUSE_(type, WK_MISSING_TEXT_(f, said))
#define WK_MISSING_TEXT_(f, said)         #f ": an argument is missing: " #f "(" said "), then options"
/* Called with operands that a _Static_assert has refused; accepts anything. */
wk_tensor *wk_refused_(wk_site site, ...);

/* Declares a name in case its definition fails: gcc does not declare wk_x_ in __auto_type wk_x_ = (y) if y is not
 * declared, and would report wk_x_ too. */
#ifdef __clang__
#define WK_OPEN_(type, wk_x_, wk_y_) __extension__({
#define WK_CLOSE_                                                                                                      \
    })
#else
#define WK_OPEN_(type, wk_x_, wk_y_)                                                                                   \
    __extension__({                                                                                                    \
        extern type wk_x_ __attribute__((unused));                                                                     \
        extern type wk_y_ __attribute__((unused));                                                                     \
        __extension__({
#define WK_CLOSE_                                                                                                      \
    });                                                                                                                \
    })
#endif
/* The value of a block: a variable, which has a type even if an operand of the call is an error. (It is assigned to
 * itself, as clang warns of an unused variable if the value of the block is discarded.) */
#define WK_GIVE_(type, ...) WK_GIVE_2_(WK_JOIN_(wk_result_, __COUNTER__), type, __VA_ARGS__)
#define WK_GIVE_2_(wk_r_, type, ...)                                                                                   \
    type wk_r_ = __VA_ARGS__;                                                                                          \
    *&wk_r_ = wk_r_

/* A block that evaluates an operand into a variable, so that the operand and its nested calls are expanded once. */
#define WK_ONCE_(type, wk_x_, x, last)                                                                                 \
    WK_OPEN_(type, wk_x_, WK_JOIN_(wk_x_, 2_))                                                                         \
    __auto_type wk_x_ = (x);                                                                                           \
    last;                                                                                                              \
    WK_CLOSE_

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* WK_ARRAY(pointer, count): Replaces any list in parentheses by count elements at pointer, a number known at run time:
 * const int64_t * for sizes, dimensions and other integers, wk_tensor *const * for tensors.
 *
 *     wk_tensor *x = wk_zeros(WK_ARRAY(shape, ndim), .dtype = WK_F64);
 *     x = wk_cat(WK_ARRAY(parts, n), 0);
 */
#define WK_ARRAY(pointer, count) ()(pointer, count)

/* A list or an array. */
typedef struct wk_ints_ {
    const int64_t *at;
    int count;
} wk_ints_;
typedef struct wk_operands_ {
    wk_tensor *const *at;
    int count;
} wk_operands_;
static inline wk_ints_ wk_array_of_int64_t_(const int64_t *at, int64_t count)
{
    wk_ints_ ints = {at, count > INT32_MAX ? -1 : (int)count};
    return ints;
}
static inline wk_operands_ wk_array_of_tensors_(wk_tensor *const *at, int64_t count)
{
    wk_operands_ operands = {at, count > INT32_MAX ? -1 : (int)count};
    return operands;
}

/* LIST_ for a list in parentheses, ARRAY_ for a WK_ARRAY, NOT_ for anything else. */
#define WK_KIND_(wk1_)          WK_JOIN_(WK_KIND_, WK_IS_LIST_(wk1_, ))(wk1_)
#define WK_KIND_1(wk1_)         NOT_
#define WK_KIND_WK2_(wk1_)      WK_JOIN_(WK_KIND_WK2_, WK_IS_LIST_(WK_NOTHING_ wk1_, ))
#define WK_KIND_WK2_1           LIST_
#define WK_KIND_WK2_WK2_        ARRAY_
/* The same of the first of several arguments. */
#define WK_KIND_1ST_(wk1_, ...) WK_KIND_(wk1_)

/* Declares wk_s_, a wk_ints_ or wk_operands_, of a list. */
#define WK_INTS_(wk_s_, list)               WK_INTS__(wk_s_, WK_JOIN_(wk_s_, in_), WK_KIND_(list), list)
#define WK_INTS__(wk_s_, wk_i_, kind, list) WK_JOIN_(WK_INTS_, kind)(wk_s_, wk_i_, list)
#define WK_INTS_LIST_(wk_s_, wk_i_, list)                                                                              \
    const int64_t wk_i_[] = {0, WK_SIZES_ list}; /* a dummy first: () is legal */                                      \
    const wk_ints_ wk_s_ = {wk_i_ + 1, (int)(WK_BYTES_(wk_i_) / sizeof(int64_t)) - 1};
#define WK_INTS_ARRAY_(wk_s_, wk_i_, list) const wk_ints_ wk_s_ = wk_array_of_int64_t_ WK_NOTHING_ list;

#define WK_OPERANDS_(wk_s_, list)               WK_OPERANDS__(wk_s_, WK_JOIN_(wk_s_, in_), WK_KIND_(list), list)
#define WK_OPERANDS__(wk_s_, wk_i_, kind, list) WK_JOIN_(WK_OPERANDS_, kind)(wk_s_, wk_i_, list)
#define WK_OPERANDS_LIST_(wk_s_, wk_i_, list)                                                                          \
    wk_tensor *const wk_i_[] = {WK_BARE_ list};                                                                        \
    const wk_operands_ wk_s_ = {wk_i_, (int)(WK_BYTES_(wk_i_) / sizeof(wk_tensor *))};
#define WK_OPERANDS_ARRAY_(wk_s_, wk_i_, list) const wk_operands_ wk_s_ = wk_array_of_tensors_ WK_NOTHING_ list;

/* sizeof, which clang refuses for an array with an error in it. */
#define WK_BYTES_(array) __builtin_object_size(array, 0)
#define WK_INTS_NAME_    WK_JOIN_(wk_sizes_, __COUNTER__)
#define WK_LIST_NAME_    WK_JOIN_(wk_list_, __COUNTER__)

/* The sizes of a list: up to 8, each with an operator that only integers have; C converts those of longer lists, which
 * are no shapes. A list has at most 64 numbers; a WK_ARRAY may have more. */
typedef int wk_sizes_are_whole_numbers;
#define WK_SIZE_(wk1_)         (wk1_) | (wk_sizes_are_whole_numbers)0
#define WK_SIZES_(...)         WK_JOIN_(WK_SIZES_, WK_COUNT_8_(__VA_ARGS__))(__VA_ARGS__)
#define WK_SIZES_1(wk1_)       WK_JOIN_(WK_SIZES_1_, WK_IS_LIST_(wk1_(), ))(wk1_)
#define WK_SIZES_1_1(wk1_)     WK_SIZE_(wk1_)
#define WK_SIZES_1_WK2_(wk1_)  wk1_ /* nothing, or a number in parentheses of its own */
#define WK_SIZES_2(wk1_, wk2_) WK_SIZE_(wk1_), WK_SIZE_(wk2_)
#define WK_SIZES_3(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_2(__VA_ARGS__)
#define WK_SIZES_4(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_3(__VA_ARGS__)
#define WK_SIZES_5(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_4(__VA_ARGS__)
#define WK_SIZES_6(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_5(__VA_ARGS__)
#define WK_SIZES_7(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_6(__VA_ARGS__)
#define WK_SIZES_8(wk1_, ...)  WK_SIZE_(wk1_), WK_SIZES_7(__VA_ARGS__)
#define WK_SIZES_WK9_(...)     __VA_ARGS__
#define WK_COUNT_8_(...)                                                                                               \
    WK_COUNT_8__(__VA_ARGS__, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_,      \
                 WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, \
                 WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, \
                 WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, WK9_, 8, 7, 6, 5, 4, 3, 2, 1, )
#define WK_COUNT_8__(wk1_, wk2_, wk3_, wk4_, wk5_, wk6_, wk7_, wk8_, wk9_, wk10_, wk11_, wk12_, wk13_, wk14_, wk15_,   \
                     wk16_, wk17_, wk18_, wk19_, wk20_, wk21_, wk22_, wk23_, wk24_, wk25_, wk26_, wk27_, wk28_, wk29_, \
                     wk30_, wk31_, wk32_, wk33_, wk34_, wk35_, wk36_, wk37_, wk38_, wk39_, wk40_, wk41_, wk42_, wk43_, \
                     wk44_, wk45_, wk46_, wk47_, wk48_, wk49_, wk50_, wk51_, wk52_, wk53_, wk54_, wk55_, wk56_, wk57_, \
                     wk58_, wk59_, wk60_, wk61_, wk62_, wk63_, wk64_, wk65_, ...)                                      \
    wk65_

/* (.., list, ..): a block that ends with last, which uses wk_s_, the sizes of list. Anything but a list is refused with
 * text. */

#define WK_SIZED_(result, wk_s_, list, text, last) WK_JOIN_(WK_SIZED_, WK_KIND_(list))(result, wk_s_, list, text, last)

#define WK_SIZED_NOT_(result, wk_s_, list, text, last) WK_REFUSE_LIST_(result, text, WK_TEXTS_(list))
#define WK_SIZED_ARRAY_                                WK_SIZED_LIST_
#define WK_SIZED_LIST_(result, wk_s_, list, text, last)                                                                \
    __extension__({                                                                                                    \
        WK_INTS_(wk_s_, list)                                                                                          \
        last;                                                                                                          \
    })
/* The same with a list of tensors. */
#define WK_LISTED_(result, wk_l_, list, text, last)                                                                    \
    WK_JOIN_(WK_LISTED_, WK_KIND_(list))(result, wk_l_, list, text, last)
#define WK_LISTED_NOT_(result, wk_l_, list, text, last) WK_REFUSE_LIST_(result, text, WK_TEXTS_(list))
#define WK_LISTED_ARRAY_                                WK_LISTED_LIST_
#define WK_LISTED_LIST_(result, wk_l_, list, text, last)                                                               \
    __extension__({                                                                                                    \
        WK_OPERANDS_(wk_l_, list)                                                                                      \
        last;                                                                                                          \
    })

/* Two lists, the second in wk_t_. */
#define WK_STRIDED_(wk_s_, wk_t_, text, list, other, last)                                                             \
    WK_SIZED_(wk_tensor *, wk_s_, list, text, WK_SIZED_(wk_tensor *, wk_t_, other, text, last))
/* The number of sizes and of strides; -1, which every call refuses, if they differ. */
static inline int wk_as_many_(wk_ints_ sizes, wk_ints_ strides)
{
    return sizes.count == strides.count ? sizes.count : -1;
}

/* ---- sizes that may differ by dimension -------------------------------------------------------------------------- */

#define WK_PAIR(first, second)          wk_pair(WK_SIZE_(first), WK_SIZE_(second))
#define WK_TRIPLE(first, second, third) wk_triple(WK_SIZE_(first), WK_SIZE_(second), WK_SIZE_(third))

/* The wk_sizes of an argument: a number, or a list of two or three in parentheses. */
#define WK_SIZES_OF_(sizes)  WK_JOIN_(WK_SIZES_OF_, WK_IS_PAIR_(sizes, ))(sizes)
#define WK_SIZES_OF_1(sizes) WK_SIZE_(sizes)
#define WK_SIZES_OF_WK2_(sizes)                                                                                        \
    wk_sizes_of((const int64_t[]){WK_SIZES_ sizes}, (int)(sizeof((int64_t[]){WK_SIZES_ sizes}) / sizeof(int64_t)))

/* Makes fractions for integers an error. */
#ifdef __clang__
#define WK_REFUSE_FRACTIONS_                                                                                           \
    _Pragma("GCC diagnostic error \"-Wfloat-conversion\"") _Pragma("GCC diagnostic error \"-Wliteral-conversion\"")
#else
#define WK_REFUSE_FRACTIONS_ _Pragma("GCC diagnostic error \"-Wfloat-conversion\"")
#endif

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* f_at(site, operands, options) with the options in a variable. An omitted number differs from a written 0: it is
 * initialised to WK_LEFT_OUT_, which a written value overrides, and becomes 0 afterwards; a written 0 becomes
 * WK_EXPLICIT_ZERO. An option written twice is an error of a second initialiser, which is not evaluated.
 *
 * wk_zeros((2, 3), .dtype = WK_F64) expands by WK_SHAPED_WK2_ to WK_SIZED_ with WK_CALL_(wk_tensor *, wk_zeros,
 * (wk_sizes_6.at, wk_sizes_6.count), wk_tensor_options, .dtype = WK_F64), and that to
 *
 *     ({
 *         const int64_t wk_sizes_6in_[] = {0, (2) | 0, (3) | 0};
 *         const wk_ints_ wk_sizes_6 = {wk_sizes_6in_ + 1, (int)(its bytes / 8) - 1};
 *         ({
 *             _Static_assert(__builtin_strncmp(".dtype = WK_F64", ".", 1) == 0, "wk_zeros: options must be named,
 *             ..."); wk_tensor_options wk_options_7 = {.size = sizeof(wk_tensor_options), .by_name = NULL,
 *             .dtype = WK_F64};
 *             wk_tensor *wk_result_8 = wk_zeros_at(WK_HERE, wk_sizes_6.at, wk_sizes_6.count, &wk_options_7);
 *             *&wk_result_8 = wk_result_8;
 *         });
 *     })
 *
 * wk_tensor_options has no numbers; with those of wk_elu(x, .alpha = 0) it is
 *
 *         wk_elu_options wk_options_9 = {.alpha = WK_LEFT_OUT_, .size = sizeof(wk_elu_options), .by_name = NULL, .alpha
 *         = 0}; wk_options_9.alpha = wk_written_(wk_options_9.alpha);
 */
#define WK_CALL_(result, f, operands, type, ...)                                                                       \
    WK_CALL_OF_(result, f##_at, operands, type, #f ": " WK_BY_NAME_TEXT_ "; lists in parentheses, (2, 3)", __VA_ARGS__)
#define WK_BY_NAME_TEXT_ "options must be named: .key = value"
#define WK_CALL_OF_(result, f, operands, type, text, ...)                                                              \
    WK_CALLED_(WK_JOIN_(wk_options_, __COUNTER__), result, f, (WK_HERE, WK_BARE_ operands), type,                      \
               _Static_assert(WK_IS_NAMED_(__VA_ARGS__, ), text), __VA_ARGS__)
#define WK_CALLED_(wk_o_, result, f, arguments, type, checks, ...)                                                     \
    __extension__({                                                                                                    \
        checks;                                                                                                        \
        WK_CHECK_VALUES_(type, __VA_ARGS__)                                                                            \
        _Pragma("GCC diagnostic push") WK_JOIN_(WK_TWICE_, WK_COUNT_(__VA_ARGS__))(type, __VA_ARGS__)                  \
            _Pragma("GCC diagnostic ignored \"-Woverride-init\"") _Pragma("GCC diagnostic warning \"-Wunused-value\"") \
                _Pragma("GCC diagnostic error \"-Wint-conversion\"") WK_REFUSE_FRACTIONS_ type wk_o_ = {               \
                    type##_numbers_(WK_LEAVE_OUT_, wk_o_).size = sizeof(type), .by_name = NULL, __VA_ARGS__};          \
        _Pragma("GCC diagnostic pop") type##_numbers_(WK_WRITTEN_, wk_o_);                                             \
        WK_GIVE_(result, f(WK_BARE_ arguments, &wk_o_));                                                               \
    })
#define WK_TWICE_1(type, wk1_)
/* A value without a name initialises the size; the call reports it, so it is not reported here again. */
#define WK_TWICE_WK2_(type, ...)                                                                                       \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Woverride-init\"")                                 \
        _Pragma("GCC diagnostic ignored \"-Wint-conversion\"")(void) sizeof((type){__VA_ARGS__});                      \
    _Pragma("GCC diagnostic pop")
/* Refuses, in up to eight options, the name .size, and a list instead of a value: (1, 2) would be 2. A list that
 * contains further parentheses passes, with the compiler's warning; braces are for a device, {.kind = ..}. */
#define WK_CHECK_VALUES_(type, ...)                                                                                    \
    _Static_assert(!WK_AMONG_(WK_IS_SIZE_, __VA_ARGS__),                                                               \
                   #type ": .size is reserved for the sizeof of this struct; write the size of "                       \
                         "a result as .output_size or as an argument");                                                \
    _Static_assert(WK_AMONG_(WK_IS_SIZE_, __VA_ARGS__) || !WK_AMONG_(WK_IS_LISTED_, __VA_ARGS__),                      \
                   #type ": an option takes one value, not a list; write one size per "                                \
                         "dimension as WK_PAIR(1, 2) or WK_TRIPLE(1, 2, 3)");
#define WK_IS_SIZE_(...)    WK_IS_SIZE_2_(#__VA_ARGS__)
#define WK_IS_SIZE_2_(text) (__builtin_strncmp(text, ".size ", 6) == 0 || __builtin_strncmp(text, ".size=", 6) == 0)
/* The value begins with { or (, and the first comma is before the first closing and the second opening parenthesis. */
#define WK_IS_LISTED_(...)  WK_IS_LISTED_2_(WK_TEXT_(__VA_ARGS__, ) "= ,)((")
#define WK_VALUE_IN_(text)  __builtin_strchr(text, '=')
#define WK_REST_(text, c)   __builtin_strlen(__builtin_strchr(WK_VALUE_IN_(text), c))
#define WK_OPENS_(text, c)  (WK_BEGINS_(text, "= " c) || WK_BEGINS_(text, "=" c))
#define WK_BEGINS_(text, c) (__builtin_strncmp(WK_VALUE_IN_(text), c, sizeof c - 1) == 0)
#define WK_IS_LISTED_2_(text)                                                                                          \
    ((WK_OPENS_(text, "{") && !WK_OPENS_(text, "{.")) ||                                                               \
     (WK_OPENS_(text, "(") && !WK_OPENS_(text, "({") && WK_REST_(text, ',') > WK_REST_(text, ')') &&                   \
      WK_REST_(text, ',') > __builtin_strlen(__builtin_strchr(__builtin_strchr(WK_VALUE_IN_(text), '(') + 1, '('))))
#define WK_LEFT_OUT_                 (-WK_EXPLICIT_ZERO)
#define WK_LEAVE_OUT_(wk_o_, member) .member = WK_LEFT_OUT_,
#define WK_WRITTEN_(wk_o_, member)   wk_o_.member = wk_written_(wk_o_.member);
static inline double wk_written_(double number)
{
    return number >= WK_LEFT_OUT_ && number <= WK_LEFT_OUT_ ? 0
           : number >= 0 && number <= 0                     ? WK_EXPLICIT_ZERO
                                                            : number;
}

/* Whether the text of an argument is an option, .key = value, and not a number, .5. */
#define WK_IS_OPTION_(text) ((text)[0] == '.' && !((text)[1] >= '0' && (text)[1] <= '9'))
/* The number of elements before the options in the text of wk_of's arguments. */
static inline size_t wk_elements_(const char *text)
{
    size_t count = 0;
    int depth = 0;
    char quote = 0;
    for (bool begins = true; *text; text++) {
        if (begins && *text != ' ') {
            if (WK_IS_OPTION_(text)) break;
            begins = false, count++;
        }
        if (quote && *text == '\\')
            text++;
        else if (quote)
            quote = *text == quote ? 0 : quote;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else if (*text == '(' || *text == '[' || *text == '{')
            depth++;
        else if (*text == ')' || *text == ']' || *text == '}')
            depth--;
        else if (*text == ',' && !depth)
            begins = true;
    }
    return count;
}
/* Declares wk_d_.element, up to count numbers in the order of a call, and wk_o_, the options after them, for wk_of and
 * wk_arange. */
#define WK_ELEMENTS_AND_OPTIONS_(type, count, wk_d_, wk_o_, ...)                                                       \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Woverride-init\"")                                 \
        _Pragma("GCC diagnostic ignored \"-Wmissing-braces\"") const struct {                                          \
        size_t size;                                                                                                   \
        type element[count];                                                                                           \
        wk_by_name by_name;                                                                                            \
        wk_tensor_options_members_(WK_MEMBER_, )                                                                       \
    } wk_d_ = {.size = sizeof(wk_tensor_options), __VA_ARGS__};                                                        \
    _Pragma("GCC diagnostic pop") const wk_tensor_options wk_o_ = WK_OPTIONS_BEHIND_(wk_d_);
#define WK_OPTIONS_BEHIND_(wk_d_)                                                                                      \
    {                                                                                                                  \
        .size = sizeof(wk_tensor_options), wk_tensor_options_members_(WK_MEMBER_BEHIND_, wk_d_)                        \
    }
#define WK_MEMBER_(wk_d_, type, name)        type name;
#define WK_MEMBER_BEHIND_(wk_d_, type, name) .name = wk_d_.name,

/* For each struct wk_NAME_options, wk_NAME_options_numbers_ lists its doubles whose default may be other than 0. It
 * is in the header of the struct if that is generated, else in option_numbers.h. */

/* () or (.key = value, ...) */
#define WK_OPT0_(result, f, type, ...)      WK_OPT0_2_(WK_IS_MISSING_1ST_(__VA_ARGS__, ), result, f, type, __VA_ARGS__)
#define WK_OPT0_2_(missing, ...)            WK_JOIN_(WK_OPT0_, missing)(__VA_ARGS__)
#define WK_OPT0_WK2_(result, f, type, wk1_) f##_at(WK_HERE, NULL)
#define WK_OPT0_1(result, f, type, ...)                                                                                \
    WK_CALLED_(WK_JOIN_(wk_options_, __COUNTER__), result, f##_at, (WK_HERE), type,                                    \
               _Static_assert(WK_IS_NAMED_(__VA_ARGS__, ), #f ": " WK_BY_NAME_TEXT_), __VA_ARGS__)

/* (x) or (x, .key = value, ...) */
#define WK_OPT_(result, f, type, ...)        WK_JOIN_(WK_OPT_, WK_COUNT_(__VA_ARGS__))(result, f, type, __VA_ARGS__)
#define WK_OPT_1(result, f, type, x)         f##_at(WK_HERE, x, NULL)
#define WK_OPT_WK2_(result, f, type, x, ...) WK_CALL_(result, f, (x), type, __VA_ARGS__)

/* () or (.key = value, ...); operands are those that the form itself gives */
#define WK_OPT_AFTER_(result, f, operands, type, ...)                                                                  \
    WK_JOIN_(WK_OPT_AFTER_, WK_IS_MISSING_1ST_(__VA_ARGS__, ))(result, f, operands, type, __VA_ARGS__)
#define WK_OPT_AFTER_WK2_(result, f, operands, type, ...) f##_at(WK_HERE, WK_BARE_ operands, NULL)
#define WK_OPT_AFTER_1(result, f, operands, type, ...)    WK_CALL_(result, f, operands, type, __VA_ARGS__)

/* (a, b) or (a, b, .key = value, ...); said names the arguments if one is missing */
#define WK_OPT2_(result, f, type, said, a, ...)                                                                        \
    WK_JOIN_(WK_OPT2_, WK_COUNT_(__VA_ARGS__))(result, f, type, said, a, __VA_ARGS__)
#define WK_OPT2_1(result, f, type, said, a, b)         WK_JOIN_(WK_OPT2_1_, WK_IS_MISSING_(b))(result, f, said, a, b)
#define WK_OPT2_1_1(result, f, said, a, b)             f##_at(WK_HERE, a, b, NULL)
#define WK_OPT2_1_WK2_(result, f, said, a, b)          WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT2_WK2_(result, f, type, said, a, b, ...) WK_CALL_(result, f, (a, b), type, __VA_ARGS__)

/* (a, number) or (a, number, .key = value, ...) */
#define WK_OPT2_NUMBER_(f, type, said, a, ...)                                                                         \
    WK_JOIN_(WK_OPT2_NUMBER_, WK_COUNT_(__VA_ARGS__))                                                                  \
    (f, type, WK_JOIN_(wk_number_, __COUNTER__), said, a, __VA_ARGS__)
#define WK_OPT2_NUMBER_1(f, type, wk_n_, said, a, value)                                                               \
    WK_JOIN_(WK_OPT2_NUMBER_1_, WK_IS_MISSING_(value))(f, wk_n_, said, a, value)
#define WK_OPT2_NUMBER_1_WK2_(f, wk_n_, said, a, value) WK_REFUSE_MISSING_(wk_tensor *, f, said)
#define WK_OPT2_NUMBER_1_1(f, wk_n_, said, a, value)                                                                   \
    WK_ONCE_(int, wk_n_, value, WK_GIVE_(wk_tensor *, WK_NUMBER_(f, wk_n_)(WK_HERE, a, wk_n_, NULL)))
#define WK_OPT2_NUMBER_WK2_(f, type, wk_n_, said, a, value, ...)                                                       \
    WK_ONCE_(int, wk_n_, value,                                                                                        \
             WK_CALL_OF_(wk_tensor *, WK_NUMBER_(f, wk_n_), (a, wk_n_), type, #f ": " WK_BY_NAME_TEXT_, __VA_ARGS__))

/* (a, b, c) or (a, b, c, .key = value, ...) */
#define WK_OPT3_(result, f, type, said, a, b, ...)                                                                     \
    WK_JOIN_(WK_OPT3_, WK_COUNT_(__VA_ARGS__))(result, f, type, said, a, b, __VA_ARGS__)

#define WK_OPT3_1(result, f, type, said, a, b, c) WK_JOIN_(WK_OPT3_1_, WK_IS_MISSING_(c))(result, f, said, a, b, c)

#define WK_OPT3_1_1(result, f, said, a, b, c)             f##_at(WK_HERE, a, b, c, NULL)
#define WK_OPT3_1_WK2_(result, f, said, a, b, c)          WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT3_WK2_(result, f, type, said, a, b, c, ...) WK_CALL_(result, f, (a, b, c), type, __VA_ARGS__)

/* An operand before the options that is easily forgotten. The further members accept an option written instead,
 * which is refused. */
typedef struct wk_sizes_operand_ {
    wk_by_name by_name;
    wk_sizes wk_value_;
    union {
        WK_OPTION_MEMBERS_
    };
} wk_sizes_operand_;
typedef struct wk_tensor_operand_ {
    wk_by_name by_name;
    wk_tensor *wk_value_;
    union {
        WK_OPTION_MEMBERS_
    };
} wk_tensor_operand_;
#define WK_BEFORE_OPTIONS_(type, wk_k_, f, said, operand, last)                                                        \
    __extension__({                                                                                                    \
        _Static_assert(!WK_IS_NAMED_(operand, ), WK_MISSING_TEXT_(f, said));                                           \
        _Pragma("GCC diagnostic push") WK_REFUSE_FRACTIONS_ const type wk_k_ = {.by_name = NULL, operand};             \
        _Pragma("GCC diagnostic pop") last;                                                                            \
    })
#define WK_OPERAND_NAME_ WK_JOIN_(wk_operand_, __COUNTER__)

/* (a, b, c) or (a, b, c, .key = value, ...), where c is a tensor or NULL */
#define WK_OPT3_TENSOR_(result, f, type, said, a, b, ...)                                                              \
    WK_JOIN_(WK_OPT3_TENSOR_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_OPERAND_NAME_, said, a, b, __VA_ARGS__)
#define WK_OPT3_TENSOR_1(result, f, type, wk_k_, said, a, b, c)                                                        \
    WK_JOIN_(WK_OPT3_TENSOR_1_, WK_IS_MISSING_(c))(result, f, wk_k_, said, a, b, c)
#define WK_OPT3_TENSOR_1_WK2_(result, f, wk_k_, said, a, b, c) WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT3_TENSOR_1_1(result, f, wk_k_, said, a, b, c)                                                            \
    WK_BEFORE_OPTIONS_(wk_tensor_operand_, wk_k_, f, said, c,                                                          \
                       WK_GIVE_(result, f##_at(WK_HERE, a, b, wk_k_.wk_value_, NULL)))
#define WK_OPT3_TENSOR_WK2_(result, f, type, wk_k_, said, a, b, c, ...)                                                \
    WK_BEFORE_OPTIONS_(wk_tensor_operand_, wk_k_, f, said, c,                                                          \
                       WK_CALL_(result, f, (a, b, wk_k_.wk_value_), type, __VA_ARGS__))

/* (a, b, c, d) or (a, b, c, d, .key = value, ...) */
#define WK_OPT4_(result, f, type, said, a, b, c, ...)                                                                  \
    WK_JOIN_(WK_OPT4_, WK_COUNT_(__VA_ARGS__))(result, f, type, said, a, b, c, __VA_ARGS__)
#define WK_OPT4_1(result, f, type, said, a, b, c, d)                                                                   \
    WK_JOIN_(WK_OPT4_1_, WK_IS_MISSING_(d))(result, f, said, a, b, c, d)
#define WK_OPT4_1_1(result, f, said, a, b, c, d)             f##_at(WK_HERE, a, b, c, d, NULL)
#define WK_OPT4_1_WK2_(result, f, said, a, b, c, d)          WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT4_WK2_(result, f, type, said, a, b, c, d, ...) WK_CALL_(result, f, (a, b, c, d), type, __VA_ARGS__)

/* (a, b, c, d, e) or (a, b, c, d, e, .key = value, ...) */
#define WK_OPT5_(result, f, type, said, a, b, c, d, ...)                                                               \
    WK_JOIN_(WK_OPT5_, WK_COUNT_(__VA_ARGS__))(result, f, type, said, a, b, c, d, __VA_ARGS__)
#define WK_OPT5_1(result, f, type, said, a, b, c, d, e)                                                                \
    WK_JOIN_(WK_OPT5_1_, WK_IS_MISSING_(e))(result, f, said, a, b, c, d, e)
#define WK_OPT5_1_1(result, f, said, a, b, c, d, e)             f##_at(WK_HERE, a, b, c, d, e, NULL)
#define WK_OPT5_1_WK2_(result, f, said, a, b, c, d, e)          WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT5_WK2_(result, f, type, said, a, b, c, d, e, ...) WK_CALL_(result, f, (a, b, c, d, e), type, __VA_ARGS__)

/* The same forms whose last operand is a wk_sizes: a number or a list. */
#define WK_OPT_SIZES_(result, f, type, said, ...)                                                                      \
    WK_JOIN_(WK_OPT_SIZES_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_OPERAND_NAME_, said, (), __VA_ARGS__)
#define WK_OPT2_SIZES_(result, f, type, said, a, ...)                                                                  \
    WK_JOIN_(WK_OPT_SIZES_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_OPERAND_NAME_, said, (a, ), __VA_ARGS__)
#define WK_OPT3_SIZES_(result, f, type, said, a, b, ...)                                                               \
    WK_JOIN_(WK_OPT_SIZES_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_OPERAND_NAME_, said, (a, b, ), __VA_ARGS__)
#define WK_OPT_SIZES_1(result, f, type, wk_k_, said, before, sizes)                                                    \
    WK_JOIN_(WK_OPT_SIZES_1_, WK_IS_MISSING_(sizes))(result, f, wk_k_, said, before, sizes)
#define WK_OPT_SIZES_1_WK2_(result, f, wk_k_, said, before, sizes) WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT_SIZES_1_1(result, f, wk_k_, said, before, sizes)                                                        \
    WK_SIZES_BEFORE_OPTIONS_(wk_k_, f, said, sizes,                                                                    \
                             WK_GIVE_(result, f##_at(WK_HERE, WK_BARE_ before wk_k_.wk_value_, NULL)))
#define WK_OPT_SIZES_WK2_(result, f, type, wk_k_, said, before, sizes, ...)                                            \
    WK_SIZES_BEFORE_OPTIONS_(wk_k_, f, said, sizes,                                                                    \
                             WK_CALL_(result, f, (WK_BARE_ before wk_k_.wk_value_), type, __VA_ARGS__))
#define WK_SIZES_BEFORE_OPTIONS_(wk_k_, f, said, sizes, last)                                                          \
    WK_JOIN_(WK_SIZES_BEFORE_OPTIONS_, WK_IS_PAIR_(sizes, ))(wk_k_, f, said, sizes, last)
#define WK_SIZES_BEFORE_OPTIONS_1(wk_k_, f, said, sizes, last)                                                         \
    WK_BEFORE_OPTIONS_(wk_sizes_operand_, wk_k_, f, said, sizes, last)
#define WK_SIZES_BEFORE_OPTIONS_WK2_(wk_k_, f, said, sizes, last)                                                      \
    WK_BEFORE_OPTIONS_(wk_sizes_operand_, wk_k_, f, said, WK_SIZES_OF_WK2_(sizes), last)

/* Operands with a list among them, the last of which is x, then options; before and between end with a comma. */
#define WK_LIST_OPT_(f, type, text, list, before, between, ...)                                                        \
    WK_JOIN_(WK_LIST_OPT_, WK_COUNT_(__VA_ARGS__))                                                                     \
    (f, type, text, WK_INTS_NAME_, list, before, between, __VA_ARGS__)
#define WK_LIST_OPT_1(f, type, text, wk_s_, list, before, between, x)                                                  \
    WK_SIZED_(wk_tensor *, wk_s_, list, text,                                                                          \
              WK_GIVE_(wk_tensor *, f##_at(WK_HERE, WK_BARE_ before wk_s_.at, wk_s_.count, WK_BARE_ between x, NULL)))
#define WK_LIST_OPT_WK2_(f, type, text, wk_s_, list, before, between, x, ...)                                          \
    WK_SIZED_(                                                                                                         \
        wk_tensor *, wk_s_, list, text,                                                                                \
        WK_CALL_(wk_tensor *, f, (WK_BARE_ before wk_s_.at, wk_s_.count, WK_BARE_ between x), type, __VA_ARGS__))

/* (shape) or (shape, .key = value, ...); said is the text of all arguments */
#define WK_SHAPED_(result, f, type, said, ...)                                                                         \
    WK_JOIN_(WK_SHAPED_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_INTS_NAME_, WK_SHAPED_TEXT_(f, said), __VA_ARGS__)
#define WK_SHAPED_TEXT_(f, said)                                                                                       \
#f ": write sizes in parentheses of their own: " #f "((" said ")); for an array: " #f "(WK_ARRAY(shape, ndim))"
#define WK_SHAPED_1(result, f, type, wk_s_, text, shape)                                                               \
    WK_SIZED_(result, wk_s_, shape, text, WK_GIVE_(result, f##_at(WK_HERE, wk_s_.at, wk_s_.count, NULL)))
#define WK_SHAPED_WK2_(result, f, type, wk_s_, text, shape, ...)                                                       \
    WK_JOIN_(WK_SHAPED_WK2_, WK_KIND_(shape))(result, f, type, wk_s_, text, shape, __VA_ARGS__)
#define WK_SHAPED_WK2_NOT_(result, f, type, wk_s_, text, shape, ...)                                                   \
    WK_REFUSE_BEFORE_(result, text,                                                                                    \
                      #f ": write sizes in parentheses of their own, options after them: " #f                          \
                         "((2, 3), .key = value)",                                                                     \
                      shape, __VA_ARGS__)
#define WK_SHAPED_WK2_ARRAY_ WK_SHAPED_WK2_LIST_
#define WK_SHAPED_WK2_LIST_(result, f, type, wk_s_, text, shape, ...)                                                  \
    WK_SIZED_(result, wk_s_, shape, text, WK_CALL_(result, f, (wk_s_.at, wk_s_.count), type, __VA_ARGS__))

/* (shape, number) or (shape, number, .key = value, ...) */
#define WK_SHAPED_NUMBER_(f, type, shape, ...)                                                                         \
    WK_JOIN_(WK_SHAPED_NUMBER_, WK_COUNT_(__VA_ARGS__))                                                                \
    (f, type, WK_JOIN_(wk_number_, __COUNTER__), WK_INTS_NAME_, WK_SHAPED_NUMBER_TEXT_(f), shape, __VA_ARGS__)
#define WK_SHAPED_NUMBER_TEXT_(f) #f ": write sizes in parentheses of their own, then the number: " #f "((2, 3), 0.5)"
#define WK_SHAPED_NUMBER_1(f, type, wk_n_, wk_s_, text, shape, value)                                                  \
    WK_JOIN_(WK_SHAPED_NUMBER_1_, WK_IS_MISSING_(value))(f, wk_n_, wk_s_, text, shape, value)
#define WK_SHAPED_NUMBER_1_WK2_(f, wk_n_, wk_s_, text, shape, value) WK_REFUSE_MISSING_(wk_tensor *, f, "(2, 3), 0.5")
#define WK_SHAPED_NUMBER_1_1(f, wk_n_, wk_s_, text, shape, value)                                                      \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(int, wk_n_, value,                                                                              \
                       WK_GIVE_(wk_tensor *, WK_NUMBER_(f, wk_n_)(WK_HERE, wk_s_.at, wk_s_.count, wk_n_, NULL))))
#define WK_SHAPED_NUMBER_WK2_(f, type, wk_n_, wk_s_, text, shape, value, ...)                                          \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(int, wk_n_, value,                                                                              \
                       WK_CALL_OF_(wk_tensor *, WK_NUMBER_(f, wk_n_), (wk_s_.at, wk_s_.count, wk_n_), type,            \
                                   #f ": " WK_BY_NAME_TEXT_, __VA_ARGS__)))

/* (operands, shape) or (operands, shape, .key = value, ...) */
#define WK_SHAPED_LAST_(f, type, text, operands, ...)                                                                  \
    WK_SHAPED_LAST_OF_(wk_tensor *, f, type, text, operands, __VA_ARGS__)
#define WK_SHAPED_LAST_OF_(result, f, type, text, operands, ...)                                                       \
    WK_JOIN_(WK_SHAPED_LAST_, WK_COUNT_(__VA_ARGS__))(result, f, type, WK_INTS_NAME_, text, operands, __VA_ARGS__)
#define WK_SHAPED_LAST_1(result, f, type, wk_s_, text, operands, shape)                                                \
    WK_SIZED_(result, wk_s_, shape, text,                                                                              \
              WK_GIVE_(result, f##_at(WK_HERE, WK_BARE_ operands, wk_s_.at, wk_s_.count, NULL)))
#define WK_SHAPED_LAST_WK2_(result, f, type, wk_s_, text, operands, shape, ...)                                        \
    WK_JOIN_(WK_SHAPED_LAST_WK2_, WK_KIND_(shape))(result, f, type, wk_s_, text, operands, shape, __VA_ARGS__)
#define WK_SHAPED_LAST_WK2_NOT_(result, f, type, wk_s_, text, operands, shape, ...)                                    \
    WK_REFUSE_BEFORE_(result, text,                                                                                    \
                      #f ": write sizes in parentheses, options after them: " #f "(.., (2, 3), .key = value)", shape,  \
                      __VA_ARGS__)
#define WK_SHAPED_LAST_WK2_ARRAY_ WK_SHAPED_LAST_WK2_LIST_
#define WK_SHAPED_LAST_WK2_LIST_(result, f, type, wk_s_, text, operands, shape, ...)                                   \
    WK_SIZED_(result, wk_s_, shape, text,                                                                              \
              WK_CALL_(result, f, (WK_BARE_ operands, wk_s_.at, wk_s_.count), type, __VA_ARGS__))

/* (x, n), which calls less, or (x, n, dim) */
#define WK_SHORTER_(less, f, x, ...)     WK_JOIN_(WK_SHORTER_, WK_COUNT_(__VA_ARGS__))(less, f, x, __VA_ARGS__)
#define WK_SHORTER_1(less, f, x, n)      less##_at(WK_HERE, x, n)
#define WK_SHORTER_WK2_(less, f, x, ...) f##_at(WK_HERE, x, __VA_ARGS__)

/* (x, list): anything but one list is refused. said is its text. */
#define WK_VIEW_(f, said, x, ...) WK_JOIN_(WK_VIEW_, WK_COUNT_(__VA_ARGS__))(f, said, x, WK_INTS_NAME_, __VA_ARGS__)
#define WK_VIEW_TEXT_(f, said)    #f ": write a list in parentheses: " #f "(x, (" said "))"
#define WK_VIEW_1(f, said, x, wk_s_, list)                                                                             \
    WK_SIZED_(wk_tensor *, wk_s_, list, WK_VIEW_TEXT_(f, said),                                                        \
              WK_GIVE_(wk_tensor *, f##_at(WK_HERE, x, wk_s_.at, wk_s_.count)))
#define WK_VIEW_WK2_(f, said, x, wk_s_, ...)                                                                           \
    WK_REFUSE_BEFORE_(wk_tensor *, WK_VIEW_TEXT_(f, said),                                                             \
                      #f ": write a list in parentheses, without options: " #f "(x, (2, 3))", __VA_ARGS__)

/* (a, b, ...): fewer operands than n are refused with their names, said. More are passed on, as the commas of a
 * compound literal separate arguments too; the compiler reports operands that are too many. */
#define WK_EXACT_NEW_(n, f, said, ...) WK_NEW_TENSOR_(WK_EXACT_(wk_tensor *, n, f, said, __VA_ARGS__))
#define WK_EXACT_(type, n, f, said, ...)                                                                               \
    WK_JOIN_(WK_EXACT_, WK_COUNT_(WK_JOIN_(WK_FEWER_##n##_, WK_COUNT_8_(__VA_ARGS__))))(type, f, said, __VA_ARGS__)
#define WK_EXACT_1(type, f, said, ...)    WK_PLAIN_(f, __VA_ARGS__)
#define WK_EXACT_WK2_(type, f, said, ...) WK_REFUSE_(type, #f ": the arguments are " #f "(" said ")")
#define WK_FEWER_2_1                      ,
#define WK_FEWER_3_1                      ,
#define WK_FEWER_3_2                      ,
#define WK_FEWER_4_1                      ,
#define WK_FEWER_4_2                      ,
#define WK_FEWER_4_3                      ,
#define WK_FEWER_5_1                      ,
#define WK_FEWER_5_2                      ,
#define WK_FEWER_5_3                      ,
#define WK_FEWER_5_4                      ,
#define WK_FEWER_6_1                      ,
#define WK_FEWER_6_2                      ,
#define WK_FEWER_6_3                      ,
#define WK_FEWER_6_4                      ,
#define WK_FEWER_6_5                      ,

/* (x, device); a text in place of the device is refused. */
#define WK_ON_DEVICE_NEW_(f, ...) WK_NEW_TENSOR_(WK_ON_DEVICE_(wk_tensor *, f, __VA_ARGS__))
#define WK_ON_DEVICE_(type, f, ...)                                                                                    \
    WK_JOIN_(WK_ON_DEVICE_, WK_COUNT_8_(__VA_ARGS__))(type, f, WK_JOIN_(wk_device_, __COUNTER__), __VA_ARGS__)
#define WK_ON_DEVICE_1(type, f, wk_d_, ...) WK_REFUSE_(type, #f ": the arguments are " #f "(x, device)")
#define WK_ON_DEVICE_2(type, f, wk_d_, x, device)                                                                      \
    WK_ONCE_(wk_device, wk_d_, device,                                                                                 \
             _Static_assert(_Generic(wk_d_, wk_device : 1, default : 0),                                               \
                            #f ": the device is a wk_device: wk_cuda(0), wk_device_parse(\"cuda\")");                  \
             WK_GIVE_(type, f##_at(WK_HERE, x,                                                                         \
                                   _Generic(wk_d_, wk_device                                                           \
                                            : wk_d_, default                                                           \
                                            : (wk_device){0}))))
/* More arguments are a device that is written out: (wk_device){.kind = WK_CUDA, .index = 1} has a comma. */
#define WK_ON_DEVICE_3(type, f, wk_d_, ...) f##_at(WK_HERE, __VA_ARGS__)
#define WK_ON_DEVICE_4                      WK_ON_DEVICE_3

/* f(operands) without lists: two numbers in parentheses would be a comma expression, which gcc accepts without a
 * warning. ({ .. }) is a block of the program. */
#define WK_PLAIN_(f, ...)  WK_JOIN_(WK_PLAIN_, WK_ANY_PAIR_(__VA_ARGS__, , , , , , , , ))(f, __VA_ARGS__)
#define WK_PLAIN_1(f, ...) f##_at(WK_HERE, __VA_ARGS__)
#define WK_PLAIN_WK2_(f, ...)                                                                                          \
    __extension__({                                                                                                    \
        _Static_assert(WK_AMONG_(WK_IS_BLOCK_, __VA_ARGS__),                                                           \
                       #f ": expected one value for each argument, not a list in parentheses");                        \
        f##_at(WK_HERE, __VA_ARGS__);                                                                                  \
    })
#define WK_ANY_PAIR_(wk1_, wk2_, wk3_, wk4_, wk5_, wk6_, wk7_, wk8_, ...)                                              \
    WK_COUNT_(0 WK_PAIR_COMMA_(wk1_) WK_PAIR_COMMA_(wk2_) WK_PAIR_COMMA_(wk3_) WK_PAIR_COMMA_(wk4_)                    \
                  WK_PAIR_COMMA_(wk5_) WK_PAIR_COMMA_(wk6_) WK_PAIR_COMMA_(wk7_) WK_PAIR_COMMA_(wk8_))
#define WK_PAIR_COMMA_(wk1_) WK_JOIN_(WK_PAIR_COMMA_, WK_IS_PAIR_(wk1_, ))
#define WK_PAIR_COMMA_1
#define WK_PAIR_COMMA_WK2_ ,
#define WK_IS_BLOCK_(...)  (__builtin_strncmp(WK_TEXT_(__VA_ARGS__, ), "({", 2) == 0)

/* ---- dtypes and guards ------------------------------------------------------------------------------------------- */

/* The dtype of a C type, by a pointer to it or to rows of it, as an array of arrays; 0 if there is none. */
#define WK_DTYPE_(p)                                                                                                   \
    _Generic((p), WK_C_TYPE_(float, WK_F32), WK_C_TYPE_(double, WK_F64), WK_C_TYPE_(long, WK_LONG_),                   \
             WK_C_TYPE_(long long, WK_I64), WK_C_TYPE_(int, WK_I32), WK_C_TYPE_(short, WK_I16),                        \
             WK_C_TYPE_(signed char, WK_I8), WK_C_TYPE_(unsigned char, WK_U8), WK_C_TYPE_(bool, WK_BOOL), default      \
             : (wk_dtype)0)
#define WK_C_TYPE_(type, dtype) const type * : dtype, type * : dtype, const type(*)[] : dtype, type(*)[] : dtype
#define WK_HAS_DTYPE_(f, p)                                                                                            \
    _Static_assert(WK_DTYPE_(p) != 0,                                                                                  \
                   f ": expected a pointer to float, double, bool, int8_t, int16_t, int32_t, int64_t or "              \
                     "uint8_t; for v[2][3][4] it is &v[0][0][0]")
#define WK_LONG_ (sizeof(long) == 8 ? WK_I64 : WK_I32)

/* A declaration that lasts to the end of the enclosing block. The type comes first: gcc takes attributes alone for a
 * statement, which ends an `if (c)`, and drops them from the declaration after it. */
#define WK_GUARD_(open)                                                                                                \
    wk_guard __attribute__((cleanup(wk_guard_close), unused)) WK_JOIN_(wk_guard_, __COUNTER__) = open

#else
#define WK_PLAIN_(f, ...)                f##_at(WK_HERE, __VA_ARGS__)
#define WK_EXACT_(type, n, f, said, ...) f##_at(WK_HERE, __VA_ARGS__)
#define WK_EXACT_NEW_(n, f, said, ...)   f##_at(WK_HERE, __VA_ARGS__)
#endif
#endif
