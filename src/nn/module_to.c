/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a network to a device. All tensors are copied first, and the copies complete; then the handles are rebound to
 * them, which cannot fail. So a network moves entirely or not at all. */
#include "module.h"
#include "autograd/node.h"
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/autograd.h>

/* One tensor, which keeps its handle, and its copy. */
typedef struct staged_copy {
    wk_tensor *tensor, *copy;
} staged_copy;

/* All copies of one call. */
typedef struct staged_copies {
    staged_copy *move;
    int64_t count, capacity;
} staged_copies;

/* Stages the copy of a tensor on another device; a tensor that is on the device already needs none. */
static bool stage_copy(wk_site site, staged_copies *m, wk_tensor *tensor, wk_device device)
{
    if (!wk__grow(&m->move, &m->capacity, m->count + 1, sizeof *m->move)) {
        wk__error_set(site, WK_ERR_MEMORY, "module_to: out of host memory");
        return false;
    }
    wk_tensor *copy = wk_to_at(site, tensor, device);
    if (!copy) return false;
    if (copy != tensor) m->move[m->count++] = (staged_copy){tensor, copy};
    return true;
}

static bool stage_all(wk_site site, staged_copies *m, const wk__tensor_list *list, wk_device device)
{
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *tensor = list->item[k].tensor, *grad = wk_grad_of(tensor);
        if (!stage_copy(site, m, tensor, device) || (grad && !stage_copy(site, m, grad, device))) return false;
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

/* Rebinds all handles. A tensor shared by two modules is staged twice and moved once. */
static void commit(const staged_copies *m)
{
    for (int64_t k = 0; k < m->count; k++)
        if (wk__body_of(m->move[k].tensor)->storage->device != wk__body_of(m->move[k].copy)->storage->device)
            wk__rebind_storage(m->move[k].tensor, m->move[k].copy);
}

wk_module *wk_module_to_at(wk_site site, wk_module *m, wk_device device)
{
    wk__call_scope c;
    if (!wk__module_check(m, site, "module_to") || !wk__call_begin(&c, WK__FRAME_CALL, "module_to", site, WK__GRAD_OFF))
        return NULL;
    staged_copies planned = {0};
    wk_tensors *list = wk_tensors_new_at(site);
    bool fine = list && collect_tensors(site, m, wk__tensor_list_of(list)) &&
                stage_all(site, &planned, wk__tensor_list_of(list), device) && materialize_all(&planned, site);
    if (fine) commit(&planned);
    wk__free(planned.move);
    wk__call_end(&c, NULL, 0);
    if (fine) notify_moved(site, m, device);
    return fine ? m : NULL;
}
