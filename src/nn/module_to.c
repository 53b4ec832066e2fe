/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a network to a device, or converting it to a dtype. All tensors are copied first, and the copies complete;
 * then the handles are rebound to them, which cannot fail. So a network changes entirely or not at all. */
#include "module.h"
#include "autograd/node.h"
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/autograd.h>

/* The change of a call: the dtype of floating tensors, or the device of all. */
typedef struct change {
    const char *op;
    wk_dtype dtype; /* 0: the device changes */
    wk_device device;
} change;

/* One tensor, which keeps its handle, and its copy. */
typedef struct staged_copy {
    wk_tensor *tensor, *copy;
} staged_copy;

/* All copies of one call. */
typedef struct staged_copies {
    staged_copy *move;
    int64_t count, capacity;
} staged_copies;

/* Returns the changed copy of a tensor, or the tensor if it needs none; NULL on error. */
static wk_tensor *changed(wk_site site, wk_tensor *tensor, const change *to)
{
    if (!to->dtype) return wk_to_at(site, tensor, to->device);
    return wk__is_float(wk__body_of(tensor)->dtype) ? wk_to_dtype_at(site, tensor, to->dtype) : tensor;
}

static bool stage_copy(wk_site site, staged_copies *m, wk_tensor *tensor, const change *to)
{
    if (!wk__grow(&m->move, &m->capacity, m->count + 1, sizeof *m->move)) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", to->op);
        return false;
    }
    wk_tensor *copy = changed(site, tensor, to);
    if (!copy) return false;
    if (copy != tensor) m->move[m->count++] = (staged_copy){tensor, copy};
    return true;
}

static bool stage_all(wk_site site, staged_copies *m, const wk__tensor_list *list, const change *to)
{
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *tensor = list->item[k].tensor, *grad = wk_grad_of(tensor);
        if (!stage_copy(site, m, tensor, to) || (grad && !stage_copy(site, m, grad, to))) return false;
    }
    return true;
}

static void notify_moved(wk_site site, wk_module *root, wk_device device)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, root, site)) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    for (int64_t k = 0; k < tree.count; k++) {
        const wk__module *body = wk__module_of(tree.entry[k].module);
        if (!body->kind.on_move) continue;
        const wk__frame around = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
        body->kind.on_move(tree.entry[k].module, device);
        wk__frame_end(context, around);
    }
    wk__module_tree_free(&tree);
    wk__frame_end(context, before);
}

/* Collects the tensors to move. Lazy layers have none: they create parameters on the device of their first input. */
static bool collect_tensors(wk_site site, wk_module *root, wk__tensor_list *list)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, root, site)) return false;
    bool fine = true;
    for (int64_t k = 0; k < tree.count && fine; k++) {
        const wk__module *body = wk__module_of(tree.entry[k].module);
        for (int64_t i = 0; i < body->items && fine; i++)
            if (body->item[i].kind != WK__CHILD) fine = wk__tensor_list_append(site, list, "", body->item[i].tensor);
    }
    wk__module_tree_free(&tree);
    return fine;
}

/* Waits for all copies after all are recorded, so that they overlap. */
static bool materialize_all(const staged_copies *m, wk_site site)
{
    for (int64_t k = 0; k < m->count; k++)
        if (!wk__materialize(m->move[k].copy, site)) return false;
    return true;
}

/* Rebinds all handles. A tensor shared by two modules is staged twice and changed once. */
static void commit(const staged_copies *m)
{
    for (int64_t k = 0; k < m->count; k++) {
        const wk__body *old = wk__body_of(m->move[k].tensor), *now = wk__body_of(m->move[k].copy);
        if (old->storage->device != now->storage->device || old->dtype != now->dtype)
            wk__rebind_storage(m->move[k].tensor, m->move[k].copy);
    }
}

static bool change_all(wk_site site, wk_module *m, const change *to)
{
    wk__call_scope c;
    if (!wk__module_check(m, site, to->op) || !wk__call_begin(&c, WK__FRAME_CALL, to->op, site, WK__GRAD_OFF))
        return false;
    staged_copies planned = {0};
    wk_tensors *list = wk_tensors_new_at(site);
    const bool fine = list && collect_tensors(site, m, wk__tensor_list_of(list)) &&
                      stage_all(site, &planned, wk__tensor_list_of(list), to) && materialize_all(&planned, site);
    if (fine) commit(&planned);
    wk__free(planned.move);
    wk__call_end(&c, NULL, 0);
    return fine;
}

wk_module *wk_module_to_at(wk_site site, wk_module *m, wk_device device)
{
    if (!change_all(site, m, &(change){.op = "module_to", .device = device})) return NULL;
    notify_moved(site, m, device);
    return m;
}

wk_module *wk_module_to_dtype_at(wk_site site, wk_module *m, wk_dtype dtype)
{
    static const char op[] = "module_to_dtype";
    if (!wk__is_float(dtype)) {
        wk__error_set(site, WK_ERR_DTYPE, "%s: expected f32, f64, f16 or bf16, got %s", op, wk_dtype_str(dtype));
        return NULL;
    }
    return change_all(site, m, &(change){.op = op, .dtype = dtype}) ? m : NULL;
}
