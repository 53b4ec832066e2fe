/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an optimiser in and out of lists; see state.h. */
#include "state.h"
#include "../base/alloc.h"
#include "../base/file.h"
#include "../engine/late.h"
#include <string.h>
#include <wick/creation.h>
#include <wick/tensor.h>

/* The name by which files have parameter k of group g. Names are unique in a list, and each group has come with a list
 * of its own: "0@1" is the "0" of group 1 where another group has one. */
static void saved_name(const wk__optim *optim, int64_t g, int64_t k, wk__text *out)
{
    const char *name = optim->group[g].item[k].name;
    bool met = false;
    wk__text_add(out, name);
    for (int64_t other = 0; other < g && !met; other++)
        for (int64_t i = 0; i < optim->group[other].count && !met; i++)
            met = strcmp(optim->group[other].item[i].name, name) == 0;
    if (met) wk__text_format(out, "@%lld", (long long)g);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

bool wk__optim_list_whole(wk_site site, wk__list *list, const char *prefix, const char *name, int64_t number)
{
    wk_options of = {.size = sizeof of, .device = {.kind = WK_CPU}};
    return wk__list_append_below(site, list, prefix, name,
                                 wk_from_on_at(site, WK_I64, &number, sizeof number, NULL, 0, &of));
}

static bool list_parameter(wk_site site, const wk__optim *optim, int64_t g, int64_t k, const char *prefix,
                           wk__list *list)
{
    const wk__group_of *group = &optim->group[g];
    const wk__trained *t = &group->item[k];
    wk__text name = {0};
    saved_name(optim, g, k, &name);
    wk__text_char(&name, '.', 1);
    const int64_t length = name.length, steps = wk__optim_steps(t);
    wk__text_add(&name, "step");
    bool fine = !name.failed && wk__optim_list_whole(site, list, prefix, name.data, steps);
    for (int s = 0; s < group->states && steps > 0 && fine; s++) {
        name.length = length;
        wk__text_add(&name, optim->rule->state[s]);
        fine = !name.failed && wk__list_append_below(site, list, prefix, name.data, wk__detached(site, t->state[s]));
    }
    if (name.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    wk__text_end(&name);
    return fine;
}

static void add_setting(wk__pairs *pairs, int64_t g, const wk__setting *s, const void *options)
{
    const void *at = (const char *)options + s->at;
    wk__text value = {0};
    if (s->kind == WK__SETTING_NUMBER)
        wk__text_exact(&value, *(const double *)at);
    else if (s->kind == WK__SETTING_WHOLE)
        wk__text_format(&value, "%lld", (long long)*(const int64_t *)at);
    else if (s->kind == WK__SETTING_FLAG)
        wk__text_add(&value, *(const bool *)at ? "true" : "false");
    else if (*(const char *const *)at)
        wk__text_add(&value, *(const char *const *)at);
    if (value.data) wk__pairs_add(pairs, value.data, "optim.%lld.%s", (long long)g, s->name);
    pairs->failed = pairs->failed || value.failed;
    wk__text_end(&value);
}

static void add_group(wk__pairs *pairs, const wk__optim *optim, int64_t g)
{
    const wk__group_of *group = &optim->group[g];
    char count[24];
    for (size_t s = 0; s < optim->rule->settings; s++) add_setting(pairs, g, &optim->rule->setting[s], group->options);
    snprintf(count, sizeof count, "%lld", (long long)group->count);
    wk__pairs_add(pairs, count, "optim.%lld.parameters", (long long)g);
    for (int64_t k = 0; k < group->count; k++)
        wk__pairs_add(pairs, group->item[k].name, "optim.%lld.parameter.%lld", (long long)g, (long long)k);
}

/* Runs what was recorded, and waits where it may have failed: only then it is known which steps count. Devices that
 * this optimiser has nothing on are no matter. */
static bool settle(wk_site site, const wk__optim *optim)
{
    wk_context *context = wk__context();
    const bool failed = wk__error_pending();
    wk__flush(context);
    for (int64_t g = 0; g < optim->groups; g++) {
        const wk__group_of *group = &optim->group[g];
        for (int64_t k = 0; k < group->count * group->states; k++) {
            if (!group->state[k]) continue;
            if (!wk__materialize(group->state[k], site)) return false;
            wk__device_prove(wk__body_of(group->state[k])->storage->device, NULL);
        }
    }
    if (context->late) wk__tell_late(context);
    return failed || !wk__error_pending();
}

bool wk__optim_list(wk_site site, const char *op, const wk__optim *optim, const char *prefix, wk__list *list,
                    wk__pairs *pairs)
{
    if (!settle(site, optim)) return false;
    wk__pairs_add(pairs, wk__rule_kind(optim->rule), "optim");
    wk__pairs_number(pairs, "optim.groups", optim->groups);
    for (int64_t g = 0; g < optim->groups; g++) {
        add_group(pairs, optim, g);
        for (int64_t k = 0; k < optim->group[g].count && !optim->rule->list; k++)
            if (!list_parameter(site, optim, g, k, prefix, list)) return false;
    }
    return !optim->rule->list || optim->rule->list(site, op, optim, prefix, list);
}

/* ---- what a file has --------------------------------------------------------------------------------------------- */

bool wk__optim_saved_bad(const wk__optim_saved *from, wk_code code, const char *format, ...)
{
    wk__text text = {0};
    va_list args;
    wk__text_format(&text, "%s: %s: ", from->op, wk__show(from->path).text);
    va_start(args, format);
    wk__text_vformat(&text, format, args);
    va_end(args);
    wk__error_take(from->site, code, &text);
    return false;
}

static int64_t find(const wk__optim_saved *from, const char *name)
{
    for (int64_t low = 0, high = from->list->count; low < high;) {
        const int64_t middle = low + (high - low) / 2;
        const int order = strcmp(name, from->list->item[middle].name);
        if (order == 0) return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

bool wk__optim_saved_has(const wk__optim_saved *from, const char *name)
{
    return find(from, name) >= 0;
}

wk_tensor *wk__optim_saved_take(const wk__optim_saved *from, const char *name, wk_dtype dtype, int ndim,
                                const int64_t *shape, wk_device device)
{
    const int64_t k = find(from, name);
    wk__text wanted = {0};
    wk__text_add(&wanted, wk_dtype_str(dtype));
    wk__text_shape(&wanted, ndim, shape);
    const wk__body *body = k >= 0 ? wk__body_of(from->list->item[k].tensor) : NULL;
    const bool same = body && wk__same_shape(ndim, shape, body->ndim, body->shape);
    if (wanted.failed) {
        wk__optim_saved_bad(from, WK_ERR_MEMORY, "out of host memory");
    } else if (!body) {
        wk__optim_saved_bad(from, WK_ERR_SHAPE, "there is no \"%s\", which is %s in the optimiser", wk__show(name).text,
                            wanted.data);
    } else if (!same || body->dtype != dtype) {
        wk__text there = {0};
        wk__text_tensor(&there, from->list->item[k].tensor);
        wk__optim_saved_bad(from, same ? WK_ERR_DTYPE : WK_ERR_SHAPE,
                            "\"%s\" is %s in the optimiser and %s in the file", wk__show(name).text, wanted.data,
                            there.data ? there.data : "another");
        wk__text_end(&there);
    } else {
        wk__text_end(&wanted);
        from->taken[k] = true;
        wk_tensor *x = wk_to_at(from->site, from->list->item[k].tensor, device);
        return x && wk__materialize(x, from->site) ? x : NULL;
    }
    wk__text_end(&wanted);
    return NULL;
}

bool wk__optim_saved_whole(const wk__optim_saved *from, const char *name, int64_t *number)
{
    wk_tensor *x = wk__optim_saved_take(from, name, WK_I64, 0, NULL, (wk_device){.kind = WK_CPU});
    *number = x ? wk_item_i64_at(from->site, x) : 0;
    return x != NULL;
}

bool wk__optim_saved_number(const wk__optim_saved *from, const char *name, double *number)
{
    wk_tensor *x = wk__optim_saved_take(from, name, WK_F64, 0, NULL, (wk_device){.kind = WK_CPU});
    *number = x ? wk_item_at(from->site, x) : 0;
    return x != NULL;
}

/* ---- in: how it is set ------------------------------------------------------------------------------------------- */

static bool parse_setting(const wk__setting *s, const char *text, void *options)
{
    void *at = (char *)options + s->at;
    if (s->kind == WK__SETTING_TEXT) {
        const char **where = at; /* rule->complete knows it, and keeps its own */
        *where = text;
        return true;
    }
    if (s->kind == WK__SETTING_NUMBER) return text && wk__parse_double(text, at);
    if (s->kind == WK__SETTING_WHOLE) {
        const wk__pair alone = {"", text};
        int64_t *number = at;
        *number = text ? wk__pairs_find_number(&alone, 1, "") : 0;
        return *number > 0;
    }
    bool *flag = at;
    *flag = text && strcmp(text, "true") == 0;
    return text && (*flag || strcmp(text, "false") == 0);
}

/* The options of group g, which are the caller's; NULL with the error recorded. */
static void *options_of(const wk__optim_saved *from, const wk__optim *optim, int64_t g)
{
    const wk__rule *rule = optim->rule;
    void *own = wk__alloc(rule->size);
    if (!own) {
        wk__optim_saved_bad(from, WK_ERR_MEMORY, "out of host memory");
        return NULL;
    }
    memcpy(own, optim->group[g].options, rule->size);
    bool fine = true;
    for (size_t s = 0; s < rule->settings && fine; s++) {
        const char *text =
            wk__pairs_find(from->pair, from->pairs, "optim.%lld.%s", (long long)g, rule->setting[s].name);
        fine = parse_setting(&rule->setting[s], text, own);
        if (!fine)
            wk__optim_saved_bad(from, WK_ERR_FORMAT, "optim.%lld.%s is %s", (long long)g, rule->setting[s].name,
                                text ? wk__show(text).text : "not there");
    }
    if (fine && wk__optim_options_fit(from->site, from->op, rule, own)) return own;
    wk__free(own);
    return NULL;
}

/* The same kind, and the same parameters in the same groups? */
static bool same_optimiser(const wk__optim_saved *from, const wk__optim *optim)
{
    const char *kind = wk__pairs_find(from->pair, from->pairs, "optim");
    if (!kind) return wk__optim_saved_bad(from, WK_ERR_FORMAT, "there is no state of an optimiser in it");
    if (strcmp(kind, wk__rule_kind(optim->rule)) != 0)
        return wk__optim_saved_bad(from, WK_ERR_ARGUMENT, "it has the state of %s, the optimiser is %s",
                                   wk__show(kind).text, wk__rule_kind(optim->rule));
    const int64_t groups = wk__pairs_find_number(from->pair, from->pairs, "optim.groups");
    if (groups != optim->groups)
        return wk__optim_saved_bad(from, WK_ERR_ARGUMENT, "it has %lld groups of parameters, the optimiser has %lld",
                                   (long long)groups, (long long)optim->groups);
    for (int64_t g = 0; g < groups; g++) {
        const wk__group_of *group = &optim->group[g];
        for (int64_t k = 0; k <= group->count; k++) {
            const char *own = k < group->count ? group->item[k].name : NULL;
            const char *there =
                wk__pairs_find(from->pair, from->pairs, "optim.%lld.parameter.%lld", (long long)g, (long long)k);
            if (own && there ? strcmp(own, there) == 0 : !own && !there) continue;
            return wk__optim_saved_bad(
                from, WK_ERR_ARGUMENT,
                "parameter %lld of group %lld is %s%.100s%s in the optimiser and %s%.100s%s in the file", (long long)k,
                (long long)g, own ? "\"" : "", own ? wk__show(own).text : "missing", own ? "\"" : "", there ? "\"" : "",
                there ? wk__show(there).text : "missing", there ? "\"" : "");
        }
    }
    return true;
}

/* ---- in: what it has learned ------------------------------------------------------------------------------------- */

static bool restore_parameter(const wk__optim_saved *from, const wk__optim *optim, int64_t g, int64_t k, wk__trained *t,
                              int states)
{
    const wk__body *body = wk__body_of(t->parameter);
    wk__text name = {0};
    saved_name(optim, g, k, &name);
    wk__text_char(&name, '.', 1);
    const int64_t length = name.length;
    wk__text_add(&name, "step");
    bool fine = !name.failed && wk__optim_saved_whole(from, name.data, &t->steps);
    if (fine && t->steps < 0)
        fine = wk__optim_saved_bad(from, WK_ERR_FORMAT, "%s is negative", wk__show(name.data).text);
    for (int s = 0; s < states && fine && t->steps > 0; s++) {
        name.length = length;
        wk__text_add(&name, optim->rule->state[s]);
        t->state[s] = name.failed ? NULL
                                  : wk__optim_saved_take(from, name.data, body->dtype == WK_F64 ? WK_F64 : WK_F32,
                                                         body->ndim, body->shape, body->storage->device->id);
        fine = t->state[s] != NULL;
        if (fine) wk__handle_hold(&t->state[s]->handle);
    }
    if (name.failed) wk__optim_saved_bad(from, WK_ERR_MEMORY, "out of host memory");
    wk__text_end(&name);
    return fine;
}

static bool restore_group(const wk__optim_saved *from, const wk__optim *optim, int64_t g, wk__group_of *out)
{
    const wk__group_of *group = &optim->group[g];
    void *options = options_of(from, optim, g);
    if (!options) return false;
    bool fine = wk__optim_group_begin(out, optim->rule, options, group->count);
    for (int64_t k = 0; k < group->count && fine; k++)
        fine = wk__optim_group_add(out, group->item[k].parameter, group->item[k].name);
    if (!fine) return wk__optim_saved_bad(from, WK_ERR_MEMORY, "out of host memory");
    for (int64_t k = 0; k < group->count && !optim->rule->restore; k++)
        if (!restore_parameter(from, optim, g, k, &out->item[k], out->states)) return false;
    return true;
}

static bool all_taken(const wk__optim_saved *from)
{
    for (int64_t k = 0; k < from->list->count; k++)
        if (!from->taken[k])
            return wk__optim_saved_bad(from, WK_ERR_SHAPE,
                                       "it has a tensor \"%s\", the optimiser has none of that name",
                                       wk__show(from->list->item[k].name).text);
    return true;
}

bool wk__optim_restore(const wk__optim_saved *from, const wk__optim *optim, wk__restored *out)
{
    *out = (wk__restored){0};
    if (!same_optimiser(from, optim)) return false;
    out->group = wk__alloc_zero((size_t)optim->groups, sizeof *out->group);
    bool fine = out->group || wk__optim_saved_bad(from, WK_ERR_MEMORY, "out of host memory");
    while (fine && out->groups < optim->groups) {
        fine = restore_group(from, optim, out->groups, &out->group[out->groups]);
        out->groups++;
    }
    if (fine && optim->rule->restore) fine = optim->rule->restore(from, optim, &out->group[0], &out->memory);
    fine = fine && all_taken(from);
    if (!fine) wk__optim_restored_end(optim, out);
    return fine;
}

void wk__optim_take_over(wk__optim *optim, wk__restored *from)
{
    const wk__restored old = {.group = optim->group, .groups = optim->groups, .memory = optim->memory};
    optim->group = from->group;
    optim->capacity = from->groups;
    optim->memory = from->memory;
    *from = old;
    wk__optim_restored_end(optim, from);
}

void wk__optim_restored_end(const wk__optim *optim, wk__restored *from)
{
    for (int64_t g = 0; g < from->groups; g++) wk__optim_group_end(&from->group[g]);
    if (from->memory) optim->rule->forget(from->memory);
    wk__free(from->group);
    *from = (wk__restored){0};
}
