/* SPDX-License-Identifier: Apache-2.0 */
/* wk_mirrored: construction and forward.
 *
 *     input [96, ..] --> narrow, to --> [32, ..] on opencl:0 --> model, parameters on opencl:0 --> [32, 10] --\
 *                                       [32, ..] on opencl:1 --> model, parameters on opencl:1 --> [32, 10] --> to, cat
 *                                       [32, ..] on cpu      --> model, parameters on cpu      --> [32, 10] --/
 *
 * All steps are ordinary ops, so gradients flow back the same way. Replicas are recorded one after another on the
 * calling thread; asynchronous devices execute them concurrently. */
#include "mirrored.h"
#include "base/alloc.h"
#include "base/options.h"
#include "engine/op_queue.h"
#include "device_list.h"
#include "batch_split.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/shape.h>

static const wk_site no_site;

static wk__mirrored *mirrored_of(const wk_module *many)
{
    return *(wk__mirrored **)wk__module_of(many)->state;
}

static wk_module *model_of(const wk_module *many)
{
    return wk__module_of(many)->item[0].module;
}

/* ---- one call of forward ----------------------------------------------------------------------------------------- */

/* Cleanup of a forward call, at its end or after a longjmp out of the error handler. */
static void end_forward(void *address)
{
    wk__mirrored_forward *t = address;
    wk__mirrored_bind(t, -1);
    t->context->device = t->saved_device;
    atomic_store(&t->m->running, false);
    wk__free(t->replica_tensor);
    wk__free(t->start_version);
    wk__free(t->tensors);
    wk__free(t);
}

static bool begin_exclusive(wk__mirrored *m)
{
    if (!atomic_exchange(&m->running, true)) return true;
    wk__error_set(no_site, WK_ERR_STATE,
                  "forward: this mirrored network is already running (in another thread or recursively); use a "
                  "separate model for concurrent forwards");
    return false;
}

static wk__mirrored_forward *begin_forward(wk__mirrored *m, int inputs, int outputs, uint64_t *token)
{
    const size_t places = (size_t)(m->count * m->n) + 1;
    wk__mirrored_forward *t = wk__alloc_zero(1, sizeof *t);
    if (t) {
        t->m = m;
        t->context = wk__context();
        t->bound = -1;
        t->saved_device = t->context->device;
        t->replica_tensor = wk__alloc_zero(places, sizeof *t->replica_tensor);
        t->start_version = wk__alloc_zero(places, sizeof *t->start_version);
        t->tensors = wk__alloc_zero((size_t)(m->n * (inputs + outputs)) + 1, sizeof *t->tensors);
    }
    if (!t || !t->replica_tensor || !t->start_version || !t->tensors) {
        wk__error_set(no_site, WK_ERR_MEMORY, "forward: out of host memory for a mirrored network");
    } else {
        for (int k = 0; k < m->n; k++) {
            t->replica[k].in = t->tensors + k * (inputs + outputs);
            t->replica[k].out = t->replica[k].in + inputs;
        }
        if ((*token = wk__guard_push_cleanup(t, end_forward))) return t;
    }
    if (t)
        end_forward(t);
    else
        atomic_store(&m->running, false);
    return NULL;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

/* Returns the batch size: dimension 0 of the first input that has one; -1: no input has. */
static int64_t samples_of(wk_tensor *const *in, int inputs)
{
    for (int k = 0; k < inputs; k++)
        if (wk__body_of(in[k])->ndim > 0) return wk__body_of(in[k])->shape[0];
    return -1;
}

/* Computes the shares. Without a batch, or with an empty one, the first device does all work. */
static void split_batch(wk__mirrored_forward *t, int64_t samples)
{
    const wk__mirrored *m = t->m;
    if (samples > 0)
        wk__split_batch(samples, m->n, m->balance ? m->weight : NULL, t->share);
    else
        t->share[0] = 1;
    t->first = -1;
    for (int k = 0; k < m->n; k++) {
        t->active += t->share[k] > 0;
        if (t->share[k] > 0 && t->first < 0) t->first = k;
    }
}

static wk_tensor *part_of(const wk__mirrored_forward *t, wk_tensor *x, int64_t samples, int64_t at, int k)
{
    const wk__body *body = wk__body_of(x);
    if (samples > 0 && body->ndim > 0 && body->shape[0] == samples && t->active > 1)
        x = wk_narrow_at(no_site, x, 0, at, t->share[k]);
    if (x && wk__body_of(x)->storage->device != t->m->device[k])
        wk__step_profiler_add_copied(t->m,
                                     wk__body_numel(wk__body_of(x)) * (int64_t)wk_dtype_size(wk__body_of(x)->dtype));
    return x ? wk_to_at(no_site, x, t->m->device[k]->id) : NULL;
}

static bool scatter(wk__mirrored_forward *t, wk_tensor *const *in, int inputs, int64_t samples)
{
    int64_t at = 0;
    for (int k = 0; k < t->m->n; at += t->share[k++])
        for (int i = 0; i < inputs && t->share[k] > 0; i++)
            if (!(t->replica[k].in[i] = part_of(t, in[i], samples, at, k))) return false;
    return true;
}

/* ---- replicas ---------------------------------------------------------------------------------------------------- */

static bool is_device(const wk__mirrored *m, wk_device device)
{
    bool found = false;
    for (int k = 0; k < m->n; k++) found = found || wk_device_eq(m->device[k]->id, device);
    return found;
}

static bool run(wk__mirrored_forward *t, wk_module *model, int k, int inputs, int outputs)
{
    wk__replica *r = &t->replica[k];
    wk__mirrored_bind(t, k);
    if (is_device(t->m, t->saved_device)) t->context->device = t->m->device[k]->id;
    r->count = wk_forward_n_at(no_site, model, r->in, inputs, r->out, outputs);
    t->context->device = t->saved_device;
    wk__mirrored_bind(t, -1);
    wk__step_profiler_end_replica(t, k);
    return r->count >= 0;
}

static bool run_all(wk__mirrored_forward *t, wk_module *model, int inputs, int outputs)
{
    for (int k = 0; k < t->m->n; k++)
        if (t->share[t->m->order[k]] > 0 && !run(t, model, t->m->order[k], inputs, outputs)) return false;
    return true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static bool check_output_counts(const wk__mirrored_forward *t)
{
    const int count = t->replica[t->first].count;
    for (int k = t->first + 1; k < t->m->n; k++) {
        if (t->share[k] == 0 || t->replica[k].count == count) continue;
        wk__error_set(no_site, WK_ERR_STATE, "forward: the model returned %d outputs on %s but %d on %s", count,
                      wk_device_str(t->m->device[t->first]->id), t->replica[k].count,
                      wk_device_str(t->m->device[k]->id));
        return false;
    }
    return true;
}

/* Gathers result i of all replicas on one device. */
static wk_tensor *gather(const wk__mirrored_forward *t, int i, wk_device to)
{
    wk_tensor *part[WK_MIRRORED_DEVICES];
    int count = 0;
    bool scalars = true;
    for (int k = 0; k < t->m->n; k++) {
        if (t->share[k] == 0) continue;
        wk_tensor *x = t->replica[k].out[i];
        if (!wk_device_eq(wk_device_of(x), to))
            wk__step_profiler_add_copied(t->m, wk__body_numel(wk__body_of(x)) *
                                                   (int64_t)wk_dtype_size(wk__body_of(x)->dtype));
        if (!(part[count++] = wk_to_at(no_site, x, to))) return NULL;
        scalars = scalars && wk__body_of(x)->ndim == 0;
    }
    if (count == 1) return part[0];
    return (scalars ? wk_stack_at : wk_cat_at)(no_site, part, count, 0);
}

static int gather_all(wk__mirrored_forward *t, wk_device to, wk_tensor **out)
{
    const int count = t->replica[t->first].count;
    if (!check_output_counts(t)) return -1;
    for (int i = 0; i < count; i++)
        if (!(out[i] = gather(t, i, to))) return -1;
    return count;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static bool wants_gradients(const wk__mirrored_forward *t)
{
    bool wanted = false;
    for (int64_t i = 0; i < t->m->count && !wanted; i++) {
        wk_tensor *x = t->m->model_tensors[i].tensor;
        wanted = wk__needs_grad_fn(t->context, &x, 1);
    }
    return wanted;
}

static int run_forward(wk__mirrored_forward *t, wk_module *model, wk_tensor *const *in, int inputs, wk_tensor **out,
                       int outputs)
{
    const int64_t samples = samples_of(in, inputs);
    const wk_device to = t->m->output.kind || inputs == 0 ? t->m->output : wk_device_of(in[0]);
    split_batch(t, samples);
    wk__step_profiler_begin(t, wants_gradients(t));
    if (!wk__mirrored_refresh(t) || !scatter(t, in, inputs, samples)) return -1;
    wk__step_profiler_end_phase(t, WK__PHASE_COPY);
    if (!run_all(t, model, inputs, outputs) || !wk__mirrored_update_buffers(t)) return -1;
    wk__step_profiler_end_phase(t, WK__PHASE_COMPUTE);
    const int count = gather_all(t, to.kind ? to : t->m->device[t->first]->id, out);
    wk__step_profiler_end_phase(t, WK__PHASE_COPY);
    return count;
}

/* Runs the model on the first device only, where its parameters are or will be made. */
static int run_alone(const wk__mirrored *m, wk_module *model, wk_tensor *const *in, int inputs, wk_tensor **out,
                     int outputs)
{
    const wk_device to = m->output.kind || inputs == 0 ? m->output : wk_device_of(in[0]);
    wk_tensor **here = wk__alloc_zero((size_t)inputs + 1, sizeof *here);
    const uint64_t token = here ? wk__guard_push_cleanup(here, wk__free) : 0;
    bool fine = token != 0;
    for (int k = 0; k < inputs && fine; k++) fine = (here[k] = wk_to_at(no_site, in[k], m->device[0]->id)) != NULL;
    int count = fine ? wk_forward_n_at(no_site, model, here, inputs, out, outputs) : -1;
    for (int k = 0; k < count && to.kind && fine; k++) fine = (out[k] = wk_to_at(no_site, out[k], to)) != NULL;
    if (!here) wk__error_set(no_site, WK_ERR_MEMORY, "forward: out of host memory for a mirrored network");
    if (token)
        wk__guard_close(token);
    else
        wk__free(here);
    return fine ? count : -1;
}

static bool has_lazy_layers(wk_module *model, bool *unready)
{
    wk__module_tree tree;
    *unready = false;
    if (!wk__module_tree_build(&tree, model, no_site)) return false;
    for (int64_t k = 0; k < tree.count; k++) *unready = *unready || wk__module_of(tree.entry[k].module)->uninitialized;
    wk__module_tree_free(&tree);
    return true;
}

static bool all_at_home(const wk__mirrored *m)
{
    bool home = true;
    for (int64_t i = 0; i < m->count && home; i++)
        home = wk__body_of(m->model_tensors[i].tensor)->storage->device == m->device[0];
    return home;
}

static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    wk__mirrored *m = mirrored_of(self);
    wk_module *model = model_of(self);
    bool unready;
    if (!has_lazy_layers(model, &unready)) return -1;
    if (unready) return run_alone(m, model, in, inputs, out, outputs);
    if (!begin_exclusive(m)) return -1;
    const bool listed = wk__mirrored_collect(no_site, m, model);
    if (!listed || (m->n == 1 && all_at_home(m))) {
        atomic_store(&m->running, false);
        return listed ? run_alone(m, model, in, inputs, out, outputs) : -1;
    }
    uint64_t token;
    wk__mirrored_forward *t = begin_forward(m, inputs, outputs, &token);
    if (!t) return -1;
    const int count = run_forward(t, model, in, inputs, out, outputs);
    wk__guard_close(token);
    return count;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void destroy(wk_module *self)
{
    wk__mirrored *m = mirrored_of(self);
    if (!m) return;
    wk__mirrored_drop_copies(m);
    wk__step_profiler_free(m);
    wk__free(m->model_tensors);
    wk__free(m);
}

static bool check_not_wrapped(wk_site site, const char *call, wk_module *model)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, model, site)) return false;
    const wk__module *wrapper = NULL;
    for (int64_t k = 0; k < tree.count && !wrapper; k++)
        if (wk__module_of(tree.entry[k].module)->is_transparent) wrapper = wk__module_of(tree.entry[k].module);
    wk__module_tree_free(&tree);
    if (wrapper)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: the model already is or contains a %s; pass the inner model with all devices", call,
                      wrapper->kind.name);
    return !wrapper;
}

static void order_devices(wk__mirrored *m)
{
    int count = 0;
    for (int host = 0; host < 2; host++)
        for (int k = 0; k < m->n; k++)
            if ((m->device[k]->id.kind == WK_CPU) == host) m->order[count++] = k;
}

static bool read_options(wk_site site, const char *call, const wk_mirrored_options *o, wk__mirrored *m)
{
    if (o->buffers != WK_BUFFERS_FIRST && o->buffers != WK_BUFFERS_MEAN) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown .buffers %d; expected WK_BUFFERS_FIRST or WK_BUFFERS_MEAN",
                      call, (int)o->buffers);
        return false;
    }
    const wk__device *output = o->output.kind ? wk__device_open(site, call, o->output) : NULL;
    if (o->output.kind && !output) return false;
    if (output) m->output = output->id;
    m->buffers = o->buffers;
    m->balance = o->balance;
    for (int k = 0; k < m->n; k++) m->weight[k] = 1;
    return true;
}

static wk_module *wrapped(wk_site site, const char *call, wk_module *model, wk__mirrored *m)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "mirrored", .state = sizeof m, .forward = forward, .destroy = destroy};
    if (!wk_module_to_at(site, model, m->device[0]->id)) return NULL;
    wk_module *many = wk__module_wrap(site, &kind, model);
    if (!many) return NULL;
    if ((m->profiler = wk__step_profiler_new())) {
        *(wk__mirrored **)wk__module_of(many)->state = m;
        return many;
    }
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", call);
    return wk__module_discard(many);
}

static wk_module *make(wk_site site, const char *call, wk_module *model, const wk_device *devices, int n,
                       const wk_mirrored_options *options)
{
    if (!wk__module_check(model, site, call) || !check_not_wrapped(site, call, model)) return NULL;
    wk__mirrored *m = wk__alloc_zero(1, sizeof *m);
    if (!m) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", call);
        return NULL;
    }
    wk_module *many = NULL;
    m->n = n;
    if (wk__open_devices(site, call, devices, n, true, m->device) && read_options(site, call, options, m)) {
        order_devices(m);
        many = wrapped(site, call, model, m);
    }
    if (!many) wk__free(m);
    return many;
}

wk_module *wk_mirrored_at(wk_site site, wk_module *model, const wk_device *devices, int n,
                          const wk_mirrored_options *options)
{
    wk_mirrored_options o;
    return wk__options(site, "mirrored", options, &o) ? make(site, "mirrored", model, devices, n, &o) : NULL;
}

wk_module *wk_nn_data_parallel_at(wk_site site, wk_module *model, const wk_data_parallel_options *options)
{
    static const char call[] = "nn_data_parallel";
    wk_data_parallel_options o;
    wk_device gpus[WK_MIRRORED_DEVICES];
    if (!wk__options(site, call, options, &o)) return NULL;
    if (o.count && !o.devices) return wk__array_report(o.count, site, call, ".devices"), NULL;
    const bool named = o.devices != NULL;
    const wk_device *devices = named ? o.devices : gpus;
    const int n = named ? o.count : wk_try_all_gpus(gpus, WK_MIRRORED_DEVICES);
    if (n > 0 && !o.output.kind) o.output = devices[0];
    const wk_mirrored_options as = {.size = sizeof as, .output = o.output};
    return make(site, call, model, devices, n, &as);
}

wk_code wk_mirrored_stats_of_at(wk_site site, const wk_module *many, wk_mirrored_stats *stats)
{
    static const char call[] = "mirrored_stats_of";
    if (!wk__module_check(many, site, call)) return wk_error_code();
    if (wk__module_of(many)->kind.forward != forward) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the %s is not a mirrored network", call,
                      wk__module_of(many)->kind.name);
        return WK_ERR_ARGUMENT;
    }
    wk_mirrored_stats own = {.size = sizeof own};
    wk__step_profiler_stats(mirrored_of(many), &own);
    return wk__sized_store(site, call, wk_mirrored_stats, stats, &own);
}
