/* SPDX-License-Identifier: Apache-2.0 */
/* embedding: rows of a table, selected by integers. */
#include "module.h"
#include "tensor/call_scope.h"
#include <wick/shape.h>

static wk_tensor *forward(wk_module *self, wk_tensor *index)
{
    wk_tensor *const *weight = wk__module_of(self)->state;
    return wk_embedding_at((wk_site){0}, index, *weight);
}

static int describe(wk_module *self, char *out, size_t size)
{
    wk_tensor *const *weight = wk__module_of(self)->state;
    const int64_t *shape = wk__body_of(*weight)->shape;
    wk__text text = {0};
    wk__text_format(&text, "%lld, %lld", (long long)shape[0], (long long)shape[1]);
    return wk__describe_end(&text, out, size);
}

wk_module *wk_nn_embedding_at(wk_site site, int64_t n, int64_t dim, const wk_nn_embedding_options *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "embedding",
                                        .state = sizeof(wk_tensor *),
                                        .forward1 = forward,
                                        .describe = describe};
    wk_nn_embedding_options o;
    if (!wk__options(site, "nn_embedding", options, &o)) return NULL;
    wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    wk__call_scope c;
    wk_module *m = wk__module_make(site, &kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, "nn_embedding", site, WK__GRAD_OFF)) return wk__module_discard(m);
    wk_tensor **weight = wk__module_of(m)->state;
    wk_tensor *value = wk_empty_at(site, (int64_t[]){n, dim}, 2, &like);
    *weight = value ? wk_module_add_parameter_at(site, m, "weight", value) : NULL;
    bool fine = *weight && wk_init_normal__at(site, *weight, 0, 1);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}
