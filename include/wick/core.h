/* SPDX-License-Identifier: Apache-2.0 */
/* wick/core.h: what every other header stands on: call sites, objects, devices, dtypes, options, errors,
 * the host's memory.
 *
 * Conventions of all headers
 *   wk_name(...)                 what you write; often a macro that adds the call site
 *   wk_name_at(wk_site, ...)     the exported function behind it, for bindings, and in C++ for calls with
 *                                lists or options
 *   a trailing underscore        works in place, and nothing else does
 *   NULL in, NULL out            an operation that gets NULL returns NULL and keeps the first error: check a chain once
 */
#ifndef WICK_CORE_H
#define WICK_CORE_H

/* WK_WARN_UNUSED 1: compilers warn if the result of a call is discarded that does nothing but return one, as wk_sub(w, g);
 * in place of wk_sub_(w, g). A cast to void discards it on purpose: (void)wk_forward(net, x). Default 1 in optimised
 * builds, as for the C library's functions, else 0. */
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
#define WK_NEW_TENSOR_  wk_unused_tensor_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_TENSORS_ wk_unused_tensors_ /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_MODULE_  wk_unused_module_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_OPTIM_   wk_unused_optim_   /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_DATASET_ wk_unused_dataset_ /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_LOADER_  wk_unused_loader_  /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_HISTORY_ wk_unused_history_ /* -ftrack-macro-expansion=0 shows the line */
#define WK_NEW_EVENT_   wk_unused_event_   /* -ftrack-macro-expansion=0 shows the line */
#else
#define WK_NEW_TENSOR_
#define WK_NEW_TENSORS_
#define WK_NEW_MODULE_
#define WK_NEW_OPTIM_
#define WK_NEW_DATASET_
#define WK_NEW_LOADER_
#define WK_NEW_HISTORY_
#define WK_NEW_EVENT_
#endif

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number where a tensor must be, a tensor for a number, a list of another kind: C has never allowed these, and
 * compilers of today refuse them by themselves. From here on older ones do, in all that follows; a program that has
 * such code of its own includes this between #pragma GCC diagnostic push and pop. */
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wint-conversion"
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#ifdef __clang__
/* The program's own mistakes with const stay warnings, in clang even with -Werror, as there is no way back to what the
 * command line says. `ignored` first: `warning` by itself leaves what is an error one. */
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

/* The version of the library that is running, "0.1.0". The text lives for ever. */
WK_RESULT_API const char *wk_version(void);

/* ---- call sites -------------------------------------------------------------------------------------------------- */

/* Where a call stands in the program. `file` must live for ever (a literal); a binding passes its own file and line.
 * A NULL file means: not known. */
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

typedef struct wk_tensor wk_tensor;     /* an array of numbers on a device */
typedef struct wk_tensors wk_tensors;   /* a list of tensors with names */
typedef struct wk_module wk_module;     /* a layer or network: parameters, buffers, a forward function */
typedef struct wk_optim wk_optim;       /* an optimiser */
typedef struct wk_dataset wk_dataset;   /* samples in host memory */
typedef struct wk_loader wk_loader;     /* batches of a dataset */
typedef struct wk_history wk_history;   /* figures gathered on the device and read in bulk */
typedef struct wk_event wk_event;       /* a moment in the work of a device */
typedef struct wk_function wk_function; /* one call of a function with its own gradient */
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
#endif

/* ---- devices ----------------------------------------------------------------------------------------------------- */

enum { WK_CPU = 1, WK_CUDA, WK_OPENCL, WK_GPU, WK_NULL };

/* A device is a value; making one touches no hardware. All zero: not given, the default device. kind -1: the name could
 * not be parsed; every call that gets it fails. */
typedef struct wk_device {
    int16_t kind;  /* WK_CPU, WK_CUDA, ... */
    int16_t index; /* which one of that kind */
    int32_t task;  /* rank of the process it belongs to, 0 for this one */
} wk_device;

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

/* Element types. The complex and 8-bit float kinds have numbers so that files and bindings can name them; using one is
 * an error that says so. 0 in an option means: the default (f32, or what the operands say). */
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
    WK_DTYPE_COUNT, /* one past the last that can be used */
    WK_C64 = 32,
    WK_C128,
    WK_F8_E4M3,
    WK_F8_E5M2
} wk_dtype;

/* "f32", "bool", ...; "?" for a number that is no dtype. The text lives for ever. */
WK_RESULT_API const char *wk_dtype_str(wk_dtype dtype);
/* Bytes of one element; 0 for a number that is no dtype. */
WK_RESULT_API size_t wk_dtype_size(wk_dtype dtype);

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Options are written by name behind the other arguments: wk_zeros((2, 3), .dtype = WK_F64). What is left out has its
 * default; what is written counts, .weight_decay = 0 too where the default is another number. Each needs its name:
 * behind .lr = 0.1 a bare 0.9 goes to the member that follows, as in any initialiser of C, and no compiler objects.
 *
 * Behind the macros stands a struct, which a binding or a program in C++ fills by itself. There 0, false and NULL mean
 * the default, and WK_EXPLICIT_ZERO is a true 0 for a number (double) whose default is another one; whatever is nearer to 0
 * than 1e-290 counts as 0.
 *
 * A struct begins with its size, so that programs and libraries of different versions get on. What a shorter struct of
 * options does not have has its default; a longer one is fine while all that this version does not know of it is 0,
 * else WK_ERR_UNSUPPORTED; without a size it is WK_ERR_ARGUMENT. Of a struct that the library fills it fills as much as
 * the size says, with 0 what it does not know.
 *
 * No struct of options ends in padding, which compilers need not set to 0: `reserved` stands there, and stays 0. */
#define WK_EXPLICIT_ZERO 1e-300
/* The second member of a struct of options, always NULL: a struct that is filled without names has a value here, and
 * the compiler objects with this name. Behind an option with a name C takes a value without one for the member that
 * follows: only the first is looked at. */
typedef const struct wk_options_are_written_by_name *wk_by_name;

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Why a call failed. Status functions return WK_OK (0) or one of these. */
typedef enum wk_code {
    WK_OK = 0,
    WK_ERR_ARGUMENT,    /* a value that the call cannot take */
    WK_ERR_SHAPE,       /* shapes that do not fit */
    WK_ERR_DTYPE,       /* a dtype that the call cannot take */
    WK_ERR_DEVICE,      /* a device that is not there, or operands on different devices */
    WK_ERR_INDEX,       /* an index out of range */
    WK_ERR_MEMORY,      /* out of memory, or past a device's limit */
    WK_ERR_STATE,       /* right call, wrong moment: no graph, a closed scope */
    WK_ERR_IO,          /* the system refused a file */
    WK_ERR_FORMAT,      /* a file that is not what it claims */
    WK_ERR_DEVICE_LOST, /* a device stopped answering */
    WK_ERR_UNSUPPORTED, /* legal, but this build or device cannot do it */
    WK_ERR_INTERNAL,    /* a fault of the library: please report it */
    WK_ERR_TIMEOUT      /* another process of the job is gone, late or does something else (dist.h) */
} wk_code;

/* The first error of this thread since the last wk_clear_error, or NULL. "file:line: op: what is wrong. How
 * to mend it". What has been run by now is known; it neither flushes nor waits, so that pending work may still
 * fail: wk_sync runs it, waits and then knows all but what nobody has asked for (a result that only a scope
 * owns is computed when it is read). The text lives until wk_clear_error. */
WK_RESULT_API const char *wk_error(void);
/* The code of that error, WK_OK when there is none. */
WK_RESULT_API wk_code wk_error_code(void);
/* Forgets the error of this thread. */
WK_API void wk_clear_error(void);
/* Prints the error to `out` (NULL: stderr) with a newline, if there is one. Returns 1 then, else 0: the exit
 * status of a program. Of WK_ERR_TIMEOUT it is 75 (EX_TEMPFAIL): the program can be started again. Where the last work
 * was not read, printed or saved, call wk_sync before. */
WK_API int wk_report_error(FILE *out);
/* Called once for each first error of a thread; may log, abort or longjmp. NULL removes it. What wk_call refuses is its
 * caller's alone. After a longjmp, leave the scope that was innermost before the setjmp, so there must be one: its end
 * drops what the call that failed had begun, and the modes that it had set. The call returns the code of the error that
 * is pending when it ends: clear it after the call, not in the handler.
 *
 * The library calls the handler with no lock and nothing else held, as a rule at the end of the call that failed. When
 * a function of the program's fails that the library calls, the handler is called at once in forward, backward and
 * hooks. A destroy, a release, .on_move and .on_train (wk_module_to, wk_module_train) first run to their end, and the
 * handler is called at the end of the library's call, or at the beginning of the thread's next one. If such a function
 * clears its error, the handler is called all the same (unless memory was short), with that error as `code` and `text`,
 * which wk_error() does not give any more. `text` lives until the handler returns or its longjmp has left that scope.
 */
typedef void wk_error_handler(void *user, wk_code code, const char *text);
WK_API void wk_set_error_handler(wk_error_handler *handler, void *user);

/* ---- memory of the host ------------------------------------------------------------------------------------------ */

/* Replaces malloc and free for everything that the library takes on the host except tensor data. `resize` works like
 * realloc; size 0 frees. Call it before anything else; WK_ERR_STATE when the library has already allocated. */
typedef void *wk_realloc_fn(void *user, void *block, size_t size);
WK_API wk_code wk_set_allocator_at(wk_site site, wk_realloc_fn *resize, void *user);

#define wk_set_allocator(resize, user) wk_set_allocator_at(WK_HERE, resize, user)

#ifdef __cplusplus
}
#endif
#endif
