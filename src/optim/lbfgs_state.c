/* SPDX-License-Identifier: Apache-2.0 */
/* State of L-BFGS between steps, saved and loaded with the names of torch.optim.LBFGS:
 *
 *     old_dirs.0, .1, ...   changes of the gradient, oldest first       old_stps.0, .1, ...   changes of the parameters
 *     ro                    1 / (old_dirs . old_stps) of each pair
 *     d, t                  last direction and its step length          prev_flat_grad        gradient before it
 *     H_diag                scale of the initial inverse Hessian        n_iter                iterations so far */
#include "base/alloc.h"
#include "lbfgs.h"
#include "optim_state.h"
#include <wick/tensor.h>

typedef wk__lbfgs_state memory;

enum { NAME = 40 };

static const char *numbered(char out[NAME], const char *name, int64_t k)
{
    snprintf(out, NAME, "%s.%lld", name, (long long)k);
    return out;
}

static bool in_a_step(wk_site site, const char *op, const wk__optim *optim)
{
    const memory *m = optim->shared_state;
    if (!m || !m->in_step) return false;
    wk__error_set(site, WK_ERR_STATE, "%s: not allowed inside an lbfgs closure; call it after the step", op);
    return true;
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static bool add_numbers(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, const double *number,
                        int64_t count, int ndim)
{
    wk_tensor_options of = {.size = sizeof of, .device = {.kind = WK_CPU}};
    return wk__tensor_list_append_prefixed(
        site, list, prefix, name,
        wk_from_on_at(site, WK_F64, number, (size_t)count * sizeof *number, &count, ndim, &of));
}

static bool add_pairs(wk_site site, wk__tensor_list *list, const char *prefix, const memory *m)
{
    char name[NAME];
    double *share = wk__alloc_zero((size_t)m->pairs + 1, sizeof *share);
    if (!share) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    bool fine = share != NULL;
    for (int64_t k = 0; k < m->pairs && fine; k++) {
        share[k] = m->pair[k].rho;
        fine = wk__tensor_list_append_prefixed(site, list, prefix, numbered(name, "old_dirs", k),
                                               wk__detached_copy(site, m->pair[k].grad_diff)) &&
               wk__tensor_list_append_prefixed(site, list, prefix, numbered(name, "old_stps", k),
                                               wk__detached_copy(site, m->pair[k].param_diff));
    }
    fine = fine && add_numbers(site, list, prefix, "ro", share, m->pairs, 1);
    wk__free(share);
    return fine;
}

bool wk__lbfgs_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list)
{
    const memory *m = optim->shared_state;
    if (in_a_step(site, op, optim)) return false;
    const int64_t iterations = m ? m->iterations : 0;
    if (!wk__optim_append_int(site, list, prefix, "n_iter", iterations)) return false;
    return iterations == 0 ||
           (add_pairs(site, list, prefix, m) && add_numbers(site, list, prefix, "t", &m->length, 1, 0) &&
            add_numbers(site, list, prefix, "H_diag", &m->h_diag, 1, 0) &&
            wk__tensor_list_append_prefixed(site, list, prefix, "d", wk__detached_copy(site, m->direction)) &&
            wk__tensor_list_append_prefixed(site, list, prefix, "prev_flat_grad",
                                            wk__detached_copy(site, m->gradient)));
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Properties of the vectors: number of elements of all parameters, dtype and device of a step. */
typedef struct vectors {
    wk_dtype dtype;
    wk_device device;
    int64_t length;
} vectors;

static vectors vectors_of(const wk__param_group *group)
{
    vectors v = {WK_F32, wk_device_of(group->item[0].parameter), 0};
    for (int64_t k = 0; k < group->count; k++) {
        const wk__body *body = wk__body_of(group->item[k].parameter);
        if (body->dtype == WK_F64) v.dtype = WK_F64;
        v.length += wk__body_numel(body);
    }
    return v;
}

static bool take(const wk__optim_checkpoint *from, const char *name, const vectors *v, wk_tensor **slot)
{
    wk__lbfgs_set_ref(slot, wk__optim_load_tensor(from, name, v->dtype, 1, &v->length, v->device));
    return *slot != NULL;
}

static int64_t pairs_in(const wk__optim_checkpoint *from)
{
    char name[NAME];
    int64_t count = 0;
    while (wk__optim_has_tensor(from, numbered(name, "old_dirs", count))) count++;
    return count;
}

static bool take_pairs(const wk__optim_checkpoint *from, const vectors *v, memory *m, int64_t pairs)
{
    char name[NAME];
    wk_tensor *ro = wk__optim_load_tensor(from, "ro", WK_F64, 1, &pairs, (wk_device){.kind = WK_CPU});
    double *share = wk__alloc_zero((size_t)pairs + 1, sizeof *share);
    m->pair = wk__alloc_zero((size_t)pairs + 1, sizeof *m->pair);
    m->capacity = pairs + 1;
    bool fine = share && m->pair;
    if (!fine) wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    fine = fine && ro && wk_read_at(from->site, ro, share, (size_t)pairs * sizeof *share) == WK_OK;
    for (; m->pairs < pairs && fine; m->pairs++) {
        wk__lbfgs_pair *pair = &m->pair[m->pairs];
        pair->rho = share[m->pairs];
        fine = take(from, numbered(name, "old_dirs", m->pairs), v, &pair->grad_diff) &&
               take(from, numbered(name, "old_stps", m->pairs), v, &pair->param_diff);
    }
    wk__free(share);
    return fine;
}

static bool restore(const wk__optim_checkpoint *from, const wk__param_group *group, memory *m)
{
    const wk_optim_lbfgs_options *o = group->options;
    const vectors v = vectors_of(group);
    const int64_t pairs = pairs_in(from);
    if (!wk__optim_load_int(from, "n_iter", &m->iterations)) return false;
    if (m->iterations < 0 || pairs > o->history_size)
        return wk__optim_load_error(from, WK_ERR_FORMAT,
                                    "%lld iterations and %lld saved pairs exceed .history_size %lld",
                                    (long long)m->iterations, (long long)pairs, (long long)o->history_size);
    return m->iterations == 0 || (take_pairs(from, &v, m, pairs) && wk__optim_load_float(from, "t", &m->length) &&
                                  wk__optim_load_float(from, "H_diag", &m->h_diag) &&
                                  take(from, "d", &v, &m->direction) && take(from, "prev_flat_grad", &v, &m->gradient));
}

bool wk__lbfgs_load_state(const wk__optim_checkpoint *from, const wk__optim *optim, const wk__param_group *group,
                          void **out)
{
    if (in_a_step(from->site, from->op, optim)) return false;
    memory *m = wk__alloc_zero(1, sizeof *m);
    if (!m) return wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    *out = m; /* the caller frees it on failure */
    return restore(from, group, m);
}
