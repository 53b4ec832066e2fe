/* SPDX-License-Identifier: Apache-2.0 */
/* Body of a tensor handle: the shape and strides through which it views a storage, and its position in the autograd
 * graph.
 *
 * Ownership: a body owns references to its storage, node, leaf and separate alias set, and its strings. */
#ifndef WICK_TENSOR_TENSOR_H
#define WICK_TENSOR_TENSOR_H

#include "base/attached.h"
#include "base/dtype.h"
#include "ir/ir.h"
#include "storage.h"

typedef struct wk__body {
    wk__storage *storage;
    int64_t offset; /* elements, from the start of the storage */
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    uint8_t ndim, dtype;
    bool requires_grad; /* a leaf that requires grad, or the result of a node */
    bool parameter;     /* owned by a module */
    bool known_dense;   /* row-major without gaps by construction; a view may be so without the flag */
    bool is_view;       /* shares the storage of the tensor it was created from */
    bool no_grad_view;  /* a view created without gradients, or of such a view */
    int16_t output;     /* index among the outputs of `node` */
    /* Position in the graph. Both types begin with a wk__counted, by which tensors hold and drop them. */
    struct wk__node *node;         /* function that computed it; NULL for leaves */
    struct wk__leaf *leaf;         /* gradient and hooks of a leaf, created on demand */
    _Atomic(wk__attached *) texts; /* strings returned outside any scope, which live as long as the tensor */
    /* set of a detached tensor and its views; NULL: the storage's. Constant once the body is shared */
    wk__alias_set *family;
    uint32_t graph_version; /* graph version of the alias set that `node` corresponds to; see autograd/view_grad.h */
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
/* Adds references to the graph for a copy of a body. */
static inline void wk__body_share(const wk__body *body)
{
    if (body->node) wk__counted_hold(body->node);
    if (body->leaf) wk__counted_hold(body->leaf);
}
/* Drops the references of a body that is freed to the graph. */
static inline void wk__body_forget(wk__body *body)
{
    if (body->node) wk__counted_drop(body->node);
    if (body->leaf) wk__counted_drop(body->leaf);
}
/* Removes a body from the graph: it has no history and requires no gradient. */
static inline void wk__body_leave_graph(wk__body *body)
{
    wk__body_forget(body);
    body->node = NULL;
    body->leaf = NULL;
    body->output = 0;
    body->requires_grad = false;
}
/* Returns the alias set of a body. */
static inline wk__alias_set *wk__alias_set_of(const wk__body *body)
{
    return body->family ? body->family : &body->storage->alias_set;
}
static inline bool wk__is_tensor(const wk_tensor *tensor)
{
    return wk__handle_alive(tensor, &wk__tensor_kind);
}
/* Records an error ("op: role is ...") and returns false unless it is a live tensor. Silent for NULL with an error
 * pending. */
static inline bool wk__check_tensor(const wk_tensor *tensor, wk_site site, const char *op, const char *role)
{
    return wk__handle_check(tensor, &wk__tensor_kind, site, op, role);
}

/* Creates a contiguous tensor with a new pending value, no graph history, owned like any new handle; a record that
 * computes it must follow. Returns NULL on allocation failure. Fails in every mode if the tensor exceeds the device's
 * memory limit, even if fusion would avoid storing it; `op` is the name in that message. */
wk_tensor *wk__tensor_pending(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                              wk_site site, const char *op);
/* Like wk__tensor_pending(), with the size in bytes and, unless NULL, the dense strides given. op == NULL skips the
 * limit check. */
wk_tensor *wk__tensor_pending_of(wk_context *context, wk__device *device, wk_dtype dtype, int ndim,
                                 const int64_t *shape, const int64_t *stride, int64_t bytes, wk_site site,
                                 const char *op);
/* Memory that the arena does not own. */
typedef struct wk__foreign {
    void *data;
    void (*release)(void *user); /* called when the last reference is dropped */
    void *user;
} wk__foreign;
/* Creates a stored tensor of such memory, without a limit check. NULL on allocation failure: nothing is released. */
wk_tensor *wk__tensor_borrowing(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                                wk_site site, wk__foreign memory);
/* Creates a view of `base` with this geometry. */
wk_tensor *wk__tensor_view(wk_context *context, const wk_tensor *base, int64_t offset, int ndim, const int64_t *shape,
                           const int64_t *stride);
/* Creates another handle for the same view, including its position in the graph. */
wk_tensor *wk__tensor_alias(wk_context *context, const wk__body *like);
/* Like wk__tensor_alias(), with a separate alias set: in-place writes through other tensors do not affect its
 * history. */
wk_tensor *wk__tensor_detached_alias(wk_context *context, const wk__body *like);
/* Creates a tensor with the current value of x in a new storage, without a copy, at x's position in the graph. */
wk_tensor *wk__tensor_snapshot(wk_context *context, const wk_tensor *x);

/* Makes a view the base of its alias set, before the base is destroyed. */
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
/* Computes the size in bytes of a dense tensor; returns false on int64 overflow. */
bool wk__dense_bytes(int ndim, const int64_t *shape, wk_dtype dtype, int64_t *bytes);
/* Broadcasts two shapes; returns false if they are incompatible. `out` may be one of them. */
bool wk__broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);
/* Computes the strides of a body in a broadcast shape: 0 along broadcast dimensions. */
void wk__broadcast_strides(const wk__body *body, int ndim, const int64_t *shape, int64_t *stride);
/* Returns true if two elements of the view share memory. Strides are never negative. */
bool wk__body_overlaps(const wk__body *body);
/* Converts a dimension argument from -ndim..ndim-1 to 0..ndim-1; returns false if out of range. ndim 0 counts as 1. */
bool wk__wrap_dim(int ndim, int64_t dim, int *out);

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

static inline bool wk__is_float(wk_dtype dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_F16 || dtype == WK_BF16;
}
/* Returns the common dtype of two operands (torch.promote_types). */
wk_dtype wk__promote_types(wk_dtype a, wk_dtype b);
/* Priority of an operand in type promotion: tensors with dimensions outrank 0-d tensors, which outrank plain numbers,
 * unless the lower priority has a higher class (bool < integer < float). */
typedef enum wk__promotion_priority {
    WK__PRIORITY_NUMBER,
    WK__PRIORITY_SCALAR,
    WK__PRIORITY_TENSOR,
    WK__PRIORITY_COUNT
} wk__promotion_priority;
typedef struct wk__promotion {
    uint8_t of[WK__PRIORITY_COUNT]; /* promoted dtype per priority so far; 0: none */
} wk__promotion;
void wk__promotion_add(wk__promotion *p, wk_dtype dtype, wk__promotion_priority weight);
wk_dtype wk__promotion_result(const wk__promotion *p);

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Opens the device of a call's `device` option; kind 0 is the CPU. Returns NULL and records the error on failure. */
wk__device *wk__device_open(wk_site site, const char *call, wk_device device);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Append "f32[2,3]", or "f32[2,3] on cpu". */
void wk__text_tensor(wk__text *out, const wk_tensor *tensor);
void wk__text_tensor_device(wk__text *out, const wk_tensor *tensor);
void wk__text_shape(wk__text *out, int ndim, const int64_t *shape);
/* Records the error "TEXT, got f32[2,3]FIX". fix: "", or a text that begins with "; ". Returns false. */
__attribute__((format(printf, 5, 6))) bool wk__tensor_refuse(wk_site site, wk_code code, const wk_tensor *got,
                                                             const char *fix, const char *format, ...);

#endif
