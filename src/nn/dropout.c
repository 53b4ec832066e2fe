/* SPDX-License-Identifier: Apache-2.0 */
/* dropout, dropout1d to dropout3d, alpha_dropout, feature_alpha_dropout: layers that drop elements or channels in
 * training mode. */
#include "module.h"
#include <string.h>
#include <wick/random.h>

typedef wk_tensor *dropout_function(wk_site site, wk_tensor *x, double p, bool training);

/* State of the module. */
typedef struct dropout {
    dropout_function *function;
    double p; /* probability to be dropped */
} dropout;

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const wk__module *module = wk__module_of(self);
    const dropout *state = module->state;
    return state->function((wk_site){0}, x, state->p, !module->eval);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const dropout *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_add(&text, "p=");
    wk__text_float(&text, state->p);
    wk__text_add(&text, ", inplace=False");
    return wk__describe_end(&text, out, size);
}

static wk_module *create(wk_site site, const char *call, dropout_function *function, double p)
{
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = call + strlen("nn_"),
                                 .state = sizeof(dropout),
                                 .forward1 = forward,
                                 .describe = describe};
    if (!(p >= 0 && p <= 1)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: p must be in [0, 1], got %g", call, p);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(dropout *)wk__module_of(m)->state = (dropout){function, p};
    return m;
}

wk_module *wk_nn_dropout_at(wk_site site, double p)
{
    return create(site, "nn_dropout", wk_dropout_at, p);
}

wk_module *wk_nn_dropout1d_at(wk_site site, double p)
{
    return create(site, "nn_dropout1d", wk_dropout1d_at, p);
}

wk_module *wk_nn_dropout2d_at(wk_site site, double p)
{
    return create(site, "nn_dropout2d", wk_dropout2d_at, p);
}

wk_module *wk_nn_dropout3d_at(wk_site site, double p)
{
    return create(site, "nn_dropout3d", wk_dropout3d_at, p);
}

wk_module *wk_nn_alpha_dropout_at(wk_site site, double p)
{
    return create(site, "nn_alpha_dropout", wk_alpha_dropout_at, p);
}

wk_module *wk_nn_feature_alpha_dropout_at(wk_site site, double p)
{
    return create(site, "nn_feature_alpha_dropout", wk_feature_alpha_dropout_at, p);
}
