/* SPDX-License-Identifier: Apache-2.0 */
/* wick/call.h: every op by name, for bindings. wk_op_info and wk_op_parameter describe all ops, so that a binding
 * needs no change for a new one.
 *
 * wk_call ignores the thread's scopes, grad mode and error: arguments carry everything, and the caller owns all
 * results and the message of an error. */
#ifndef WICK_CALL_H
#define WICK_CALL_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wk_value_kind {
    WK_VALUE_NONE, /* an omitted optional argument */
    WK_VALUE_TENSOR,
    WK_VALUE_INT,
    WK_VALUE_FLOAT,
    WK_VALUE_BOOL,
    WK_VALUE_INTS,    /* int[] */
    WK_VALUE_TENSORS, /* Tensor[] */
    WK_VALUE_DTYPE,
    WK_VALUE_DEVICE,
    WK_VALUE_TEXT /* str */
} wk_value_kind;

/* One argument or result. */
typedef struct wk_value {
    int32_t kind;  /* wk_value_kind */
    int32_t count; /* of ints or tensors */
    union {
        wk_tensor *tensor;
        int64_t i; /* INT, BOOL, DTYPE */
        double f;
        const int64_t *ints;
        wk_tensor *const *tensors;
        wk_device device;
        const char *text; /* read only during the call */
    };
} wk_value;

/* wk_value_of_tensor(x) and the like: Return a value of a tensor or number; for WK_VALUE_ of macros.h. */
static inline wk_value wk_value_of_tensor(wk_tensor *x)
{
    wk_value value = {WK_VALUE_TENSOR, 0, {x}};
    return value;
}
static inline wk_value wk_value_of_int(int64_t x)
{
    wk_value value = {WK_VALUE_INT, 0, {NULL}};
    value.i = x;
    return value;
}
static inline wk_value wk_value_of_float(double x)
{
    wk_value value = {WK_VALUE_FLOAT, 0, {NULL}};
    value.f = x;
    return value;
}
static inline wk_value wk_value_itself(wk_value x)
{
    return x;
}

/* The description of an op. The strings are static. */
typedef struct wk_op {
    size_t size;          /* sizeof(wk_op), set by the caller */
    const char *name;     /* "softmax" */
    const char *schema;   /* "softmax(Tensor input, int dim) -> Tensor" */
    const char *category; /* "pointwise", "reduction", "view", ... */
    const char *doc;      /* one sentence */
    bool differentiable;
    bool data_dependent_shape;       /* the shape of a result depends on data, so the call waits for the device */
    uint32_t dtypes;                 /* bit 1 << dtype for each supported dtype; 0: any */
    int32_t parameters;              /* number of parameters: see wk_op_parameter */
    int32_t results;                 /* number of results; -1 if it depends on the arguments */
    const char *const *result_names; /* [results] if there are several: "values", "indices"; else NULL */
    bool in_place; /* wk_call also has NAME_, which writes its result into the first argument and returns it */
    bool view;     /* results may share the memory of the first argument */
    char reserved[6];
} wk_op;

/* The description of a parameter, named as in PyTorch. The strings are static. */
typedef struct wk_parameter {
    size_t size; /* sizeof(wk_parameter), set by the caller */
    const char *name;
    const char *doc;            /* "" if the name says it */
    int32_t kind;               /* wk_value_kind of an argument; INTS also accepts a single number */
    bool optional;              /* may be omitted, with default_value in its place */
    bool keyword_only;          /* passed by name in Python */
    bool accepts_scalar;        /* a tensor, or an int, float or bool; not for the first argument of NAME_ */
    bool mutated;               /* a tensor that the op writes in place and returns */
    wk_value default_value;     /* of kind WK_VALUE_NONE if the default is none, or there is no default */
    const char *const *choices; /* texts that a TEXT accepts, or INTS beside numbers; ended by NULL. Else NULL */
} wk_parameter;

/* wk_op_count(): Returns the number of ops. */
WK_RESULT_API int wk_op_count(void);
/* wk_op_info(index, info): Fills *info, whose size the caller sets, with op index, in alphabetical order.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if index is out of range */
WK_API wk_code wk_op_info_at(wk_site site, int index, wk_op *info);
/* wk_op_parameter(index, k, info): Fills *info, whose size the caller sets, with parameter k of op index. Arguments
 * of wk_call are in this order.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if index or k is out of range */
WK_API wk_code wk_op_parameter_at(wk_site site, int index, int k, wk_parameter *info);
/* wk_op_find(name): Returns the index of an op, that of add for "add_"; -1 if there is none. */
WK_RESULT_API int wk_op_find(const char *name);

/* The error of a wk_call. The caller owns it; it is valid until the caller uses it again. */
typedef struct wk_call_error {
    size_t size;  /* sizeof(wk_call_error), set by the caller */
    int32_t code; /* wk_code; WK_OK after a successful call */
    int32_t line; /* of the site; 0 if unknown */
    char file[256];
    char message[1024]; /* "add: shapes do not broadcast: ...", without the site; cut to fit */
    int32_t results;    /* number of results if there was too little room; else 0 */
    char reserved[4];
} wk_call_error;

typedef struct wk_call_options {
    size_t size;
    wk_by_name by_name;
    wk_device device;     /* default device of ops that create tensors */
    bool no_grad;         /* record no graph; default false */
    wk_site site;         /* the caller's file and line, for messages */
    wk_call_error *error; /* receives the error; may be NULL */
} wk_call_options;

/* wk_call(context, name, arguments, argument_count, results, count, options, message, message_size): Calls an op.
 * Arguments are in the order of its parameters; an omitted one is WK_VALUE_NONE or, at the end, absent. results has
 * room for *count values; *count receives their number, 0 on error. With too little room the call fails and
 * error->results says how many it needs. A gradient that does not exist is WK_VALUE_NONE.
 *
 * message receives "file:line: op: problem", cut to message_size and always terminated. The thread's own error is
 * neither read nor changed.
 *
 * A NULL context is a shared one with a lock, for calls from any thread. A callback that runs inside a call (a
 * hook, a release) uses another context for its own calls: a context of wk_context_new that is inside a call, and
 * the shared one in the thread that is inside it, are WK_ERR_STATE.
 * Ownership: the caller frees each result with wk_free, also one that is an argument, which is retained once more
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_call(wk_context *context, const char *name, const wk_value *arguments, int argument_count,
                       wk_value *results, int *count, const wk_call_options *options, char *message,
                       size_t message_size) __attribute__((warn_unused_result));
/* wk_context_new(), wk_context_free(context): Create and free a context for wk_call, which one thread at a time may
 * use. */
WK_RESULT_API wk_context *wk_context_new(void);
WK_API void wk_context_free(wk_context *context);

#define wk_op_info(...)      wk_op_info_at(WK_HERE, __VA_ARGS__)
#define wk_op_parameter(...) wk_op_parameter_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
