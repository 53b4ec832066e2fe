/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of the null devices: copies of what was ordered, and their text. */
#include "plan.h"

#include <pthread.h>

#include "../../base/alloc.h"

/* A group and the memory structs that its operands point to, so that both outlive the caller's. */
typedef struct noted_group {
    wk__group group;
    wk__memory memory[WK__MAX_OPERANDS];
} noted_group;

typedef struct noted_matmul {
    wk__matmul product;
    wk__memory memory[3];
    noted_group tail;
} noted_matmul;

typedef struct entry {
    wk__null_order order;
    int64_t bytes;
    noted_group *run;
    noted_matmul *matmul;
    wk__kernel kernel;
} entry;

static struct {
    pthread_mutex_t mutex; /* orders come from the threads that flush */
    entry *entries;
    int64_t kept, room;
    int64_t count[WK__NULL_ORDERS];
} plan = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- writing ------------------------------------------------------------------------------------------------- */

static void free_entry(entry *e)
{
    wk__free(e->run);
    wk__free(e->matmul);
}

/* Takes over what the entry points to. */
static bool note(entry e)
{
    bool noted = true;
    pthread_mutex_lock(&plan.mutex);
    if (plan.kept == WK__NULL_KEPT) {
        free_entry(&e);
    } else if (wk__grow(&plan.entries, &plan.room, plan.kept + 1, sizeof *plan.entries)) {
        plan.entries[plan.kept++] = e;
    } else {
        free_entry(&e);
        noted = false;
    }
    plan.count[e.order] += noted;
    pthread_mutex_unlock(&plan.mutex);
    return noted;
}

static void copy_operand(wk__operand *operand, wk__memory *memory)
{
    *memory = *operand->memory;
    operand->memory = memory;
}

static void copy_group(noted_group *to, const wk__group *group)
{
    to->group = *group;
    for (int k = 0; k < group->noperands; k++) copy_operand(&to->group.operand[k], &to->memory[k]);
}

bool wk__null_note_run(const wk__group *group)
{
    noted_group *copy = wk__alloc_zero(1, sizeof *copy);
    if (!copy) return false;
    copy_group(copy, group);
    return note((entry){.order = WK__NULL_RUN, .run = copy});
}

bool wk__null_note_matmul(const wk__matmul *product)
{
    noted_matmul *copy = wk__alloc_zero(1, sizeof *copy);
    if (!copy) return false;
    copy->product = *product;
    copy_operand(&copy->product.a, &copy->memory[0]);
    copy_operand(&copy->product.b, &copy->memory[1]);
    copy_operand(&copy->product.c, &copy->memory[2]);
    if (product->tail) {
        copy_group(&copy->tail, product->tail);
        copy->product.tail = &copy->tail.group;
    }
    return note((entry){.order = WK__NULL_MATMUL, .matmul = copy});
}

bool wk__null_note_kernel(const wk__kernel *kernel)
{
    return note((entry){.order = WK__NULL_KERNEL, .kernel = *kernel});
}

bool wk__null_note_bytes(wk__null_order order, int64_t bytes)
{
    return note((entry){.order = order, .bytes = bytes});
}

void wk__null_clear(void)
{
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept; k++) free_entry(&plan.entries[k]);
    wk__free(plan.entries);
    plan.entries = NULL;
    plan.kept = plan.room = 0;
    for (int order = 0; order < WK__NULL_ORDERS; order++) plan.count[order] = 0;
    pthread_mutex_unlock(&plan.mutex);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

int64_t wk__null_plan_count(wk__null_order order)
{
    pthread_mutex_lock(&plan.mutex);
    int64_t count = plan.count[order];
    pthread_mutex_unlock(&plan.mutex);
    return count;
}

/* What the i-th order of a kind points to, which does not move when more are added; an empty entry past the last. */
static entry find(wk__null_order order, int64_t i)
{
    entry found = {0};
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept; k++) {
        if (plan.entries[k].order != order || i-- > 0) continue;
        found = plan.entries[k];
        break;
    }
    pthread_mutex_unlock(&plan.mutex);
    return found;
}

const wk__group *wk__null_plan_group(int64_t i)
{
    const noted_group *noted = find(WK__NULL_RUN, i).run;
    return noted ? &noted->group : NULL;
}

const wk__matmul *wk__null_plan_matmul(int64_t i)
{
    const noted_matmul *noted = find(WK__NULL_MATMUL, i).matmul;
    return noted ? &noted->product : NULL;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

static void add_group(wk__text *text, const wk__group *group)
{
    char *program = wk__group_text(group);
    if (program) {
        wk__text_add(text, program);
    } else {
        text->failed = true;
    }
    wk__free(program);
}

static void add_shape(wk__text *text, int ndim, const int64_t *shape)
{
    for (int d = 0; d < ndim; d++) wk__text_format(text, "%s%lld", d > 0 ? " x " : " ", (long long)shape[d]);
}

/* "matmul f32 m 4 n 5 k 6 batch 2 x 3", and the program of the tail below it */
static void add_matmul(wk__text *text, const wk__matmul *product)
{
    wk__text_format(text, "matmul %s m %lld n %lld k %lld", wk_dtype_str((wk_dtype)product->a.dtype),
                    (long long)product->m, (long long)product->n, (long long)product->k);
    if (product->nbatch > 0) {
        wk__text_add(text, " batch");
        add_shape(text, product->nbatch, product->batch);
    }
    wk__text_add(text, product->tail ? ", then\n" : "\n");
    if (product->tail) add_group(text, product->tail);
}

static void add_kernel(wk__text *text, const wk__kernel *kernel)
{
    wk__text_format(text, "kernel %s %s, dim %d, mode %d, space", wk__work_families[kernel->family].name,
                    wk_dtype_str((wk_dtype)kernel->operand[0].dtype), kernel->dim, kernel->mode);
    add_shape(text, kernel->ndim, kernel->shape);
    wk__text_char(text, '\n', 1);
}

static void add_entry(wk__text *text, const entry *e)
{
    static const char *const words[] = {
        [WK__NULL_UPLOAD] = "upload", [WK__NULL_COPY] = "copy", [WK__NULL_DOWNLOAD] = "download"};
    switch (e->order) {
    case WK__NULL_RUN:
        wk__text_add(text, "run\n");
        add_group(text, &e->run->group);
        break;
    case WK__NULL_MATMUL: add_matmul(text, &e->matmul->product); break;
    case WK__NULL_KERNEL: add_kernel(text, &e->kernel); break;
    case WK__NULL_SYNC: wk__text_add(text, "sync\n"); break;
    default: wk__text_format(text, "%s %lld bytes\n", words[e->order], (long long)e->bytes); break;
    }
}

char *wk__null_plan_text(void)
{
    wk__text text = {0};
    wk__text_add(&text, "");
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept; k++) add_entry(&text, &plan.entries[k]);
    pthread_mutex_unlock(&plan.mutex);
    if (text.failed) wk__text_end(&text);
    return text.data;
}
