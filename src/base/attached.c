/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory that the innermost scope or an object owns (attached.h). */
#include "attached.h"
#include "alloc.h"

static void free_block(void *block)
{
    wk__free(block);
}
static const wk__handle_type block_kind = {.name = "text", .destroy = free_block};

const void *wk__attach(wk_site site, _Atomic(wk__attached *) *list, void *block)
{
    wk_context *context = wk__context();
    if (context->scope >= 0) {
        if (wk__handle_new(context, &block_kind, block, site)) return block;
        wk__free(block);
        return NULL;
    }
    wk__attached *added = wk__alloc(sizeof *added);
    if (!added) {
        wk__free(block);
        return NULL;
    }
    added->block = block;
    added->before = atomic_load_explicit(list, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(list, &added->before, added, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return block;
}

void wk__attached_free(_Atomic(wk__attached *) *list)
{
    wk__attached *last = atomic_load_explicit(list, memory_order_acquire);
    while (last) {
        wk__attached *before = last->before;
        wk__free(last->block);
        wk__free(last);
        last = before;
    }
}
