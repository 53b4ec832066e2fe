/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that stay in their blocks: of a GGUF file, or saved by wk_save; see pretrained.h. */
#include "nn/quantized_linear.h"
#include "pretrained.h"
#include <string.h>

bool wk__pretrained_block_format(const wk__safetensors_tensor *t, wk_block_format *format)
{
    const wk__block_format *blocks = t->gguf ? t->gguf->blocks : NULL;
    size_t length;
    if (t->ndim != 2) return false;
    if (!t->gguf) return t->dtype == WK_U8 && wk__is_blocks_name(t->name, &length, format);
    if (!blocks || blocks >= wk__block_formats + WK__BLOCK_OP_FORMATS) return false;
    *format = (wk_block_format)(blocks - wk__block_formats);
    return true;
}

/* Writes the name of the weight that a tensor of blocks replaces. Returns false if it is too long or not known. */
static bool name_of_weight(const wk__safetensors_tensor *t, char name[WK__PARAMETER_NAME])
{
    wk_block_format format;
    size_t length;
    if (t->gguf) return wk__pretrained_gguf_name(t->name, name);
    if (!wk__is_blocks_name(t->name, &length, &format) || length + sizeof "weight" > WK__PARAMETER_NAME) return false;
    memcpy(name, t->name, length);
    memcpy(name + length, "weight", sizeof "weight");
    return true;
}

/* Replaces the layer whose weight is tensor t, if it is linear. Returns false on error. */
static bool replace_layer(const wk__pretrained_call *l, wk_module *m, const wk__tensor_list *list,
                          const wk__safetensors_tensor *t)
{
    static const char end[] = ".weight";
    char name[WK__PARAMETER_NAME];
    wk_block_format format;
    wk_module *parent;
    bool known = false;
    if (!wk__pretrained_block_format(t, &format) || !name_of_weight(t, name)) return true;
    for (int64_t k = 0; k < list->count && !known; k++) known = strcmp(list->item[k].name, name) == 0;
    const size_t length = strlen(name);
    if (!known || length <= strlen(end)) return true;
    name[length - strlen(end)] = 0;
    const wk__item *item = wk__module_find_child(l->site, WK__PRETRAINED_OP, m, name, &parent);
    if (!item) return false;
    if (!wk__linear_fits_blocks(item->module, format)) return true;
    wk_module *now = wk__quantized_linear_of(l->site, item->module, format, true);
    return now && wk_module_replace_at(l->site, m, name, now);
}

static bool replace_layers(const wk__pretrained_call *l, wk_module *m, const wk__tensor_list *list, const char *name)
{
    wk__tensor_file file;
    wk__text path;
    bool fine = true;
    if (!wk__pretrained_open(l, name, &file, &path)) return false;
    for (int64_t k = 0; k < file.header.count && fine; k++) fine = replace_layer(l, m, list, &file.header.tensors[k]);
    wk__tensor_file_close(&file);
    wk__text_free(&path);
    return fine;
}

bool wk__pretrained_keep_blocks(const wk__pretrained_call *l, wk_module *m, const wk__tensor_list *list)
{
    for (int64_t k = 0; k < l->files.count; k++)
        if (!replace_layers(l, m, list, l->files.name[k])) return false;
    return true;
}
