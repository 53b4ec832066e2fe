/* SPDX-License-Identifier: Apache-2.0 */
/* wk_ddp: the module that wraps a network for training in several processes. */
#include "ddp.h"
#include "base/alloc.h"
#include "base/options.h"
#include "nn/module.h"
#include "tensor/call_scope.h"
#include "model_check.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/shape.h>

typedef struct state {
    wk__ddp *ddp; /* NULL in a world of one */
    bool buffers; /* broadcast the buffers of rank 0 before each forward in training mode */
} state;

/* ---- equal parameters on all ranks ------------------------------------------------------------------------------- */

/* Returns the world rank of the group's rank 0. */
static int root_of(const wk__dist_group *group)
{
    return group->world_rank ? group->world_rank[0] : 0;
}

static bool broadcast(wk_site site, const wk__ddp *d, const wk__tensor_list *list)
{
    const wk_dist_call_options options = {.size = sizeof options, .group = d->handle};
    bool fine = true;
    for (int64_t k = 0; k < list->count; k++) /* every rank makes every call, even after an error */
        fine = wk_dist_broadcast__at(site, list->item[k].tensor, root_of(d->group), &options) && fine;
    return fine;
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

static wk_module *network_of(wk_module *self)
{
    return wk__module_of(self)->item[0].module;
}

static bool share_buffers(wk_module *self, const state *s)
{
    wk_tensors *list = wk_tensors_new_at((wk_site){0});
    return list &&
           wk__module_collect((wk_site){0}, "ddp", network_of(self), 1u << WK__BUFFER, wk__tensor_list_of(list)) &&
           broadcast((wk_site){0}, s->ddp, wk__tensor_list_of(list));
}

/* Returns the output with a graph node of its own if the network passed an input or a parameter through. Otherwise the
 * hook on the output would also run in backwards that do not go through the network. */
static wk_tensor *own_view_of_input(wk_tensor *x, wk_tensor *const *in, int inputs)
{
    const wk__body *body = wk__body_of(x);
    bool old = wk_is_leaf(x);
    for (int k = 0; k < inputs; k++) old = old || in[k] == x;
    return old ? wk_expand_at((wk_site){0}, x, body->shape, body->ndim) : x;
}

static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const state *s = wk_module_state_at((wk_site){0}, self);
    const bool records = s->ddp && wk_is_grad_enabled(); /* in evaluation mode, too */
    if (records && s->buffers && !wk__module_of(self)->eval && !share_buffers(self, s)) return -1;
    const int count = wk_forward_n_at((wk_site){0}, network_of(self), in, inputs, out, outputs);
    for (int k = 0; k < count && records; k++) {
        if (!wk_requires_grad(out[k])) continue;
        out[k] = own_view_of_input(out[k], in, inputs);
        if (!out[k] || !wk__ddp_hook_output(s->ddp, out[k], (wk_site){0})) return -1;
    }
    return count;
}

static void destroy(wk_module *self)
{
    state *s = wk_module_state_at((wk_site){0}, self);
    if (!s->ddp) return;
    s->ddp->module_freed = true;
    wk__ddp_drop(s->ddp);
}

static bool options_fit(wk_site site, wk_module *net, const wk_ddp_options *o)
{
    if (!(o->bucket_cap_mb >= 0 && o->bucket_cap_mb < 1e6))
        wk__error_set(site, WK_ERR_ARGUMENT, "ddp: .bucket_cap_mb must be in [0, 1000000]");
    else if (!wk__module_check(net, site, "ddp"))
        return false;
    else
        return wk__dist_group_of(site, "ddp", o->group) != NULL;
    return false;
}

static wk__ddp *new_ddp(wk_site site, const wk_ddp_options *o)
{
    wk__ddp *d = wk__alloc_zero(1, sizeof *d);
    if (!d) {
        wk__error_set(site, WK_ERR_MEMORY, "ddp: out of host memory");
        return NULL;
    }
    atomic_store(&d->refs, 1);
    d->group = wk__dist_group_of(site, "ddp", o->group);
    d->handle = o->group;
    if (d->handle) wk__handle_hold((wk__handle *)d->handle);
    return d;
}

/* Broadcasts rank 0's parameters and buffers, then registers the hooks. */
static bool start(wk_site site, wk__ddp *d, wk_module *net, const wk_ddp_options *o)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "ddp", site, WK__GRAD_OFF)) return false;
    const double most = (o->bucket_cap_mb > 0 ? o->bucket_cap_mb : 25) * (1 << 20),
                 first = most < 1 << 20 ? most : 1 << 20;
    wk_tensors *list = wk_tensors_new_at(site), *trained = wk_parameters_at(site, net);
    bool fine = list && trained &&
                wk__module_collect(site, "ddp", net, 1u << WK__PARAMETER | 1u << WK__BUFFER, wk__tensor_list_of(list));
    fine = fine && wk__check_same_model(site, d->group, wk__tensor_list_of(list));
    if (fine) d->id = ++d->group->ddp_count; /* only after success on all ranks, so that the numbers stay equal */
    fine = fine && broadcast(site, d, wk__tensor_list_of(list)) &&
           wk__ddp_make_buckets(d, wk__tensor_list_of(trained), first, most, site) && wk__ddp_add_hooks(d, site);
    wk__call_end(&c, NULL, 0);
    return fine;
}

wk_module *wk_ddp_at(wk_site site, wk_module *net, const wk_ddp_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "ddp", .state = sizeof(state), .forward = forward, .destroy = destroy};
    wk_ddp_options o;
    if (!wk__options(site, "ddp", options, &o) || !options_fit(site, net, &o)) return NULL;
    wk_module *m = wk__module_wrap(site, &kind, net);
    if (!m || wk__dist_group_of(site, "ddp", o.group)->size == 1) return m;
    state *s = wk_module_state_at(site, m);
    s->buffers = !o.no_broadcast_buffers;
    s->ddp = new_ddp(site, &o);
    return s->ddp && start(site, s->ddp, net, &o) ? m : wk__module_discard(m);
}

wk_guard wk_no_sync_open(wk_site site)
{
    wk__guard *guard = wk__guard_push(WK__GUARD_GRAD, site);
    if (!guard) return (wk_guard){0};
    wk__context()->frame.sync_off = true;
    return (wk_guard){guard->token};
}
