/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_lora_save and wk_nn_lora_load: adapters in a folder of Hugging Face's peft.
 *
 *     adapter_config.json          rank, alpha, names of layers
 *     adapter_model.safetensors    base_model.model.PATH.lora_A.weight, ....lora_B.weight
 *
 * The names of the tensors, not target_modules, decide on the layers that a load adapts. */
#include "base/alloc.h"
#include "lora_config.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char model_file[] = "adapter_model.safetensors", config_file[] = "adapter_config.json";
static const char prefix[] = "base_model.model.", a_end[] = ".lora_A.weight", b_end[] = ".lora_B.weight";

/* Appends a parameter of an adapter at a path to a list. Returns false on error. */
static bool list_parameter(wk_site site, wk__tensor_list *list, const char *path, const char *end, wk_module *part)
{
    wk__text name = {0};
    wk__text_format(&name, "%s%s%s", prefix, path, end);
    wk_tensor *weight = wk_module_parameter_at(site, part, "weight");
    if (name.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    const bool fine = !name.failed && weight && wk__tensor_list_append(site, list, name.data, weight);
    wk__text_free(&name);
    return fine;
}

/* Appends the parameters of the adapter for entry k of a tree to a list. Returns false on error. */
static bool list_adapter(wk_site site, wk__tensor_list *list, const wk__module_tree *tree, int64_t k, const wk__lora *l)
{
    wk__text path = {0};
    wk__module_tree_path(tree, k, &path);
    if (path.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    const bool fine = !path.failed && list_parameter(site, list, path.data, a_end, l->a) &&
                      list_parameter(site, list, path.data, b_end, l->b);
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
    wk__lora_names names;   /* of the adapted layers: the last parts of their paths */
} saving;

static const char op_save[] = "nn_lora_save";

static bool no_memory(const saving *s)
{
    wk__error_set(s->site, WK_ERR_MEMORY, "%s: out of host memory", op_save);
    return false;
}

/* Adds the last part of a path to the names. Returns false on error. */
static bool add_name(saving *s, const char *name)
{
    for (int64_t k = 0; k < s->names.count; k++)
        if (strcmp(s->names.name[k], name) == 0) return true;
    if (!wk__grow(&s->names.name, &s->names.capacity, s->names.count + 1, sizeof *s->names.name)) return no_memory(s);
    s->names.name[s->names.count++] = name;
    return true;
}

/* Lists the tensors and names of all adapters. Returns false on error. */
static bool list_adapters(saving *s, wk__tensor_list *list)
{
    for (int64_t k = 1; k < s->tree.count; k++) {
        const wk__lora *l = wk__lora_of(s->tree.entry[k].module);
        if (!l) continue;
        s->config = l->config;
        (void)wk__lora_is_linear(l->base, &s->transposed);
        if (!list_adapter(s->site, list, &s->tree, k, l) || !add_name(s, s->tree.entry[k].name)) return false;
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

/* Writes adapter_config.json. Returns false on error. */
static bool write_config(const saving *s)
{
    wk__io_error error;
    wk__text text = {0}, path = wk__pretrained_path(s->folder, config_file);
    const bool is_text = wk__lora_config_write(&text, &s->config, s->transposed, &s->names);
    wk_code code = WK_OK;
    if (!is_text)
        code = wk__io_fail(&error, WK_ERR_ARGUMENT, "the name of a layer is not UTF-8");
    else if (text.failed || path.failed)
        code = wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory");
    else
        code = wk__atomic_file_save(path.data, text.data, text.length, &error);
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
    wk__text path = wk__pretrained_path(s->folder, model_file);
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
        wk__free(s.names.name);
    }
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static const char op_load[] = "nn_lora_load";

/* Returns the length of the path in the name of a tensor lora_A; 0 for other tensors. */
static int64_t path_length(const char *name, const char **path)
{
    if (!wk__strip_prefix(prefix, name, path)) return 0;
    const int64_t length = (int64_t)strlen(*path) - (int64_t)(sizeof a_end - 1);
    return length > 0 && strcmp(*path + length, a_end) == 0 ? length : 0;
}

/* Appends the paths of the adapters in a file between commas. Returns false after recording an error. */
static bool list_paths(const wk__tensor_file *file, const wk__lora_config *config, wk__text *paths)
{
    for (int64_t k = 0; k < file->header.count; k++) {
        const wk__safetensors_tensor *t = file->header.by_name[k];
        const char *path, *const name = t->name;
        const int64_t length = path_length(name, &path);
        if (length == 0) continue;
        if (t->ndim != 2 || t->shape[0] != config->r) {
            wk__text text = {0};
            wk__text_format(&text, "%s: %s: ", op_load, wk__printable_name(file->file.path).text);
            wk__text_format(&text, "\"%s\" has shape ", wk__printable_name(name).text);
            wk__text_shape(&text, t->ndim, t->shape);
            wk__text_format(&text, "; expected (r, in) with \"r\" %lld of adapter_config.json", (long long)config->r);
            wk__error_set_text(file->site, WK_ERR_SHAPE, &text);
            return false;
        }
        if (paths->length > 0) wk__text_add(paths, ",");
        wk__text_add_n(paths, path, length);
    }
    if (paths->length > 0 && !paths->failed) return true;
    if (paths->failed)
        wk__error_set(file->site, WK_ERR_MEMORY, "%s: out of host memory", op_load);
    else
        wk__error_set(file->site, WK_ERR_SHAPE, "%s: %s: no tensor is named \"%sPATH%s\"", op_load,
                      wk__printable_name(file->file.path).text, prefix, a_end);
    return false;
}

/* Reads the tensors of the file into layers that are not yet part of the network. Returns false on error. */
static bool read_adapters(const wk__tensor_file *file, const wk__lora_plan *plan)
{
    wk_tensors *owner = wk_tensors_new_at(file->site);
    wk__tensor_list *list = owner ? wk__tensor_list_of(owner) : NULL;
    bool fine = list != NULL;
    for (int64_t k = 1; k < plan->tree.count && fine; k++)
        if (plan->layer[k]) fine = list_adapter(file->site, list, &plan->tree, k, wk__lora_of(plan->layer[k]));
    return fine && wk__tensor_file_check_tensors(file, "", list, "network", (wk__match_rules){.convert = true}) &&
           wk__tensor_file_check_names(file, "", list, "network") && wk__load_list(file, list);
}

/* Adds the adapters of an open file to a network. Returns false on error. */
static bool load_open(const wk__tensor_file *file, wk_module *net, const wk__lora_config *config)
{
    wk__lora_plan plan;
    wk__text paths = {0};
    bool fine = list_paths(file, config, &paths);
    if (fine) {
        const wk__lora_targets targets = {.names = paths.data, .paths = true};
        fine = wk__lora_plan_create(&plan, file->site, op_load, net, config, &targets);
    }
    wk__text_free(&paths);
    if (!fine) return false;
    fine = read_adapters(file, &plan) && wk__lora_plan_apply(&plan, file->site, op_load);
    wk__lora_plan_free(&plan);
    return fine;
}

/* Reads both files. Returns false on error. */
static bool load_folder(wk_site site, wk_module *net, const char *folder)
{
    wk__io_error error;
    wk__lora_config config;
    wk__tensor_file file = {.site = site, .op = op_load};
    wk__text of_config = wk__pretrained_path(folder, config_file), of_model = wk__pretrained_path(folder, model_file);
    wk_code code = of_config.failed || of_model.failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                                       : wk__lora_config_read(of_config.data, &config, &error);
    if (code == WK_OK) code = wk__tensor_file_open(&file, of_model.data, &error);
    bool fine = code == WK_OK || wk__tensor_file_error(&file, code, &error);
    if (fine) {
        fine = load_open(&file, net, &config);
        wk__tensor_file_close(&file);
    }
    wk__text_free(&of_config);
    wk__text_free(&of_model);
    return fine;
}

wk_module *wk_nn_lora_load_at(wk_site site, wk_module *net, const char *folder)
{
    wk__call_scope c;
    if (!wk__module_check(net, site, op_load) || !wk__check_path(site, op_load, folder) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op_load, site, WK__GRAD_OFF))
        return NULL;
    wk__context()->frame.initial_off = true; /* the end of the call restores it */
    const bool fine = load_folder(site, net, folder);
    wk__call_end(&c, NULL, 0);
    return fine ? net : NULL;
}
