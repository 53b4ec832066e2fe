/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_lora_load: adapters from a folder of Hugging Face's peft. The names of the tensors, not target_modules, decide
 * on the layers that are adapted. */
#include "lora_config.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include <string.h>

static const char op_load[] = "nn_lora_load";

/* Returns the length of the path in the name of a tensor lora_A; 0 for other tensors. */
static int64_t path_length(const char *name, const char **path)
{
    if (!wk__strip_prefix(WK__LORA_PREFIX, name, path)) return 0;
    const int64_t length = (int64_t)strlen(*path) - (int64_t)(sizeof WK__LORA_A - 1);
    return length > 0 && strcmp(*path + length, WK__LORA_A) == 0 ? length : 0;
}

/* Reports a tensor lora_A whose shape does not begin with r. */
static void report_rank(const wk__tensor_file *file, const wk__safetensors_tensor *t, int64_t r)
{
    wk__text text = {0};
    wk__text_format(&text, "%s: %s: ", op_load, wk__printable_name(file->file.path).text);
    wk__text_format(&text, "\"%s\" has shape ", wk__printable_name(t->name).text);
    wk__text_shape(&text, t->ndim, t->shape);
    wk__text_format(&text, "; expected (r, in) with \"r\" %lld of adapter_config.json", (long long)r);
    wk__error_set_text(file->site, WK_ERR_SHAPE, &text);
}

/* Appends the paths of the adapters in a file between commas. Returns false after recording an error. */
static bool list_paths(const wk__tensor_file *file, const wk__lora_config *config, wk__text *paths)
{
    for (int64_t k = 0; k < file->header.count; k++) {
        const wk__safetensors_tensor *t = file->header.by_name[k];
        const char *path;
        const int64_t length = path_length(t->name, &path);
        if (length == 0) continue;
        if (t->ndim != 2 || t->shape[0] != config->r) {
            report_rank(file, t, config->r);
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
                      wk__printable_name(file->file.path).text, WK__LORA_PREFIX, WK__LORA_A);
    return false;
}

/* Reads the tensors of the file into layers that are not yet part of the network. Returns false on error. */
static bool read_adapters(const wk__tensor_file *file, const wk__lora_plan *plan)
{
    wk_tensors *owner = wk_tensors_new_at(file->site);
    wk__tensor_list *list = owner ? wk__tensor_list_of(owner) : NULL;
    bool fine = list != NULL;
    for (int64_t k = 1; k < plan->tree.count && fine; k++)
        if (plan->layer[k]) fine = wk__lora_list(file->site, list, &plan->tree, k, wk__lora_of(plan->layer[k]));
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
    wk__text of_config = wk__pretrained_path(folder, WK__LORA_CONFIG),
             of_model = wk__pretrained_path(folder, WK__LORA_MODEL);
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
