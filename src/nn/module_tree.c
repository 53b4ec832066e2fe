/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of modules: traversal without recursion, search by path, collection of tensors. */
#include "module.h"
#include "base/alloc.h"
#include <string.h>

/* ---- set of visited addresses ------------------------------------------------------------------------------------ */

/* A set of addresses with open addressing, at most half full. */
typedef struct pointer_set {
    const void **slot;
    int64_t count, capacity;
} pointer_set;

static const void **set_slot(const pointer_set *s, const void *address)
{
    uint64_t k = ((uint64_t)(uintptr_t)address >> 6) * 0x9e3779b97f4a7c15u >> 20;
    while (s->slot[k & (uint64_t)(s->capacity - 1)] && s->slot[k & (uint64_t)(s->capacity - 1)] != address) k++;
    return &s->slot[k & (uint64_t)(s->capacity - 1)];
}

static bool set_grow(pointer_set *s)
{
    pointer_set wide = {.count = s->count, .capacity = s->capacity ? 2 * s->capacity : 64};
    wide.slot = wk__alloc_zero((size_t)wide.capacity, sizeof *wide.slot);
    if (!wide.slot) return false;
    for (int64_t k = 0; k < s->capacity; k++)
        if (s->slot[k]) *set_slot(&wide, s->slot[k]) = s->slot[k];
    wk__free(s->slot);
    *s = wide;
    return true;
}

/* Inserts an address; *fresh: it was not in the set. Returns false on allocation failure. */
static bool set_insert(pointer_set *s, const void *address, bool *fresh)
{
    if (2 * (s->count + 1) > s->capacity && !set_grow(s)) return false;
    const void **place = set_slot(s, address);
    *fresh = !*place;
    *place = address;
    s->count += *fresh;
    return true;
}

/* ---- traversal --------------------------------------------------------------------------------------------------- */

static bool push(wk__module_tree *to, wk__tree_entry visit)
{
    if (!wk__grow(&to->entry, &to->capacity, to->count + 1, sizeof *to->entry)) return false;
    to->entry[to->count++] = visit;
    return true;
}

/* Pushes children in reverse order, so that the first is popped first. */
static bool expand(wk__module_tree *stack, wk_module *module, int64_t place)
{
    const wk__module *body = wk__module_of(module);
    bool fine = true;
    for (int64_t k = body->items; k-- > 0 && fine;)
        if (body->item[k].kind == WK__CHILD)
            fine = push(stack, (wk__tree_entry){body->item[k].module, place, body->item[k].name});
    return fine;
}

static bool walk(wk__module_tree *tree, wk__module_tree *stack, pointer_set *met)
{
    while (stack->count > 0) {
        wk__tree_entry visit = stack->entry[--stack->count];
        bool fresh;
        if (!set_insert(met, visit.module, &fresh)) return false;
        if (fresh && (!push(tree, visit) || !expand(stack, visit.module, tree->count - 1))) return false;
    }
    return true;
}

bool wk__module_tree_build(wk__module_tree *tree, wk_module *root, wk_site site)
{
    wk__module_tree stack = {0};
    pointer_set met = {0};
    memset(tree, 0, sizeof *tree);
    bool fine = push(&stack, (wk__tree_entry){root, -1, ""}) && walk(tree, &stack, &met);
    wk__module_tree_free(&stack);
    wk__free(met.slot);
    if (fine) return true;
    wk__module_tree_free(tree);
    wk__error_set(site, WK_ERR_MEMORY, "out of host memory");
    return false;
}

void wk__module_tree_free(wk__module_tree *tree)
{
    wk__free(tree->entry);
    memset(tree, 0, sizeof *tree);
}

/* Returns true if a path through entry k contains its name. */
static bool has_name(const wk__module_tree *tree, int64_t k)
{
    return !wk__module_of(tree->entry[tree->entry[k].parent].module)->is_transparent;
}

/* Writes the path backwards, from entry k to the root, into space of the computed length, which takes time linear in
 * the length. */
void wk__module_tree_path(const wk__module_tree *tree, int64_t k, wk__text *path)
{
    int64_t length = 0, begin = path->length;
    for (int64_t at = k; tree->entry[at].parent >= 0; at = tree->entry[at].parent)
        if (has_name(tree, at)) length += (int64_t)strlen(tree->entry[at].name) + 1;
    if (length == 0) return;
    wk__text_repeat(path, '.', length - 1);
    if (path->failed) return;
    char *end = path->data + begin + length - 1;
    for (int64_t at = k; tree->entry[at].parent >= 0; at = tree->entry[at].parent) {
        if (!has_name(tree, at)) continue;
        size_t n = strlen(tree->entry[at].name);
        memcpy(end - n, tree->entry[at].name, n);
        end -= n + 1;
    }
}

/* ---- search by path ---------------------------------------------------------------------------------------------- */

static bool has_any(const wk__module *body, wk__item_kind kind)
{
    for (int64_t k = 0; k < body->items; k++)
        if (body->item[k].kind == kind) return true;
    return false;
}

/* Appends a hint to the first child that has items of this kind, if the module itself has none. */
static void add_child_hint(wk__text *text, wk_module *module, wk__item_kind kind, wk_site site)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, module, site)) return;
    int64_t k = 1;
    while (k < tree.count && !has_any(wk__module_of(tree.entry[k].module), kind)) k++;
    if (k < tree.count) {
        wk__text_add(text, " itself; those of its child \"");
        wk__module_tree_path(&tree, k, text);
        wk__text_add(text, "\" are \"");
        wk__module_tree_path(&tree, k, text);
        wk__text_add(text, ".NAME\"");
    }
    wk__module_tree_free(&tree);
}

/* Reports that `kind` at a path does not exist: `module` has no item of kind `there` where the path needs it. */
static void report_not_found(wk_site site, const char *op, wk_module *module, wk__item_kind kind, wk__item_kind there,
                             const char *path)
{
    static const char *const one[] = {[WK__PARAMETER] = "parameter", [WK__BUFFER] = "buffer", [WK__CHILD] = "child"},
                             *const many[] = {
                                 [WK__PARAMETER] = "parameters", [WK__BUFFER] = "buffers", [WK__CHILD] = "children"};
    enum { SHOWN = 8 };
    const wk__module *body = wk__module_of(module);
    int64_t count = 0;
    wk__text text = {0};
    wk__text_format(&text, "%s: unknown %s \"%.100s\"; %s has ", op, one[kind], path, body->kind.name);
    for (int64_t k = 0; k < body->items; k++) {
        if (body->item[k].kind != there || count++ >= SHOWN) continue;
        if (count == 1) wk__text_format(&text, "the %s ", many[there]);
        wk__text_format(&text, count > 1 ? ", \"%.60s\"" : "\"%.60s\"", body->item[k].name);
    }
    if (count > SHOWN) wk__text_add(&text, ", ...");
    if (!count) {
        wk__text_format(&text, "no %s", many[there]);
        add_child_hint(&text, module, there, site);
    }
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
}

/* Returns the item of a kind at a path, and the module that has it; NULL on error. */
static const wk__item *find_item(wk_site site, const char *op, wk_module *m, wk__item_kind kind, const char *path,
                                 wk_module **parent)
{
    if (!wk__module_check(m, site, op) || !wk__array_check(path, 1, site, op, "the path")) return NULL;
    wk__item_kind there = kind;
    for (const char *rest = path;;) {
        while (wk__module_of(m)->is_transparent) m = wk__module_of(m)->item[0].module;
        size_t length = strcspn(rest, ".");
        bool last = !rest[length];
        const wk__item *item = wk__module_item(wk__module_of(m), rest, length);
        there = last ? kind : WK__CHILD;
        if (!item || item->kind != there) break;
        *parent = m;
        if (last) return item;
        m = item->module;
        rest += length + 1;
    }
    report_not_found(site, op, m, kind, there, path);
    return NULL;
}

static wk__handle *find(wk_site site, const char *op, wk_module *m, wk__item_kind kind, const char *path)
{
    wk_module *parent;
    const wk__item *item = find_item(site, op, m, kind, path, &parent);
    return item ? item->handle : NULL;
}

wk__item *wk__module_find_child(wk_site site, const char *op, wk_module *m, const char *path, wk_module **parent)
{
    const wk__item *item = find_item(site, op, m, WK__CHILD, path, parent);
    return item ? &wk__module_of(*parent)->item[item - wk__module_of(*parent)->item] : NULL;
}

wk_tensor *wk_module_parameter_at(wk_site site, wk_module *m, const char *path)
{
    return (wk_tensor *)find(site, "module_parameter", m, WK__PARAMETER, path);
}

wk_tensor *wk_module_buffer_at(wk_site site, wk_module *m, const char *path)
{
    return (wk_tensor *)find(site, "module_buffer", m, WK__BUFFER, path);
}

wk_module *wk_module_child_at(wk_site site, wk_module *m, const char *path)
{
    return (wk_module *)find(site, "module_child", m, WK__CHILD, path);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

int wk_module_child_count_at(wk_site site, const wk_module *m)
{
    if (!m || !wk__module_check(m, site, "module_child_count")) return 0;
    const wk__module *body = wk__module_of(m);
    int count = 0;
    for (int64_t k = 0; k < body->items; k++) count += body->item[k].kind == WK__CHILD;
    return count;
}

static const wk__item *child(wk_site site, const wk_module *m, int wanted, const char *op)
{
    if (!wk__module_check(m, site, op)) return NULL;
    const wk__module *body = wk__module_of(m);
    int count = 0;
    for (int64_t k = 0; k < body->items; k++)
        if (body->item[k].kind == WK__CHILD && count++ == wanted) return &body->item[k];
    wk__error_set(site, WK_ERR_INDEX, "%s: child index %d is out of range; %s has %d", op, wanted, body->kind.name,
                  count);
    return NULL;
}

wk_module *wk_module_child_by_index_at(wk_site site, const wk_module *m, int k)
{
    const wk__item *item = child(site, m, k, "module_child_by_index");
    return item ? item->module : NULL;
}

const char *wk_module_child_name_at(wk_site site, const wk_module *m, int k)
{
    const wk__item *item = child(site, m, k, "module_child_name");
    return item ? item->name : NULL;
}

/* ---- collection -------------------------------------------------------------------------------------------------- */

static bool collect_one(wk_site site, const wk__module_tree *tree, int64_t place, unsigned kinds, pointer_set *met,
                        wk__tensor_list *list)
{
    const wk__module *body = wk__module_of(tree->entry[place].module);
    bool fine = true;
    for (int64_t k = 0; k < body->items && fine; k++) {
        const wk__item *item = &body->item[k];
        bool fresh = false;
        wk__text path = {0};
        if (!(kinds >> item->kind & 1) || ((fine = set_insert(met, item->tensor, &fresh)) && !fresh)) continue;
        if (fine) wk__module_tree_path(tree, place, &path);
        if (path.length) wk__text_repeat(&path, '.', 1);
        wk__text_add(&path, item->name);
        fine = fine && !path.failed;
        if (!fine) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
        fine = fine && wk__tensor_list_append(site, list, path.data, item->tensor);
        wk__text_free(&path);
    }
    return fine;
}

static bool report_uninitialized(wk_site site, const char *op, const wk__module_tree *tree, int64_t place)
{
    wk__text path = {0};
    wk__module_tree_path(tree, place, &path);
    const bool named = path.data && *path.data; /* false for the root */
    wk__error_set(site, WK_ERR_STATE,
                  "%s: %s%s%.100s%s has no parameters before its first forward; call wk_forward once", op,
                  wk__module_of(tree->entry[place].module)->kind.name, named ? " \"" : "", named ? path.data : "",
                  named ? "\"" : "");
    wk__text_free(&path);
    return false;
}

bool wk__module_collect(wk_site site, const char *op, wk_module *root, unsigned kinds, wk__tensor_list *list)
{
    wk__module_tree tree;
    pointer_set met = {0};
    if (!wk__module_tree_build(&tree, root, site)) return false;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    bool fine = true;
    for (int64_t k = 0; k < tree.count && fine; k++) {
        if (wk__module_of(tree.entry[k].module)->uninitialized)
            fine = report_uninitialized(site, op, &tree, k);
        else
            fine = collect_one(site, &tree, k, kinds, &met, list);
    }
    wk__module_tree_free(&tree);
    wk__free(met.slot);
    wk__frame_end(context, before);
    return fine;
}

static wk_tensors *collect_list(wk_site site, const char *op, wk_module *m, unsigned kinds)
{
    if (!wk__module_check(m, site, op)) return NULL;
    wk_tensors *list = wk_tensors_new_at(site);
    if (!list || wk__module_collect(site, op, m, kinds, wk__tensor_list_of(list))) return list;
    wk__handle_release(&list->handle, site);
    return NULL;
}

wk_tensors *wk_parameters_at(wk_site site, wk_module *m)
{
    return collect_list(site, "parameters", m, 1u << WK__PARAMETER);
}

wk_tensors *wk_buffers_at(wk_site site, wk_module *m)
{
    return collect_list(site, "buffers", m, 1u << WK__BUFFER);
}
