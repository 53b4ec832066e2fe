/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised optimiser state (optim_state.h): saving to lists, and loading from the lists of a file. */
#include "schedule_state.h"
#include "base/alloc.h"
#include "base/platform/file.h"
#include "engine/device_sync.h"
#include <string.h>
#include <wick/creation.h>
#include <wick/tensor.h>

/* Writes the name of parameter k of group g in files. Names are unique within a group's list only, so "0@1" is "0" of
 * group 1 if an earlier group has a "0" too. */
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

/* ---- saving ------------------------------------------------------------------------------------------------------ */

bool wk__optim_append_int(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, int64_t number)
{
    wk_tensor_options of = {.size = sizeof of, .device = {.kind = WK_CPU}};
    return wk__tensor_list_append_prefixed(site, list, prefix, name,
                                           wk_from_on_at(site, WK_I64, &number, sizeof number, NULL, 0, &of));
}

bool wk__optim_append_float(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, double number)
{
    wk_tensor_options of = {.size = sizeof of, .device = {.kind = WK_CPU}};
    return wk__tensor_list_append_prefixed(site, list, prefix, name,
                                           wk_from_on_at(site, WK_F64, &number, sizeof number, NULL, 0, &of));
}

static bool list_parameter(wk_site site, const wk__optim *optim, int64_t g, int64_t k, const char *prefix,
                           wk__tensor_list *list)
{
    const wk__param_group *group = &optim->group[g];
    const wk__param_state *t = &group->item[k];
    wk__text name = {0};
    saved_name(optim, g, k, &name);
    wk__text_repeat(&name, '.', 1);
    const int64_t length = name.length, steps = wk__optim_completed_steps(t);
    wk__text_add(&name, "step");
    bool fine = !name.failed && wk__optim_append_int(site, list, prefix, name.data, steps);
    for (int s = 0; s < group->states_per_param && steps > 0 && fine; s++) {
        name.length = length;
        wk__text_add(&name, wk__optim_state_name(optim->rule, group->options, s));
        fine = !name.failed &&
               wk__tensor_list_append_prefixed(site, list, prefix, name.data, wk__detached_copy(site, t->state[s]));
    }
    for (int i = 0; i < optim->rule->number_count && steps > 0 && fine; i++) {
        name.length = length;
        wk__text_add(&name, optim->rule->number_names[i]);
        fine = !name.failed && wk__optim_append_float(site, list, prefix, name.data, wk__optim_completed_numbers(t)[i]);
    }
    if (name.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    wk__text_free(&name);
    return fine;
}

static void add_setting(wk__metadata *pairs, int64_t g, const wk__optim_option *s, const void *options)
{
    const void *at = (const char *)options + s->offset;
    wk__text value = {0};
    if (s->kind == WK__OPTION_FLOAT)
        wk__text_double_shortest(&value, *(const double *)at);
    else if (s->kind == WK__OPTION_INT)
        wk__text_format(&value, "%lld", (long long)*(const int64_t *)at);
    else if (s->kind == WK__OPTION_BOOL)
        wk__text_add(&value, *(const bool *)at ? "true" : "false");
    else if (*(const char *const *)at)
        wk__text_add(&value, *(const char *const *)at);
    if (value.data) wk__metadata_add(pairs, value.data, "optim.%lld.%s", (long long)g, s->name);
    pairs->failed = pairs->failed || value.failed;
    wk__text_free(&value);
}

static void add_group(wk__metadata *pairs, const wk__optim *optim, int64_t g)
{
    const wk__param_group *group = &optim->group[g];
    char count[24];
    for (size_t s = 0; s < optim->rule->option_count; s++)
        add_setting(pairs, g, &optim->rule->option[s], group->options);
    snprintf(count, sizeof count, "%lld", (long long)group->count);
    wk__metadata_add(pairs, count, "optim.%lld.parameters", (long long)g);
    for (int64_t k = 0; k < group->count; k++)
        wk__metadata_add(pairs, group->item[k].name, "optim.%lld.parameter.%lld", (long long)g, (long long)k);
}

/* Runs recorded work, and waits for devices on which it may have failed: only then is it known which steps completed.
 * Ignores devices without state of this optimiser. */
static bool wait_for_steps(wk_site site, const wk__optim *optim)
{
    wk_context *context = wk__context();
    const bool failed = wk__error_pending();
    wk__flush(context);
    for (int64_t g = 0; g < optim->groups; g++) {
        const wk__param_group *group = &optim->group[g];
        for (int64_t k = 0; k < group->count * group->states_per_param; k++) {
            if (!group->state[k]) continue;
            if (!wk__materialize(group->state[k], site)) return false;
            wk__device_sync_if_inflight(wk__body_of(group->state[k])->storage->device, NULL);
        }
    }
    if (context->posted_failure) wk__report_posted_failure(context);
    return failed || !wk__error_pending();
}

bool wk__optim_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list, wk__metadata *pairs)
{
    if (!wait_for_steps(site, optim)) return false;
    wk__metadata_add(pairs, wk__optim_algorithm_name(optim->rule), "optim");
    wk__metadata_add_int(pairs, "optim.groups", optim->groups);
    for (int64_t g = 0; g < optim->groups; g++) {
        add_group(pairs, optim, g);
        for (int64_t k = 0; k < optim->group[g].count && !optim->rule->save_state; k++)
            if (!list_parameter(site, optim, g, k, prefix, list)) return false;
    }
    wk__schedules_save(optim, pairs);
    return !optim->rule->save_state || optim->rule->save_state(site, op, optim, prefix, list);
}

/* ---- contents of a file ------------------------------------------------------------------------------------------ */

bool wk__optim_load_error(const wk__optim_checkpoint *from, wk_code code, const char *format, ...)
{
    wk__text text = {0};
    va_list args;
    wk__text_format(&text, "%s: %s: ", from->op, wk__printable_name(from->path).text);
    va_start(args, format);
    wk__text_vformat(&text, format, args);
    va_end(args);
    wk__error_set_text(from->site, code, &text);
    return false;
}

static int64_t find(const wk__optim_checkpoint *from, const char *name)
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

bool wk__optim_has_tensor(const wk__optim_checkpoint *from, const char *name)
{
    return find(from, name) >= 0;
}

wk_tensor *wk__optim_load_tensor(const wk__optim_checkpoint *from, const char *name, wk_dtype dtype, int ndim,
                                 const int64_t *shape, wk_device device)
{
    const int64_t k = find(from, name);
    wk__text wanted = {0};
    wk__text_add(&wanted, wk_dtype_str(dtype));
    wk__text_shape(&wanted, ndim, shape);
    const wk__body *body = k >= 0 ? wk__body_of(from->list->item[k].tensor) : NULL;
    const bool same = body && wk__same_shape(ndim, shape, body->ndim, body->shape);
    if (wanted.failed) {
        wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    } else if (!body) {
        wk__optim_load_error(from, WK_ERR_SHAPE, "missing \"%s\", which is %s in the optimiser",
                             wk__printable_name(name).text, wanted.data);
    } else if (!same || body->dtype != dtype) {
        wk__text there = {0};
        wk__text_tensor(&there, from->list->item[k].tensor);
        wk__optim_load_error(from, same ? WK_ERR_DTYPE : WK_ERR_SHAPE,
                             "\"%s\" is %s in the optimiser but %s in the file", wk__printable_name(name).text,
                             wanted.data, there.data ? there.data : "another");
        wk__text_free(&there);
    } else {
        wk__text_free(&wanted);
        from->used[k] = true;
        wk_tensor *x = wk_to_at(from->site, from->list->item[k].tensor, device);
        return x && wk__materialize(x, from->site) ? x : NULL;
    }
    wk__text_free(&wanted);
    return NULL;
}

bool wk__optim_load_int(const wk__optim_checkpoint *from, const char *name, int64_t *number)
{
    wk_tensor *x = wk__optim_load_tensor(from, name, WK_I64, 0, NULL, (wk_device){.kind = WK_CPU});
    *number = x ? wk_item_i64_at(from->site, x) : 0;
    return x != NULL;
}

bool wk__optim_load_float(const wk__optim_checkpoint *from, const char *name, double *number)
{
    wk_tensor *x = wk__optim_load_tensor(from, name, WK_F64, 0, NULL, (wk_device){.kind = WK_CPU});
    *number = x ? wk_item_at(from->site, x) : 0;
    return x != NULL;
}

/* ---- loading options --------------------------------------------------------------------------------------------- */

static bool parse_setting(const wk__optim_option *s, const char *text, void *options)
{
    void *at = (char *)options + s->offset;
    if (s->kind == WK__OPTION_STRING) {
        const char **where = at; /* validate_options replaces it by a static string */
        *where = text;
        return true;
    }
    if (s->kind == WK__OPTION_FLOAT) return text && wk__parse_double(text, at);
    if (s->kind == WK__OPTION_INT) {
        const wk__metadata_entry alone = {"", text};
        int64_t *number = at;
        *number = text ? wk__metadata_find_int(&alone, 1, "") : 0;
        return *number > 0;
    }
    bool *flag = at;
    *flag = text && strcmp(text, "true") == 0;
    return text && (*flag || strcmp(text, "false") == 0);
}

/* Returns the options of group g from the file; the caller frees them. NULL on error. */
static void *parse_options(const wk__optim_checkpoint *from, const wk__optim *optim, int64_t g)
{
    const wk__optim_algorithm *rule = optim->rule;
    void *own = wk__alloc(rule->size);
    if (!own) {
        wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
        return NULL;
    }
    memcpy(own, optim->group[g].options, rule->size);
    bool fine = true;
    for (size_t s = 0; s < rule->option_count && fine; s++) {
        const char *text =
            wk__metadata_find(from->pair, from->pairs, "optim.%lld.%s", (long long)g, rule->option[s].name);
        fine = parse_setting(&rule->option[s], text, own);
        if (!fine)
            wk__optim_load_error(from, WK_ERR_FORMAT, "optim.%lld.%s is %s", (long long)g, rule->option[s].name,
                                 text ? wk__printable_name(text).text : "missing");
    }
    if (fine && wk__optim_check_options(from->site, from->op, rule, own)) return own;
    wk__free(own);
    return NULL;
}

/* Checks that the file has state of the same algorithm, for the same parameters in the same groups. */
static bool check_same_optimiser(const wk__optim_checkpoint *from, const wk__optim *optim)
{
    const char *kind = wk__metadata_find(from->pair, from->pairs, "optim");
    if (!kind)
        return wk__optim_load_error(from, WK_ERR_FORMAT,
                                    "not an optimiser state file: metadata key \"optim\" is missing");
    if (strcmp(kind, wk__optim_algorithm_name(optim->rule)) != 0)
        return wk__optim_load_error(from, WK_ERR_ARGUMENT, "the file holds the state of %s, but the optimiser is %s",
                                    wk__printable_name(kind).text, wk__optim_algorithm_name(optim->rule));
    const int64_t groups = wk__metadata_find_int(from->pair, from->pairs, "optim.groups");
    if (groups != optim->groups)
        return wk__optim_load_error(from, WK_ERR_ARGUMENT, "the file has %lld parameter groups, the optimiser has %lld",
                                    (long long)groups, (long long)optim->groups);
    for (int64_t g = 0; g < groups; g++) {
        const wk__param_group *group = &optim->group[g];
        for (int64_t k = 0; k <= group->count; k++) {
            const char *own = k < group->count ? group->item[k].name : NULL;
            const char *there =
                wk__metadata_find(from->pair, from->pairs, "optim.%lld.parameter.%lld", (long long)g, (long long)k);
            if (own && there ? strcmp(own, there) == 0 : !own && !there) continue;
            return wk__optim_load_error(
                from, WK_ERR_ARGUMENT,
                "parameter %lld of group %lld is %s%.100s%s in the optimiser but %s%.100s%s in the file", (long long)k,
                (long long)g, own ? "\"" : "", own ? wk__printable_name(own).text : "missing", own ? "\"" : "",
                there ? "\"" : "", there ? wk__printable_name(there).text : "missing", there ? "\"" : "");
        }
    }
    return true;
}

/* ---- loading state ----------------------------------------------------------------------------------------------- */

static bool restore_parameter(const wk__optim_checkpoint *from, const wk__optim *optim, int64_t g, int64_t k,
                              const wk__param_group *out)
{
    wk__param_state *t = &out->item[k];
    const wk__body *body = wk__body_of(t->parameter);
    wk__text name = {0};
    saved_name(optim, g, k, &name);
    wk__text_repeat(&name, '.', 1);
    const int64_t length = name.length;
    wk__text_add(&name, "step");
    bool fine = !name.failed && wk__optim_load_int(from, name.data, &t->steps);
    if (fine && t->steps < 0)
        fine = wk__optim_load_error(from, WK_ERR_FORMAT, "%s is negative", wk__printable_name(name.data).text);
    for (int s = 0; s < out->states_per_param && fine && t->steps > 0; s++) {
        name.length = length;
        wk__text_add(&name, wk__optim_state_name(optim->rule, out->options, s));
        t->state[s] = name.failed ? NULL
                                  : wk__optim_load_tensor(from, name.data, body->dtype == WK_F64 ? WK_F64 : WK_F32,
                                                          body->ndim, body->shape, body->storage->device->id);
        fine = t->state[s] != NULL;
        if (fine) wk__handle_hold(&t->state[s]->handle);
    }
    for (int i = 0; i < optim->rule->number_count && fine && t->steps > 0; i++) {
        name.length = length;
        wk__text_add(&name, optim->rule->number_names[i]);
        fine = !name.failed && wk__optim_load_float(from, name.data, &t->number[i]);
    }
    if (name.failed) wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    wk__text_free(&name);
    return fine;
}

static bool restore_group(const wk__optim_checkpoint *from, const wk__optim *optim, int64_t g, wk__param_group *out)
{
    const wk__param_group *group = &optim->group[g];
    void *options = parse_options(from, optim, g);
    if (!options) return false;
    bool fine = wk__param_group_init(out, optim->rule, options, group->count);
    for (int64_t k = 0; k < group->count && fine; k++)
        fine = wk__param_group_add(out, group->item[k].parameter, group->item[k].name);
    if (!fine) return wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    for (int64_t k = 0; k < group->count && !optim->rule->load_state; k++)
        if (!restore_parameter(from, optim, g, k, out)) return false;
    return true;
}

static bool check_all_used(const wk__optim_checkpoint *from)
{
    for (int64_t k = 0; k < from->list->count; k++)
        if (!from->used[k])
            return wk__optim_load_error(from, WK_ERR_SHAPE,
                                        "unexpected tensor \"%s\": the optimiser has none of that name",
                                        wk__printable_name(from->list->item[k].name).text);
    return true;
}

bool wk__optim_load_state(const wk__optim_checkpoint *from, const wk__optim *optim, wk__optim_loaded *out)
{
    *out = (wk__optim_loaded){0};
    if (!check_same_optimiser(from, optim)) return false;
    out->group = wk__alloc_zero((size_t)optim->groups, sizeof *out->group);
    bool fine = out->group || wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    while (fine && out->groups < optim->groups) {
        fine = restore_group(from, optim, out->groups, &out->group[out->groups]);
        out->groups++;
    }
    if (fine && optim->rule->load_state) fine = optim->rule->load_state(from, optim, &out->group[0], &out->memory);
    fine = fine && check_all_used(from) && wk__schedules_load(from, optim, out->group, &out->position);
    if (!fine) wk__optim_loaded_free(optim, out);
    return fine;
}

void wk__optim_commit_state(wk__optim *optim, wk__optim_loaded *from)
{
    const wk__optim_loaded old = {
        .group = optim->group, .groups = optim->groups, .memory = optim->shared_state, .position = from->position};
    wk__schedules_commit(optim, from->position);
    optim->group = from->group;
    optim->capacity = from->groups;
    optim->shared_state = from->memory;
    *from = old;
    wk__optim_loaded_free(optim, from);
}

void wk__optim_loaded_free(const wk__optim *optim, wk__optim_loaded *from)
{
    for (int64_t g = 0; g < from->groups; g++) wk__param_group_free(&from->group[g]);
    if (from->memory) optim->rule->free_shared_state(from->memory);
    wk__free(from->group);
    wk__free(from->position);
    *from = (wk__optim_loaded){0};
}
