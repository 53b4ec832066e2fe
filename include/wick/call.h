/* SPDX-License-Identifier: Apache-2.0 */
/* wick/call.h: every op by name, for bindings. The table of ops is public: wk_op_info and wk_op_parameter say all that
 * a binding has to know of an op, and what is added to the table needs no change in it.
 *
 * The entry knows nothing of the thread's scopes and grad mode unless told: everything comes as an argument, every
 * result belongs to the caller, and so does what is said of an error. */
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
    size_t size;          /* sizeof(wk_op), set by the caller */
    const char *name;     /* "softmax" */
    const char *schema;   /* "softmax(Tensor input, int dim) -> Tensor" */
    const char *category; /* "pointwise", "reduction", "view", ... */
    const char *doc;      /* one line */
    bool differentiable;
    bool data_dependent_shape; /* the shape of the result may depend on data: then the call waits for the device */
    uint32_t dtypes;           /* bit 1 << dtype for each dtype it takes; 0 = any */
    int32_t parameters;        /* how many: see wk_op_parameter */
    int32_t results;           /* how many; -1: as many as the arguments say, up to INT32_MAX */
    const char *const *result_names; /* [results], where it has several: "values", "indices"; else NULL */
    bool in_place; /* wk_call knows NAME_, too, which writes its result over the first argument and gives that */
    bool view;     /* the results may share the memory of the first argument */
    char reserved[6];
} wk_op;

/* A parameter of an op, named as in PyTorch. The texts live for ever. */
typedef struct wk_parameter {
    size_t size; /* sizeof(wk_parameter), set by the caller */
    const char *name;
    const char *doc;            /* "" where the name says it */
    int32_t kind;               /* wk_value_kind: what an argument is. For INTS a single number does, too */
    bool optional;              /* it may be left out, and is default_value then */
    bool keyword_only;          /* in Python given by name */
    bool accepts_scalar;        /* of a tensor: an int, a float or a bool does, too; not for what NAME_ writes over */
    bool mutated;               /* a tensor that the op writes over, and gives */
    wk_value default_value;     /* of kind WK_VALUE_NONE, where "none" is the default, or there is no default */
    const char *const *choices; /* of a TEXT: what it may be, up to NULL; else NULL */
} wk_parameter;

/* How many ops there are. */
WK_RESULT_API int wk_op_count(void);
/* The i-th op, in alphabetical order, into *info, whose size must be set. WK_OK, or WK_ERR_ARGUMENT for an
 * index out of range. */
WK_API wk_code wk_op_info_at(wk_site site, int index, wk_op *info);
/* Parameter k of the i-th op into *info, whose size must be set: the arguments of wk_call stand in this order. WK_OK,
 * or WK_ERR_ARGUMENT for an index out of range. */
WK_API wk_code wk_op_parameter_at(wk_site site, int index, int k, wk_parameter *info);
/* The index of an op by name, -1 if there is none; of "add_" that of add, which has it. */
WK_RESULT_API int wk_op_find(const char *name);

/* What is said of a call that failed. The caller's own: it stays until the caller uses it again. */
typedef struct wk_call_error {
    size_t size;  /* sizeof(wk_call_error), set by the caller */
    int32_t code; /* wk_code; WK_OK after a call that went well */
    int32_t line; /* of the site; 0: not known */
    char file[256];
    char message[1024]; /* "add: shapes do not broadcast: ...", without the site; cut to fit */
    int32_t results;    /* what the call takes room for, where there was too little; else 0 */
    char reserved[4];
} wk_call_error;

typedef struct wk_call_options {
    size_t size;
    wk_by_name by_name;
    wk_device device; /* default device for ops that make tensors */
    bool no_grad;
    wk_site site;         /* the caller's file and line, for messages */
    wk_call_error *error; /* filled in, where it is not NULL */
} wk_call_options;

/* Calls an op: arguments in the order of its parameters, those left out WK_VALUE_NONE or, at the end, not there; the
 * results into results[0..*count). *count says how many there is room for and then how many there are: none where the
 * call fails. With too little room it does, and error->results says how much it takes. Each result is the caller's, who
 * frees it with wk_free, also one that is an argument: what NAME_ writes over is held once more. A gradient that is
 * not there is WK_VALUE_NONE.
 *
 * Returns WK_OK, or a code with the message, and the site before it, in `message` (cut to message_size, always
 * terminated); the thread's own error is neither read nor touched. context NULL: a shared one with a lock, so that
 * calls may come from any thread.
 *
 * Code that a call runs (a hook, a release) takes another context for calls of its own: one of wk_context_new that is
 * amidst a call, and the shared one by the thread that is in it, are WK_ERR_STATE. */
WK_API wk_code wk_call(wk_context *context, const char *name, const wk_value *arguments, int argument_count,
                       wk_value *results, int *count, const wk_call_options *options, char *message,
                       size_t message_size) __attribute__((warn_unused_result));
/* A context of the caller's own for wk_call; not for use by two threads at once. */
WK_RESULT_API wk_context *wk_context_new(void);
WK_API void wk_context_free(wk_context *context);

#define wk_op_info(...)      wk_op_info_at(WK_HERE, __VA_ARGS__)
#define wk_op_parameter(...) wk_op_parameter_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
