/* SPDX-License-Identifier: Apache-2.0 */
/* wk_load: a file into a network, exactly or as far as names agree. */
#include "base/alloc.h"
#include "base/options.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include "tensor_file.h"
#include <string.h>
#include <wick/io.h>

/* ---- lists of names ---------------------------------------------------------------------------------------------- */

/* Names to be returned; each is valid only until the file is closed. */
typedef struct names {
    const char **item;
    int64_t count, capacity;
} names;

static bool add_name(const wk__tensor_file *from, names *list, const char *name)
{
    if (!wk__grow(&list->item, &list->capacity, list->count + 1, sizeof *list->item)) {
        wk__error_set(from->site, WK_ERR_MEMORY, "load: out of host memory");
        return false;
    }
    list->item[list->count++] = name;
    return true;
}

/* Returns the names as one block: pointers, ended by NULL, and strings. NULL on allocation failure, recorded. */
static const char *const *copy_names(const wk__tensor_file *from, const names *list)
{
    size_t bytes = sizeof(char *) * ((size_t)list->count + 1);
    for (int64_t k = 0; k < list->count; k++) bytes += strlen(list->item[k]) + 1;
    const char **pointer = wk__alloc_zero(1, bytes);
    char *text = pointer ? (char *)(pointer + list->count + 1) : NULL;
    if (!pointer) wk__error_set(from->site, WK_ERR_MEMORY, "load: out of host memory");
    for (int64_t k = 0; pointer && k < list->count; k++) {
        const size_t length = strlen(list->item[k]) + 1;
        pointer[k] = memcpy(text, list->item[k], length);
        text += length;
    }
    return pointer;
}

/* ---- comparing names --------------------------------------------------------------------------------------------- */

/* Common and different names of a network and a file. */
typedef struct comparison {
    wk__tensor_list *both; /* tensors of the network that the file has */
    names missing;         /* tensors of the network that are not in the file */
    names unexpected;      /* tensors of the file that are not in the network */
} comparison;

static bool compare(const wk__tensor_file *from, const wk__tensor_list *list, comparison *c)
{
    bool *known = wk__alloc_zero((size_t)from->header.count + 1, sizeof *known);
    bool fine = known != NULL;
    if (!fine) wk__error_set(from->site, WK_ERR_MEMORY, "load: out of host memory");
    for (int64_t k = 0; k < list->count && fine; k++) {
        const wk__named_tensor *item = &list->item[k];
        const wk__safetensors_tensor *t = wk__safetensors_find(&from->header, item->name);
        if (t) known[t - from->header.tensors] = true;
        fine = t ? wk__tensor_list_append(from->site, c->both, item->name, item->tensor)
                 : add_name(from, &c->missing, item->name);
    }
    for (int64_t k = 0; k < from->header.count && fine; k++) {
        const wk__safetensors_tensor *t = from->header.by_name[k];
        if (!known[t - from->header.tensors]) fine = add_name(from, &c->unexpected, t->name);
    }
    wk__free(known);
    return fine;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Blocks of names for the program. */
typedef struct reports {
    const char *const *missing, *const *unexpected;
} reports;

bool wk__load_list(const wk__tensor_file *from, const wk__tensor_list *list)
{
    wk_tensor **made = wk__alloc_zero(2 * (size_t)list->count + 1, sizeof *made);
    if (!made) wk__error_set(from->site, WK_ERR_MEMORY, "%s: out of host memory", from->op);
    bool fine = made && wk__tensor_file_read_list(from, "", list, made);
    for (int64_t k = 0; fine && k < list->count; k++) made[list->count + k] = list->item[k].tensor;
    fine = fine && wk__assign_all(made + list->count, made, list->count);
    wk__free(made);
    return fine;
}

static bool load_open(const wk__tensor_file *from, wk_module *m, const wk_load_options *o, reports *out)
{
    wk_tensors *list = wk__module_state_dict(from->site, from->op, m), *both = wk_tensors_new_at(from->site);
    if (!list || !both) return false;
    const bool strict = wk__option_or(o->strict, 1) != 0;
    const wk__match_rules rules = {.convert = o->convert, .may_convert = true};
    comparison c = {.both = wk__tensor_list_of(both)};
    const wk__tensor_list *wanted = strict ? wk__tensor_list_of(list) : c.both;
    bool fine = compare(from, wk__tensor_list_of(list), &c);
    if (fine && o->missing) fine = (out->missing = copy_names(from, &c.missing)) != NULL;
    if (fine && o->unexpected) fine = (out->unexpected = copy_names(from, &c.unexpected)) != NULL;
    fine = fine && wk__tensor_file_check_tensors(from, "", wanted, "network", rules) &&
           (!strict || wk__tensor_file_check_names(from, "", wanted, "network")) && wk__load_list(from, wanted);
    wk__free(c.missing.item);
    wk__free(c.unexpected.item);
    return fine;
}

/* Stores a block in *to for the program; the innermost scope or m owns it. Returns false after recording an error. */
static bool report(wk_site site, wk_module *m, const char *const *block, const char *const **to)
{
    if (!block || !to) return true;
    *to = wk__attach(site, &wk__module_of(m)->texts, (void *)(uintptr_t)block);
    if (!*to) wk__error_set(site, WK_ERR_MEMORY, "load: out of host memory");
    return *to != NULL;
}

wk_code wk_load_at(wk_site site, wk_module *m, const char *path, const wk_load_options *options)
{
    wk_load_options o;
    wk__io_error error;
    wk__call_scope c;
    reports made = {0};
    wk__tensor_file from = {.site = site, .op = "load"};
    if (!wk__options(site, from.op, options, &o)) return wk_error_code();
    if (o.missing) *o.missing = NULL;
    if (o.unexpected) *o.unexpected = NULL;
    if (!wk__module_check(m, site, from.op) || !wk__check_path(site, from.op, path)) return wk_error_code();
    wk_context *context = wk__context(); /* errors are delivered after the program has the names */
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (!wk__call_begin(&c, WK__FRAME_CALL, from.op, site, WK__GRAD_OFF)) {
        wk__frame_end(context, before);
        return wk_error_code();
    }
    const wk_code code = wk__tensor_file_open(&from, path, &error);
    bool fine = code == WK_OK || wk__tensor_file_error(&from, code, &error);
    if (fine) {
        fine = (!o.mmap || wk__tensor_file_map(&from)) && load_open(&from, m, &o, &made);
        wk__tensor_file_close(&from);
    }
    wk__call_end(&c, NULL, 0);
    fine = report(site, m, made.missing, o.missing) && fine;
    fine = report(site, m, made.unexpected, o.unexpected) && fine;
    wk__frame_end(context, before);
    return fine ? WK_OK : wk_error_code();
}
