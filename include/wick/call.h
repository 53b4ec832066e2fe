/* SPDX-License-Identifier: Apache-2.0 */
/* wick/call.h: every op by name, for bindings. The table of ops is public: what wk_op_info says is all there is.
 *
 * The entry knows nothing of the thread's scopes and grad mode unless told: everything comes as an argument, every
 * result belongs to the caller, the message goes into the caller's buffer. */
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
    WK_VALUE_NONE, /* an optional argument that is not given */
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
        const char *text; /* read during the call only */
    };
} wk_value;

/* A value of a tensor or a number; what WK_VALUE_ of macros.h calls. */
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

/* What is known of an op. The texts live for ever. */
typedef struct wk_op {
    size_t size;        /* sizeof(wk_op), set by the caller */
    const char *name;   /* "softmax" */
    const char *schema; /* "softmax(Tensor input, int dim) -> Tensor" */
    const char *group;  /* "pointwise", "reduction", "view", ... */
    const char *doc;    /* one line */
    bool differentiable;
    bool waits;      /* the shape of the result may depend on data: then the call waits for the device */
    uint32_t dtypes; /* bit 1 << dtype for each dtype it takes; 0 = any */
} wk_op;

/* How many ops there are. */
WK_API int wk_op_count(void);
/* The i-th op, in alphabetical order, into *info, whose size must be set. WK_OK, or WK_ERR_ARGUMENT for an
 * index out of range. */
WK_API wk_code wk_op_info_at(wk_site site, int index, wk_op *info);
/* The index of an op by name, -1 if there is none. */
WK_API int wk_op_find(const char *name);

typedef struct wk_call_options {
    size_t size;
    wk_by_name by_name;
    wk_device device; /* default device for ops that make tensors */
    bool no_grad;
    wk_site site; /* the caller's file and line, for messages */
} wk_call_options;

/* Calls an op: arguments in the order of its schema, results (the caller's, see wk_free) into results[0..*count);
 * *count says how many there is room for and then how many there are. Returns WK_OK, or a code with the message in
 * `message` (cut to message_size, always terminated); the thread's own error is neither read nor touched. context NULL:
 * a shared one with a lock, so that calls may come from any thread. */
WK_API wk_code wk_call(wk_context *context, const char *name, const wk_value *arguments, int argument_count,
                       wk_value *results, int *count, const wk_call_options *options, char *message,
                       size_t message_size) __attribute__((warn_unused_result));
/* A context of the caller's own for wk_call; not for use by two threads at once. */
WK_API wk_context *wk_context_new(void);
WK_API void wk_context_free(wk_context *context);

#define wk_op_info(...) wk_op_info_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
