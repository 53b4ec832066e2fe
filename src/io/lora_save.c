/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_lora_save: adapters into a folder of Hugging Face's peft. */
#include "base/alloc.h"
#include "lora_config.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Appends a parameter of an adapter at a path to a list. Returns false on error. */
static bool list_parameter(wk_site site, wk__tensor_list *list, const char *path, const char *end, wk_module *part)
{
    wk__text name = {0};
    wk__text_format(&name, "%s%s%s", WK__LORA_PREFIX, path, end);
    wk_tensor *weight = wk_module_parameter_at(site, part, "weight");
    if (name.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    const bool fine = !name.failed && weight && wk__tensor_list_append(site, list, name.data, weight);
    wk__text_free(&name);
    return fine;
}

bool wk__lora_list(wk_site site, wk__tensor_list *list, const wk__module_tree *tree, int64_t k, const wk__lora *l)
{
    wk__text path = {0};
    wk__module_tree_path(tree, k, &path);
    if (path.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    const bool fine = !path.failed && list_parameter(site, list, path.data, WK__LORA_A, l->a) &&
                      list_parameter(site, list, path.data, WK__LORA_B, l->b);
    wk__text_free(&path);
    return fine;
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

/* The adapters of a network. */
typedef struct saving {
    wk_site site;
    const char *folder;
    wk__module_tree tree;
    wk__lora_config config; /* of all adapters */
    bool transposed;        /* they are those of projections of GPT-2 */
    wk__lora_names names;   /* of the adapted layers */
} saving;

static const char op_save[] = "nn_lora_save";

static bool no_memory(const saving *s)
{
    wk__error_set(s->site, WK_ERR_MEMORY, "%s: out of host memory", op_save);
    return false;
}

/* Returns true if a linear layer without adapter has the same name as entry k, the last part of its path. */
static bool is_ambiguous(const wk__module_tree *tree, int64_t k)
{
    bool transposed;
    for (int64_t i = 1; i < tree->count; i++)
        if (strcmp(tree->entry[i].name, tree->entry[k].name) == 0 &&
            wk__lora_is_linear(tree->entry[i].module, &transposed))
            return true;
    return false;
}

/* Adds the name of entry k, or its path if the name is ambiguous, to the names. Returns false on error. */
static bool add_name(saving *s, int64_t k)
{
    wk__lora_names *names = &s->names;
    wk__text name = {0};
    if (is_ambiguous(&s->tree, k))
        wk__module_tree_path(&s->tree, k, &name);
    else
        wk__text_add(&name, s->tree.entry[k].name);
    bool known = false;
    for (int64_t n = 0; n < names->count && !known && !name.failed; n++) known = strcmp(names->name[n], name.data) == 0;
    const bool fits = !name.failed && wk__grow(&names->name, &names->capacity, names->count + 1, sizeof *names->name);
    if (!fits || known)
        wk__text_free(&name);
    else
        names->name[names->count++] = name.data;
    return fits || no_memory(s);
}

/* Lists the tensors and names of all adapters. Returns false on error. */
static bool list_adapters(saving *s, wk__tensor_list *list)
{
    for (int64_t k = 1; k < s->tree.count; k++) {
        const wk__lora *l = wk__lora_of(s->tree.entry[k].module);
        if (!l) continue;
        s->config = l->config;
        (void)wk__lora_is_linear(l->base, &s->transposed);
        if (!wk__lora_list(s->site, list, &s->tree, k, l) || !add_name(s, k)) return false;
    }
    if (list->count > 0) return true;
    wk__lora_report_none(s->site, op_save, s->tree.entry[0].module);
    return false;
}

/* Creates the folder unless it exists. Returns false on error. */
static bool make_folder(const saving *s)
{
    wk__io_error error;
    if (mkdir(s->folder, 0777) == 0 || errno == EEXIST) return true;
    const wk_code code = wk__io_fail_errno(&error, s->folder, "create the folder", errno);
    wk__error_set(s->site, code, "%s: %s", op_save, error.text);
    return false;
}

/* Writes adapter_config.json after the tensors, whose names were checked. Returns false on error. */
static bool write_config(const saving *s)
{
    wk__io_error error;
    wk__text text = {0}, path = wk__pretrained_path(s->folder, WK__LORA_CONFIG);
    wk__lora_config_write(&text, &s->config, s->transposed, &s->names);
    const wk_code code = text.failed || path.failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                                    : wk__atomic_file_save(path.data, text.data, text.length, &error);
    wk__text_free(&text);
    wk__text_free(&path);
    if (code != WK_OK) wk__error_set(s->site, code, "%s: %s", op_save, error.text);
    return code == WK_OK;
}

/* Writes both files. Returns false on error. */
static bool write_files(saving *s)
{
    wk_tensors *list = wk_tensors_new_at(s->site);
    if (!list || !list_adapters(s, wk__tensor_list_of(list)) || !make_folder(s)) return false;
    wk__metadata metadata = {0};
    wk__metadata_add(&metadata, "pt", "format");
    wk__text path = wk__pretrained_path(s->folder, WK__LORA_MODEL);
    bool fine = path.failed ? no_memory(s)
                            : wk__save_list(s->site, op_save, wk__tensor_list_of(list), &metadata, path.data) == WK_OK;
    fine = fine && write_config(s);
    wk__metadata_free(&metadata);
    wk__text_free(&path);
    return fine;
}

wk_code wk_nn_lora_save_at(wk_site site, wk_module *net, const char *folder)
{
    saving s = {.site = site, .folder = folder};
    wk__call_scope c;
    if (wk__error_pending() || !wk__module_check(net, site, op_save) || !wk__check_path(site, op_save, folder) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op_save, site, WK__GRAD_OFF))
        return wk_error_code();
    bool fine = wk__module_tree_build(&s.tree, net, site);
    if (fine) {
        fine = write_files(&s);
        wk__module_tree_free(&s.tree);
        for (int64_t k = 0; k < s.names.count; k++) wk__free(s.names.name[k]);
        wk__free(s.names.name);
    }
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}
