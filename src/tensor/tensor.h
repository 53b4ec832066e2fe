/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a tensor handle: how it sees a storage, and its place in the graph of gradients. */
#ifndef WICK_TENSOR_TENSOR_H
#define WICK_TENSOR_TENSOR_H

#include "base/dtype.h"
#include "ir/ir.h"
#include "storage.h"

struct wk__node;
struct wk__leaf;

/* A text about a tensor that the program asked for while no scope was open. */
typedef struct wk__attached_text wk__attached_text;
struct wk__attached_text {
    wk__attached_text *before;
    char *text;
};

typedef struct wk__body {
    wk__storage *storage;
    int64_t offset; /* in elements, from the start of the storage */
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    uint8_t ndim, dtype;
    bool requires_grad;    /* a leaf that wants a gradient, or the result of a node */
    bool parameter;        /* owned by a module */
    bool known_dense;      /* row-major without gaps, known from its making; a view may lie so without it */
    bool is_view;          /* shares the storage with the tensor it was made from */
    int16_t output;        /* which output of `node` */
    struct wk__node *node; /* the function that made it; NULL for leaves */
    struct wk__leaf *leaf; /* gradient and hooks of a leaf, made when first needed */
    _Atomic(wk__attached_text *) texts; /* texts that live as long as the tensor; any thread may add one */
    wk__alias_set *family; /* of a detached tensor and its views; NULL: the storage's. Set before others see the body */
    uint32_t graph_version; /* history of the family when `node` was right; see autograd/view_grad.h */
} wk__body;
_Static_assert(sizeof(wk__body) <= 256, "fits its slab slot");

struct wk_tensor {
    wk__handle handle;
};

extern const wk__handle_type wk__tensor_kind;

static inline wk__body *wk__body_of(const wk_tensor *tensor)
{
    return tensor->handle.body;
}
/* A view's, a base's; a detached tensor without views has none yet, though it gives the storage's. */
static inline wk__alias_set *wk__alias_set_of(const wk__body *body)
{
    return body->family ? body->family : &body->storage->alias_set;
}
static inline bool wk__is_tensor(const wk_tensor *tensor)
{
    return wk__handle_alive(tensor, &wk__tensor_kind);
}
/* Records an error ("op: role is ...") unless it is a live tensor. NULL with an error pending is passed over
 * silently. */
static inline bool wk__check_tensor(const wk_tensor *tensor, wk_site site, const char *op, const char *role)
{
    return wk__handle_check(tensor, &wk__tensor_kind, site, op, role);
}

/* A new tensor over a new pending value: contiguous, no history, owned like every new handle. NULL when memory is
 * short. The record that computes it must follow. What the device could never store is refused (`op` is the name that
 * the message says): in every mode, though fused it might not be stored. */
wk_tensor *wk__tensor_pending(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                              wk_site site, const char *op);
/* With the size in bytes at hand, and the strides, which are dense, or NULL. Nothing is refused where op is NULL. */
wk_tensor *wk__tensor_pending_of(wk_context *context, wk__device *device, wk_dtype dtype, int ndim,
                                 const int64_t *shape, const int64_t *stride, int64_t bytes, wk_site site,
                                 const char *op);
/* A pending value of no memory yet, for memory that is not the device's own. */
wk_tensor *wk__tensor_borrowing(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                                wk_site site);
/* A view of `base` with this geometry. */
wk_tensor *wk__tensor_view(wk_context *context, const wk_tensor *base, int64_t offset, int ndim, const int64_t *shape,
                           const int64_t *stride);
/* Another handle for what `like` sees, its place in the graph included (counted). */
wk_tensor *wk__tensor_alias(wk_context *context, const wk__body *like);
/* The same with a family of its own: what is written in place through others of the storage brings it no history. */
wk_tensor *wk__tensor_detached_alias(wk_context *context, const wk__body *like);
/* What x holds now, in a storage of its own: nothing is copied, values never change. With x's place in the graph. */
wk_tensor *wk__tensor_snapshot(wk_context *context, const wk_tensor *x);

/* A view of what is about to die becomes the base of its family. */
void wk__tensor_promote_to_base(wk_tensor *x);

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

int64_t wk__numel(int ndim, const int64_t *shape);
static inline int64_t wk__body_numel(const wk__body *body)
{
    return wk__numel(body->ndim, body->shape);
}
static inline bool wk__same_shape(int na, const int64_t *a, int nb, const int64_t *b)
{
    if (na != nb) return false;
    for (int d = 0; d < na; d++)
        if (a[d] != b[d]) return false;
    return true;
}
static inline bool wk__same_sizes(const wk__body *a, const wk__body *b)
{
    return wk__same_shape(a->ndim, a->shape, b->ndim, b->shape);
}
void wk__strides_dense(int ndim, const int64_t *shape, int64_t *stride);
bool wk__body_contiguous(const wk__body *body);
/* Bytes of a dense tensor; false on overflow of 64 bits. */
bool wk__dense_bytes(int ndim, const int64_t *shape, wk_dtype dtype, int64_t *bytes);
/* The broadcast of two shapes; false if they do not fit. out may be one of them. */
bool wk__broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);
/* Strides of a body seen in a broader shape: 0 where it is broadcast. */
void wk__broadcast_strides(const wk__body *body, int ndim, const int64_t *shape, int64_t *stride);
/* Do two elements of the view share memory? (Strides are never negative.) */
bool wk__body_overlaps(const wk__body *body);
/* A dimension of an op's argument: -ndim..ndim-1 -> 0..ndim-1; false if out of range (ndim 0 counts as 1). */
bool wk__wrap_dim(int ndim, int64_t dim, int *out);

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

static inline bool wk__is_float(wk_dtype dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_F16 || dtype == WK_BF16;
}
/* The dtype that two operands meet in (PyTorch's torch.promote_types). */
wk_dtype wk__promote_types(wk_dtype a, wk_dtype b);
/* How an operand takes part in promotion: tensors with dimensions outweigh 0-d tensors, those outweigh plain numbers,
 * unless their class (bool < integer < float) is higher. */
typedef enum wk__promotion_priority {
    WK__PRIORITY_NUMBER,
    WK__PRIORITY_SCALAR,
    WK__PRIORITY_TENSOR,
    WK__PRIORITY_COUNT
} wk__promotion_priority;
typedef struct wk__promotion {
    uint8_t of[WK__PRIORITY_COUNT]; /* dtype met so far per weight, 0 = none */
} wk__promotion;
void wk__promotion_add(wk__promotion *p, wk_dtype dtype, wk__promotion_priority weight);
wk_dtype wk__promotion_result(const wk__promotion *p);

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* What a call's `device` names, opened; NULL with the error recorded. Kind 0 is the CPU. */
wk__device *wk__device_open(wk_site site, const char *call, wk_device device);

/* ---- in messages ------------------------------------------------------------------------------------------------- */

/* "f32[2,3]", and with its device "f32[2,3] on cpu". */
void wk__text_tensor(wk__text *out, const wk_tensor *tensor);
void wk__text_tensor_device(wk__text *out, const wk_tensor *tensor);
void wk__text_shape(wk__text *out, int ndim, const int64_t *shape);

#endif
