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

static wk__gemm_buffers *buffers_new(void)
{
    wk__gemm_buffers *buffers =
        wk__alloc(sizeof *buffers + LINE + WK__GEMM_BUFFER_A + WK__GEMM_BUFFER_B + WK__GEMM_BUFFER_C);
    if (!buffers) return NULL;
    *buffers = (wk__gemm_buffers){.a = at_line((char *)(buffers + 1))};
    buffers->b = buffers->a + WK__GEMM_BUFFER_A;
    buffers->c = buffers->b + WK__GEMM_BUFFER_B;
    return buffers;
}

bool wk__gemm_buffers_acquire(int64_t count, wk__gemm_buffers **list)
{
    *list = NULL;
    pthread_mutex_lock(&lock);
    while (count > 0 && kept) {
        wk__gemm_buffers *buffers = kept;
        kept = buffers->next;
        buffers->next = *list;
        *list = buffers;
        count--;
    }
    pthread_mutex_unlock(&lock);
    for (; count > 0; count--) {
        wk__gemm_buffers *buffers = buffers_new();
        if (!buffers) {
            wk__gemm_buffers_release(*list);
            *list = NULL;
            return false;
        }
        buffers->next = *list;
        *list = buffers;
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
