/* SPDX-License-Identifier: Apache-2.0 */
/* Packing buffers of products: acquired before anything is written, and kept for later products. */
#include "matmul.h"

#include <pthread.h>

#include "base/alloc.h"

enum { LINE = 64 };

/* One list per process: concurrent products share free buffers, and none is lost when a thread exits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wk__gemm_buffers *kept;

static char *at_line(char *data)
{
    return data + (LINE - (uintptr_t)data % LINE) % LINE;
}

static wk__gemm_buffers *space_new(void)
{
    wk__gemm_buffers *space =
        wk__alloc(sizeof *space + LINE + WK__GEMM_BUFFER_A + WK__GEMM_BUFFER_B + WK__GEMM_BUFFER_C);
    if (!space) return NULL;
    *space = (wk__gemm_buffers){.a = at_line((char *)(space + 1))};
    space->b = space->a + WK__GEMM_BUFFER_A;
    space->c = space->b + WK__GEMM_BUFFER_B;
    return space;
}

bool wk__gemm_buffers_acquire(int64_t count, wk__gemm_buffers **list)
{
    *list = NULL;
    pthread_mutex_lock(&lock);
    while (count > 0 && kept) {
        wk__gemm_buffers *space = kept;
        kept = space->next;
        space->next = *list;
        *list = space;
        count--;
    }
    pthread_mutex_unlock(&lock);
    for (; count > 0; count--) {
        wk__gemm_buffers *space = space_new();
        if (!space) {
            wk__gemm_buffers_release(*list);
            *list = NULL;
            return false;
        }
        space->next = *list;
        *list = space;
    }
    return true;
}

bool wk__gemm_buffers_add_prologue(wk__gemm_buffers *list)
{
    for (; list; list = list->next) {
        if (list->b_allocation) continue;
        list->b_allocation = wk__alloc(LINE + WK__GEMM_BUFFER_PROLOGUE + WK__CPU_WORKER_BYTES);
        if (!list->b_allocation) return false;
        list->b_computed = at_line(list->b_allocation);
    }
    return true;
}

void wk__gemm_buffers_release(wk__gemm_buffers *list)
{
    if (!list) return;
    wk__gemm_buffers *last = list;
    while (last->next) last = last->next;
    pthread_mutex_lock(&lock);
    last->next = kept;
    kept = list;
    pthread_mutex_unlock(&lock);
}

void wk__cpu_matmul_trim(void)
{
    pthread_mutex_lock(&lock);
    wk__gemm_buffers *list = kept;
    kept = NULL;
    pthread_mutex_unlock(&lock);
    while (list) {
        wk__gemm_buffers *next = list->next;
        wk__free(list->b_allocation);
        wk__free(list);
        list = next;
    }
}
