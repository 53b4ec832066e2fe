/* SPDX-License-Identifier: Apache-2.0 */
/* flatten and unflatten, layers without parameters. */
#include "module.h"
#include <string.h>
#include <wick/shape.h>

/* ---- flatten ----------------------------------------------------------------------------------------------------- */

/* The dimensions that a flatten layer merges. */
typedef struct flatten {
    int64_t start, end;
} flatten;

static int flatten_describe(wk_module *self, char *out, size_t size)
{
    const flatten *s = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "start_dim=%lld, end_dim=%lld", (long long)s->start, (long long)s->end);
    return wk__describe_end(&text, out, size);
}

static wk_tensor *flatten_forward(wk_module *self, wk_tensor *x)
{
    const flatten *s = wk__module_of(self)->state;
    const bool is_flat = wk__body_of(x)->ndim < 2 && s->start == 1 && s->end == -1;
    return is_flat ? x : wk_flatten_at((wk_site){0}, x, s->start, s->end);
}

wk_module *wk_nn_flatten_at(wk_site site, int64_t start, int64_t end)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "flatten",
                                        .state = sizeof(flatten),
                                        .forward1 = flatten_forward,
                                        .describe = flatten_describe};
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(flatten *)wk__module_of(m)->state = (flatten){start, end};
    return m;
}

/* ---- unflatten --------------------------------------------------------------------------------------------------- */

/* The dimension that an unflatten layer splits, and the sizes of its parts. */
typedef struct unflatten {
    int64_t dim, sizes[WK__MAX_DIMS];
    int count;
} unflatten;

static int unflatten_describe(wk_module *self, char *out, size_t size)
{
    const unflatten *s = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "dim=%lld, unflattened_size=", (long long)s->dim);
    wk__text_tuple(&text, s->sizes, s->count);
    return wk__describe_end(&text, out, size);
}

static wk_tensor *unflatten_forward(wk_module *self, wk_tensor *x)
{
    const unflatten *s = wk__module_of(self)->state;
    return wk_unflatten_at((wk_site){0}, x, s->dim, s->sizes, s->count);
}

wk_module *wk_nn_unflatten_at(wk_site site, int64_t dim, const int64_t *sizes, int count)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "unflatten",
                                        .state = sizeof(unflatten),
                                        .forward1 = unflatten_forward,
                                        .describe = unflatten_describe};
    if (!wk__array_check(sizes, count, site, "nn_unflatten", "the list of sizes")) return NULL;
    if (count < 1 || count > WK__MAX_DIMS) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_unflatten: expected one to %d sizes, got %d", WK__MAX_DIMS, count);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    unflatten *s = wk__module_of(m)->state;
    s->dim = dim;
    s->count = count;
    memcpy(s->sizes, sizes, sizeof *sizes * (size_t)count);
    return m;
}
