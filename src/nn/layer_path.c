/* SPDX-License-Identifier: Apache-2.0 */
/* Path of the layer in a message: the module whose forward runs, as named by the networks around it. */
#include "module.h"
#include <string.h>

/* Appends the path of `wanted` below `root`, "encoder.0"; nothing if root is transparent and wanted replaces it.
 * Returns false if it is not found, or on allocation failure. */
static bool find(wk_module *root, const wk_module *wanted, wk__text *path)
{
    wk__module_tree tree;
    if (!wk__handle_alive(root, &wk__module_kind) || !wk__module_tree_build(&tree, root, (wk_site){0})) return false;
    int64_t k = tree.count - 1;
    while (k > 0 && tree.entry[k].module != wanted) k--;
    const bool there = k > 0, in_its_place = there && wk__module_of(root)->is_transparent && tree.entry[k].parent == 0;
    if (there) wk__module_tree_path(&tree, k, path);
    wk__module_tree_free(&tree);
    return in_its_place || path->length > 0;
}

/* Writes the path from the inside outwards. Each module is searched in the module whose forward called it. If it is not
 * registered there, the path begins with it. */
static void write_path(const wk__module_frame *layer, wk__text *path)
{
    for (; layer->parent; layer = layer->parent) {
        wk__text longer = {0};
        wk_module *around = (wk_module *)(uintptr_t)layer->parent->module;
        if (!find(around, layer->module, &longer)) return;
        if (path->length) wk__text_format(&longer, longer.length ? ".%s" : "%s", path->data);
        wk__text_free(path);
        *path = longer;
    }
}

const char *wk__module_describe_layer(const wk__module_frame *layer, wk__text *out)
{
    wk__text path = {0};
    write_path(layer, &path);
    const char *kind = layer->library && path.length ? wk__module_of(layer->module)->kind.name : "";
    if (layer->library) wk__text_add(out, "forward: ");
    if (path.length) wk__text_format(out, layer->library ? "in layer %s (%s): " : "layer %s, ", path.data, kind);
    wk__text_free(&path);
    return kind;
}
