/* SPDX-License-Identifier: Apache-2.0 */
/* wick/core.h: call sites, objects, devices, dtypes, options, errors, host memory.
 *
 * Conventions of all headers
 *
 *     wk_name(...)                what programs write; often a macro that adds the call site
 *     wk_name_at(wk_site, ...)    the exported function behind it, for bindings; in C++ for calls with lists or options
 *     a trailing underscore       the call works in place; no other call does
 *     NULL in, NULL out           a call that gets NULL returns NULL and keeps the first error: check a chain once */
#ifndef WICK_CORE_H
#define WICK_CORE_H

/* WK_WARN_UNUSED: 1 makes compilers warn if the result of a call that only returns a result is discarded, as in
 * wk_sub(w, g) written for wk_sub_(w, g). A cast to void discards it on purpose: (void)wk_forward(net, x). Default 1 in
 * optimised builds, as for functions of the C library, else 0. */
#ifndef WK_WARN_UNUSED
#ifdef __OPTIMIZE__
#define WK_WARN_UNUSED 1
#else
#define WK_WARN_UNUSED 0
#endif
#endif

/* A macro whose result is a new object ends in a call of a function whose result must be used, by one of these names.
 * They stand before the pragma, as gcc does not warn of a token that is spelled in a system header. clang shows the
 * program's line. gcc shows the function and the macro, and with -ftrack-macro-expansion=0 the line. */
#if WK_WARN_UNUSED && !defined __cplusplus
#define WK_NEW_TENSOR_   wk_unused_tensor_   /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_TENSORS_  wk_unused_tensors_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_MODULE_   wk_unused_module_   /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_OPTIM_    wk_unused_optim_    /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_DATASET_  wk_unused_dataset_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_LOADER_   wk_unused_loader_   /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_HISTORY_  wk_unused_history_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_EVENT_    wk_unused_event_    /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_SCHEDULE_ wk_unused_schedule_ /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_PROGRESS_ wk_unused_progress_ /* -ftrack-macro-expansion=0 shows the line */
#else
#define WK_NEW_TENSOR_
#define WK_NEW_TENSORS_
#define WK_NEW_MODULE_
#define WK_NEW_OPTIM_
#define WK_NEW_DATASET_
#define WK_NEW_LOADER_
#define WK_NEW_HISTORY_
#define WK_NEW_EVENT_
#define WK_NEW_SCHEDULE_
#define WK_NEW_PROGRESS_
#endif

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number for a tensor, a tensor for a number or a list of another kind is invalid C, which recent compilers refuse.
 * These pragmas make older ones refuse it, from here to the end of the file. A program with such code of its own
 * includes this header between #pragma GCC diagnostic push and pop. */
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wint-conversion"
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#ifdef __clang__
/* A lost const in the program stays a warning, in clang even with -Werror, as a pragma cannot restore the setting of
 * the command line. `ignored` comes first, as `warning` alone leaves an error an error. */
#pragma clang diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"
#pragma clang diagnostic warning "-Wincompatible-pointer-types-discards-qualifiers"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WK_API __attribute__((visibility("default")))
/* An exported function that does nothing but return a result; see WK_WARN_UNUSED. */
#if !WK_WARN_UNUSED
#define WK_RESULT_API WK_API
#elif defined __clang__
#define WK_RESULT_API __attribute__((warn_unused_result)) WK_API
#elif defined __cplusplus
#define WK_RESULT_API [[nodiscard]] WK_API
#elif __GNUC__ >= 11
#define WK_RESULT_API [[nodiscard("the call only returns a result; calls in place end in an underscore")]] WK_API
#else
#define WK_RESULT_API WK_API
#endif

#define WK_VERSION_MAJOR 0
#define WK_VERSION_MINOR 1
#define WK_VERSION_PATCH 0

/* wk_version(): Returns the version of the running library, "0.1.0". The string is static. */
WK_RESULT_API const char *wk_version(void);

/* ---- call sites -------------------------------------------------------------------------------------------------- */

/* The place of a call in the program. file must be static, as a literal is; a binding passes its own file and line.
 * A NULL file means unknown. */
typedef struct wk_site {
    const char *file;
    int32_t line;
} wk_site;

#ifdef __cplusplus
#define WK_HERE (wk_site{__FILE__, __LINE__})
#else
#define WK_HERE ((wk_site){__FILE__, __LINE__})
#endif

/* ---- objects ----------------------------------------------------------------------------------------------------- */

typedef struct wk_tensor wk_tensor;     /* an array on one device */
typedef struct wk_tensors wk_tensors;   /* a list of named tensors */
typedef struct wk_module wk_module;     /* a layer or network: parameters, buffers, a forward function */
typedef struct wk_optim wk_optim;       /* an optimiser */
typedef struct wk_schedule wk_schedule; /* learning rates of an optimiser over the steps of a training */
typedef struct wk_dataset wk_dataset;   /* samples in host memory */
typedef struct wk_loader wk_loader;     /* batches of a dataset */
typedef struct wk_history wk_history;   /* scalars collected on the device and read in bulk */
typedef struct wk_progress wk_progress; /* a progress bar */
typedef struct wk_event wk_event;       /* a point in the work of a device */
typedef struct wk_function wk_function; /* one call of a custom function with its own gradient */
typedef struct wk_context wk_context;   /* the state of one thread: scopes, pending work, random stream, error */

#if WK_WARN_UNUSED && !defined __cplusplus
#define WK_UNUSED_(name)                                                                                               \
    WK_RESULT_API static inline wk_##name *wk_unused_##name##_(wk_##name *object)                                      \
    {                                                                                                                  \
        return object;                                                                                                 \
    }
WK_UNUSED_(tensor)
WK_UNUSED_(tensors)
WK_UNUSED_(module)
WK_UNUSED_(optim)
WK_UNUSED_(dataset)
WK_UNUSED_(loader)
WK_UNUSED_(history)
WK_UNUSED_(event)
WK_UNUSED_(schedule)
WK_UNUSED_(progress)
#endif

/* ---- devices ----------------------------------------------------------------------------------------------------- */

enum { WK_CPU = 1, WK_CUDA, WK_OPENCL, WK_GPU, WK_NULL };

/* A device. Creating the value accesses no hardware. All zero is the default device; kind -1 is a name that could
 * not be parsed, with which every call fails. */
typedef struct wk_device {
    int16_t kind;  /* WK_CPU, WK_CUDA, ... */
    int16_t index; /* number among those of that kind */
    int32_t task;  /* rank of the process that has it; 0 for this process */
} wk_device;

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

/* Element types. Complex and 8-bit floating types have numbers so that files and bindings can name them; a call
 * that gets one fails and says so. 0 in an option is the default: f32, or the dtype of the operands. */
typedef enum wk_dtype {
    WK_F32 = 1,
    WK_F64,
    WK_F16,
    WK_BF16,
    WK_I8,
    WK_U8,
    WK_I16,
    WK_I32,
    WK_I64,
    WK_BOOL,
    WK_DTYPE_COUNT, /* one past the last usable dtype */
    WK_C64 = 32,
    WK_C128,
    WK_F8_E4M3,
    WK_F8_E5M2
} wk_dtype;

/* wk_dtype_str(dtype): Returns the name, "f32" or "bool"; "?" if dtype is no dtype. The string is static. */
WK_RESULT_API const char *wk_dtype_str(wk_dtype dtype);
/* wk_dtype_size(dtype): Returns the bytes of one element; 0 if dtype is no dtype. */
WK_RESULT_API size_t wk_dtype_size(wk_dtype dtype);

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Options follow the other arguments by name: wk_zeros((2, 3), .dtype = WK_F64). An option that is not written has
 * its default; a written value counts, also .weight_decay = 0 where the default is another number. Every option
 * needs its name: in .lr = 0.1, 0.9 the number 0.9 initialises the next member, as in any initialiser of C, and no
 * compiler warns.
 *
 * Bindings and C++ fill the struct behind the macro. There 0, false and NULL are the default; WK_EXPLICIT_ZERO is
 * the number 0 (double) where the default is another number. A magnitude below 1e-290 counts as 0.
 *
 * The first member of a struct is its size, so that programs and libraries of different versions work together.
 * Members that a shorter struct of options lacks have their default. A longer one is valid if the members unknown
 * to this version are 0, else WK_ERR_UNSUPPORTED; size 0 is WK_ERR_ARGUMENT. The library fills a struct of results
 * up to its size, with 0 for members unknown to it.
 *
 * Structs of options have no padding at their end, which compilers need not set to 0: the member reserved fills it
 * and stays 0. */
#define WK_EXPLICIT_ZERO 1e-300
/* The second member of a struct of options, always NULL. A struct that is filled without member names has a value
 * here, and the compiler reports it with this name. An unnamed value behind a named option is not detected. */
typedef const struct wk_options_are_written_by_name *wk_by_name;

/* ---- sizes that may differ by dimension -------------------------------------------------------------------------- */

/* The sizes of a kernel, a stride or a padding: one number for all dimensions, or a number for each, the last dimension
 * last. A kernel size is written 5 or (5, 3); an option is .stride = 2, .stride = WK_PAIR(2, 1) or
 * WK_TRIPLE(1, 2, 2). .padding of a convolution may also be WK_SAME, which keeps sizes, or WK_VALID, which is 0.
 *
 * As an option, the number 0 means the default; a 0 in a pair or triple is 0. Numbers of a pair are within +-2^29,
 * those of a triple within +-2^19. Bindings and C++ call wk_pair, wk_triple or wk_sizes_of, whose values encode more
 * than one number; a single number is itself. */
typedef int64_t wk_sizes;
#define WK_SAME  0x6100000000000000
#define WK_VALID 0x6200000000000000

/* wk_sizes_of(sizes, count): Returns the value of one to three numbers. An invalid count, or a number out of range, is
 * an error of the call that receives the value. */
static inline wk_sizes wk_sizes_of(const int64_t *sizes, int count)
{
    const int bits = count == 2 ? 30 : 20;
    uint64_t value = count == 2 ? 4 : 5;
    if (count == 1) return sizes[0] != 0 ? sizes[0] : (wk_sizes)0x6300000000000000; /* a written 0 */
    if (count < 1 || count > 3) return (wk_sizes)(0x6400000000000000 | (count & 0xffff));
    value <<= 60 - bits * count;
    for (int d = 0; d < count; d++) {
        const int64_t limit = (int64_t)1 << (bits - 1);
        if (sizes[d] < -limit || sizes[d] >= limit) return (wk_sizes)0x6500000000000000; /* out of range */
        value = value << bits | ((uint64_t)sizes[d] & ((((uint64_t)1) << bits) - 1));
    }
    return (wk_sizes)value;
}
static inline wk_sizes wk_pair(int64_t first, int64_t second)
{
    const int64_t sizes[2] = {first, second};
    return wk_sizes_of(sizes, 2);
}
static inline wk_sizes wk_triple(int64_t first, int64_t second, int64_t third)
{
    const int64_t sizes[3] = {first, second, third};
    return wk_sizes_of(sizes, 3);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* The reason for a failure. Functions that report a status return WK_OK (0) or one of these codes. */
typedef enum wk_code {
    WK_OK = 0,
    WK_ERR_ARGUMENT,    /* an invalid value */
    WK_ERR_SHAPE,       /* shapes that do not match */
    WK_ERR_DTYPE,       /* a dtype that the call does not support */
    WK_ERR_DEVICE,      /* a device that does not exist, or operands on different devices */
    WK_ERR_INDEX,       /* an index out of range */
    WK_ERR_MEMORY,      /* out of memory, or beyond the limit of a device */
    WK_ERR_STATE,       /* the call is not valid now: no graph, a closed scope */
    WK_ERR_IO,          /* the system reported an error for a file */
    WK_ERR_FORMAT,      /* an invalid file */
    WK_ERR_DEVICE_LOST, /* a device stopped answering */
    WK_ERR_UNSUPPORTED, /* valid, but this build or device does not support it */
    WK_ERR_INTERNAL,    /* a bug in the library: please report it */
    WK_ERR_TIMEOUT      /* another process of the job ended, is late or made a different call (dist.h) */
} wk_code;

/* wk_error(): Returns the first error of this thread since the last wk_clear_error, or NULL: "file:line: op:
 * problem; fix". It neither runs recorded work nor waits, so work that is pending may still fail; wk_sync runs it
 * and waits. A result that only a scope owns is computed when it is read, so its errors appear then.
 * Lifetime:  the string is valid until wk_clear_error */
WK_RESULT_API const char *wk_error(void);
/* wk_error_code(): Returns the code of that error, WK_OK if there is none. */
WK_RESULT_API wk_code wk_error_code(void);
/* wk_clear_error(): Clears the error of this thread. */
WK_API void wk_clear_error(void);
/* wk_report_error(out): Prints the error of this thread and a newline to out (NULL: stderr), if there is one. Call
 * wk_sync first if the last results were not read, printed or saved.
 * Returns:   an exit status: 0 without an error, 75 (EX_TEMPFAIL: the program can be started again) for
 *            WK_ERR_TIMEOUT, else 1 */
WK_API int wk_report_error(FILE *out);
/* wk_set_error_handler(handler, user): Calls handler(user, code, text) once for each first error of a thread; NULL
 * removes the handler, which may log, abort or longjmp. Errors of wk_call are reported to its caller alone.
 *
 * The library holds no lock when it calls the handler, as a rule at the end of the call that failed. An error in a
 * callback of the program is reported at once in forward, backward and hooks; destroy, release, describe, on_move
 * and on_train first run to their end, and the handler is called at the end of the library's call or at the beginning
 * of the thread's next one. If a callback clears its error, the handler is called with that error as code and text,
 * unless memory was exhausted; wk_error() returns NULL then.
 *
 * A handler that calls longjmp leaves the scope that was innermost before setjmp, so there must be one: closing it
 * drops the work that the failed call had begun, and restores its modes. The call returns the code of the error
 * that is pending at its end: clear the error after the call, not in the handler.
 * Lifetime:  text is valid until the handler returns, or until its longjmp has left that scope */
typedef void wk_error_handler(void *user, wk_code code, const char *text);
WK_API void wk_set_error_handler(wk_error_handler *handler, void *user);

/* ---- memory of the host ------------------------------------------------------------------------------------------ */

/* wk_set_allocator(resize, user): Replaces malloc and free for all host memory of the library except tensor data.
 * resize works like realloc; size 0 frees the block. Call it before any other function.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_STATE if the library has already allocated memory */
typedef void *wk_realloc_fn(void *user, void *block, size_t size);
WK_API wk_code wk_set_allocator_at(wk_site site, wk_realloc_fn *resize, void *user);

#define wk_set_allocator(resize, user) wk_set_allocator_at(WK_HERE, resize, user)

#ifdef __cplusplus
}
#endif
#endif
