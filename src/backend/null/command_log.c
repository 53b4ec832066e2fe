/* SPDX-License-Identifier: Apache-2.0 */
/* Command log of the null devices: copies of all commands, and their text. */
#include "command_log.h"

#include <pthread.h>

#include "base/alloc.h"

/* A program and the wk__memory structs of its operands, so that both outlive the caller's. */
typedef struct logged_program {
    wk__program group;
    wk__memory memory[WK__MAX_OPERANDS];
} logged_program;

/* Work and everything it points to. */
typedef struct logged_work {
    wk__work work;
    wk__work_args kernel;
    wk__contraction sum;
    wk__memory memory[WK__WORK_OPERANDS];
    logged_program group, prologue[WK__FACTORS];
} logged_work;

typedef struct entry {
    int command;
    int64_t bytes;
    logged_work *work;
} entry;

static struct {
    pthread_mutex_t mutex; /* several threads flush */
    entry *entries;
    int64_t kept, room;
    int64_t count[WK__NULL_COMMANDS];
} plan = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- writing ------------------------------------------------------------------------------------------------- */

static void free_entry(entry *e)
{
    wk__free(e->work);
}

/* Appends an entry and takes ownership of its work. Beyond WK__NULL_KEPT it only counts. Returns false on allocation
 * failure. */
static bool append(entry e)
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
    plan.count[e.command] += noted;
    pthread_mutex_unlock(&plan.mutex);
    return noted;
}

static void copy_operand(wk__operand *operand, wk__memory *memory)
{
    *memory = *operand->memory;
    operand->memory = memory;
}

static void copy_group(logged_program *to, const wk__program *group)
{
    to->group = *group;
    for (int k = 0; k < group->noperands; k++) copy_operand(&to->group.operand[k], &to->memory[k]);
}

static void copy_kernel(logged_work *to, const wk__work_args *kernel)
{
    to->kernel = *kernel;
    to->work.args = &to->kernel;
    for (int k = 0; k < WK__WORK_OPERANDS; k++)
        if (kernel->operand[k].memory) copy_operand(&to->kernel.operand[k], &to->memory[k]);
    for (int k = 0; k < WK__FACTORS; k++)
        if (kernel->prologue[k]) {
            copy_group(&to->prologue[k], kernel->prologue[k]);
            to->kernel.prologue[k] = &to->prologue[k].group;
        }
    if (kernel->contraction) {
        to->sum = *kernel->contraction;
        to->kernel.contraction = &to->sum;
    }
}

bool wk__null_log_append_work(const wk__work *work)
{
    logged_work *copy = wk__alloc_zero(1, sizeof *copy);
    if (!copy) return false;
    copy->work = (wk__work){.family = work->family};
    if (work->args) copy_kernel(copy, work->args);
    if (work->program) {
        copy_group(&copy->group, work->program);
        copy->work.program = &copy->group.group;
    }
    return append((entry){.command = work->family, .work = copy});
}

bool wk__null_log_append_bytes(int command, int64_t bytes)
{
    return append((entry){.command = command, .bytes = bytes});
}

void wk__null_log_clear(void)
{
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept; k++) free_entry(&plan.entries[k]);
    wk__free(plan.entries);
    plan.entries = NULL;
    plan.kept = plan.room = 0;
    for (int command = 0; command < WK__NULL_COMMANDS; command++) plan.count[command] = 0;
    pthread_mutex_unlock(&plan.mutex);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

int64_t wk__null_log_count(int command)
{
    pthread_mutex_lock(&plan.mutex);
    int64_t count = plan.count[command];
    pthread_mutex_unlock(&plan.mutex);
    return count;
}

int64_t wk__null_log_work_count(void)
{
    int64_t count = 0;
    for (int family = 0; family < WK__WORK_FAMILIES; family++) count += wk__null_log_count(family);
    return count;
}

/* The returned copy stays valid when more commands are logged. */
const wk__work *wk__null_log_work_at(int family, int64_t i)
{
    const wk__work *found = NULL;
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept && !found; k++)
        if (plan.entries[k].command == family && i-- == 0) found = &plan.entries[k].work->work;
    pthread_mutex_unlock(&plan.mutex);
    return found;
}

const wk__program *wk__null_log_program_at(int64_t i)
{
    const wk__work *work = wk__null_log_work_at(WK__PROGRAM, i);
    return work ? work->program : NULL;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

static void add_group(wk__text *text, const wk__program *group)
{
    char *program = wk__program_dump(group);
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

/* Appends "matmul f32 m 4 n 5 k 6 batch 2 x 3". */
static void add_matmul(wk__text *text, const wk__matmul *product)
{
    wk__text_format(text, "matmul %s m %lld n %lld k %lld", wk_dtype_str((wk_dtype)product->a.dtype),
                    (long long)product->m, (long long)product->n, (long long)product->k);
    if (product->nbatch == 0) return;
    wk__text_add(text, " batch");
    add_shape(text, product->nbatch, product->batch);
}

static void add_coordinate(wk__text *text, char factor, const wk__affine_index *q, int indices)
{
    wk__text_format(text, ", %c (%lld", factor, (long long)q->offset);
    for (int i = 0; i < indices; i++)
        if (q->coefficient[i]) wk__text_format(text, " %+lld i%d", (long long)q->coefficient[i], i);
    wk__text_format(text, ") / %lld in %lld", (long long)q->divisor, (long long)q->extent);
}

/* Appends "contraction f32 sums f32, space 2 x 3 x 8, sum 3 x 5, b (-1 +2 i2 +1 i4) / 1 in 16". */
static void add_contraction(wk__text *text, const wk__work *work)
{
    const wk__work_args *kernel = work->args;
    const wk__contraction *sum = kernel->contraction;
    wk__text_format(text, "contraction %s sums %s, space", wk_dtype_str((wk_dtype)kernel->operand[1].dtype),
                    wk_dtype_str((wk_dtype)sum->dtype));
    add_shape(text, kernel->ndim, kernel->shape);
    wk__text_add(text, ", sum");
    add_shape(text, sum->nsummed, sum->extent);
    for (int factor = 0; factor < WK__FACTORS; factor++)
        for (int k = 0; k < sum->naffine[factor]; k++)
            add_coordinate(text, "ab"[factor], &sum -> affine[factor][k], kernel -> ndim + sum -> nsummed);
}

static void add_along(wk__text *text, const wk__work *work)
{
    const wk__work_args *kernel = work->args;
    wk__text_format(text, "kernel %s %s, dim %d, mode %d, space", wk__work_family_of(work)->name,
                    wk_dtype_str((wk_dtype)kernel->operand[0].dtype), kernel->dim, kernel->mode);
    add_shape(text, kernel->ndim, kernel->shape);
}

/* Appends a line, followed by the programs of epilogue and prologues. */
static void add_work(wk__text *text, const wk__work *work)
{
    const wk__work_family *family = wk__work_family_of(work);
    wk__matmul product;
    if (family->is_program)
        wk__text_add(text, "run");
    else if (family->is_contraction && wk__matmul_from_work(work, &product))
        add_matmul(text, &product);
    else if (family->is_contraction)
        add_contraction(text, work);
    else
        add_along(text, work);
    wk__text_add(text, work->program && work->args ? ", then\n" : "\n");
    if (work->program) add_group(text, work->program);
    for (int k = 0; work->args && k < WK__FACTORS; k++) {
        if (!work->args->prologue[k]) continue;
        wk__text_format(text, "%c is fused\n", "ab"[k]);
        add_group(text, work->args->prologue[k]);
    }
}

static void add_entry(wk__text *text, const entry *e)
{
    static const char *const words[] = {
        [WK__NULL_UPLOAD] = "upload", [WK__NULL_COPY] = "copy", [WK__NULL_DOWNLOAD] = "download"};
    if (e->work)
        add_work(text, &e->work->work);
    else if (e->command == WK__NULL_SYNC)
        wk__text_add(text, "sync\n");
    else
        wk__text_format(text, "%s %lld bytes\n", words[e->command], (long long)e->bytes);
}

char *wk__null_log_text(void)
{
    wk__text text = {0};
    wk__text_add(&text, "");
    pthread_mutex_lock(&plan.mutex);
    for (int64_t k = 0; k < plan.kept; k++) add_entry(&text, &plan.entries[k]);
    pthread_mutex_unlock(&plan.mutex);
    if (text.failed) wk__text_free(&text);
    return text.data;
}
