/* SPDX-License-Identifier: Apache-2.0 */
/* Programs without gradients with one index tensor that may contain indices out of range. Op by op, the call that reads
 * it is rejected, and dependent values are never created. In other modes the error may be detected later: then
 * dependent tensors exist, but fail for the same reason when they are read. Everything else must be as op by op;
 * programs whose in-place writes may be affected are not compared. */
#include "oracles.h"
#include "xalloc.h"
#include "trace.h"
#include <string.h>

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* Programs that are not compared: those with gradients, with calls that fail for other values than indices, and with
 * one_hot, whose result is as large as its largest index. */
static bool is_not_comparable(const program *p)
{
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (s->removed) continue;
        const bool leaf = s->kind == STEP_MAKE && s->how & MAKE_LEAF;
        /* a carry also depends on whether its first operand exists */
        if (leaf || s->kind >= STEP_REQUIRE || s->kind == STEP_CARRY || s->kind == STEP_HOST_WRITE) return true;
        if (s->kind == STEP_CALL &&
            (op_entries[s->op].op->fault_message || strcmp(op_entries[s->op].op->name, "one_hot") == 0))
            return true;
    }
    return false;
}

bool index_corrupt(const program *p, program *spoiled)
{
    int found = -1, seen = 0;
    for (int k = 0; k < p->steps; k++)
        if (!p->step[k].removed && p->step[k].kind == STEP_MAKE && p->step[k].how & MAKE_INDEX &&
            p->seed / 2 % (uint64_t)++seen == 0)
            found = k;
    if (found < 0 || is_not_comparable(p)) return false;
    memcpy(spoiled, p, program_bytes(p));
    spoiled->step[found].argument[1].i += 2;
    return true;
}

/* ---- dependent values -------------------------------------------------------------------------------------------- */

enum { SOUND = 0, SEVERAL = 1 /* several causes */, UNSURE = 2 /* there may be a cause */ };

/* The reason why each slot cannot be computed: a hash of the message of the call that was rejected op by op. */
typedef struct causes {
    uint32_t of[MOST_SLOTS];
} causes;

static bool is_zero(const argument *a)
{
    return (a->kind == WK_VALUE_INT && a->i == 0) || (a->kind == WK_VALUE_FLOAT && a->f == 0);
}

/* Returns false if the call uses only the operand's shape, or multiplies it by beta = 0. */
static bool reads(const step *s, int k)
{
    const op_entry *r = &op_entries[s->op];
    for (int j = 0; k == 0 && j < s->arguments; j++)
        if (strcmp(r->parameter[j].name, "beta") == 0 && is_zero(&s->argument[j])) return false;
    return strcmp(r->op->category, "creation") != 0 && !strstr(r->op->name, "_like") && !(r->op->view && k > 0);
}

/* If an operand is empty, the values of the others may be unused, as in a scatter of nothing. */
static uint32_t cause_of(const step *s, const causes *c, const executor *other)
{
    uint32_t cause = SOUND;
    bool nothing = false;
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int slots = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < slots && reads(s, k); j++) {
            const uint32_t its = c->of[a->slot[j]];
            if (its != SOUND && its != cause) cause = cause == SOUND ? its : SEVERAL;
            nothing = nothing || other->empty[a->slot[j]];
        }
    }
    return cause != SOUND && nothing ? UNSURE : cause;
}

static int maker_of(const program *p, int slot)
{
    int k = 0;
    while (k < p->steps && (slot < p->step[k].out || slot >= p->step[k].out + p->step[k].results)) k++;
    return k;
}

/* Returns true if a valid operand is missing op by op because its call read the shape of a failed value; in the other
 * modes it exists. */
static bool is_only_missing(const executor *sync, const causes *c, const step *s)
{
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int slots = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < slots; j++)
            if (c->of[a->slot[j]] == SOUND && sync->passed[maker_of(sync->program, a->slot[j])]) return true;
    }
    return false;
}

/* Returns the cause of a result of a call with a failed operand. */
static uint32_t cause_of_result(const step *s, const causes *c, int result, uint32_t cause)
{
    const char *op = op_entries[s->op].op->name;
    /* each result has the elements of one operand, and only the shapes of the others */
    if (strcmp(op, "meshgrid") == 0) return c->of[s->argument[0].slot[result]];
    /* along a dimension of size 1, all indices are 0 */
    if (result == 1 && (strcmp(op, "cummax") == 0 || strcmp(op, "cummin") == 0)) return UNSURE;
    return cause;
}

/* Finds the causes of all slots. Returns false if a failed value, or a tensor with an operand that is missing only op
 * by op, is written in place: in the other modes the target and dependent values may be valid. */
static bool find_causes(const executor *sync, const executor *other, causes *c)
{
    const program *p = sync->program;
    size_t at = 0;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        uint32_t cause = s->kind == STEP_CALL && sync->passed[k] ? cause_of(s, c, other) : SOUND;
        for (; at < sync->used;
             at += sizeof(trace_entry) + (size_t)((const trace_entry *)(const void *)(sync->notes + at))->bytes) {
            const trace_entry *n = (const trace_entry *)(const void *)(sync->notes + at);
            if (n->step != k) break;
            if (n->what == NOTE_FAILED && n->code == WK_ERR_INDEX) cause = n->said;
        }
        const bool writes = s->kind == STEP_IN_PLACE || (s->kind == STEP_CALL && op_entries[s->op].writes);
        if (sync->passed[k] && writes && (c->of[s->argument[0].slot[0]] != SOUND || is_only_missing(sync, c, s)))
            return false;
        for (int j = 0; j < s->results && s->kind == STEP_CALL; j++) {
            const uint32_t its = cause == SOUND ? SOUND : cause_of_result(s, c, j, cause);
            c->of[s->out + j] = other->empty[s->out + j] ? SOUND : its;
        }
    }
    return true;
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static bool same_place(const trace_entry *a, const trace_entry *b)
{
    return a->step == b->step && a->slot == b->slot && a->what == b->what;
}

/* Returns true if an entry that only the other mode has concerns a value that is missing op by op. */
static bool is_only_in_other_mode(const executor *sync, const causes *c, const trace_entry *n)
{
    if (n->what == NOTE_FAILED) return n->code == WK_ERR_INDEX || sync->passed[n->step];
    return c->of[n->slot] != SOUND || n->bytes == 0 || sync->passed[maker_of(sync->program, n->slot)];
}

static bool extra_is_wrong(const causes *c, const trace_entry *n, verdict *v)
{
    if (n->what == NOTE_FAILED) return false;
    const uint32_t cause = c->of[n->slot];
    const char *what = NULL;
    if (cause == UNSURE) return false;
    if (n->code == WK_OK && cause != SOUND)
        what = "depends on a bad index, and can be read";
    else if (n->code == WK_ERR_INDEX && cause > UNSURE && n->said != cause)
        what = "fails with another message than the call op by op";
    if (what) snprintf(v->text, sizeof v->text, "t%d %s", n->slot, what);
    return what != NULL;
}

/* Both calls failed, but in the other mode the call reports an error of an earlier flush. */
static bool reports_late_index(const trace_entry *x, const trace_entry *y)
{
    return x->what == NOTE_FAILED && y->what == NOTE_FAILED && y->code == WK_ERR_INDEX;
}

bool trace_has_bad_index(const executor *m, bool *late)
{
    bool reported = false;
    *late = false;
    for (size_t at = 0; at < m->used;
         at += sizeof(trace_entry) + (size_t)((const trace_entry *)(const void *)(m->notes + at))->bytes) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        if (n->code != WK_ERR_INDEX) continue;
        reported = reported || n->what == NOTE_FAILED;
        *late = *late || n->what != NOTE_FAILED;
    }
    return reported;
}

/* Compares the runs. Missing slots have no entries at the end, or at steps that read them. Between kinds of device,
 * values may differ. */
bool index_runs_differ(const executor *sync, const executor *other, verdict *v)
{
    const bool numbers = sync->mode->gpu == other->mode->gpu || sync->program->exact;
    causes c;
    if (is_not_comparable(sync->program) || !find_causes(sync, other, &c)) return false;
    size_t at = 0;
    for (size_t to = 0; to < other->used;) {
        const trace_entry *y = (const trace_entry *)(const void *)(other->notes + to);
        const trace_entry *x = at < sync->used ? (const trace_entry *)(const void *)(sync->notes + at) : NULL;
        const size_t x_bytes = x ? sizeof *x + (size_t)x->bytes : 0, y_bytes = sizeof *y + (size_t)y->bytes;
        if (x && x->what == NOTE_FAILED && x->code == WK_ERR_INDEX) {
            at += x_bytes;
        } else if (x && same_place(x, y)) {
            if (!reports_late_index(x, y) && (x_bytes != y_bytes || memcmp(x, y, numbers ? x_bytes : sizeof *x) != 0)) {
                snprintf(v->text, sizeof v->text, "at step %d t%d differs from the result op by op (code %d)", x->step,
                         x->slot, y->code);
                return true;
            }
            at += x_bytes;
            to += y_bytes;
        } else if (is_only_in_other_mode(sync, &c, y)) {
            if (extra_is_wrong(&c, y, v)) return true;
            to += y_bytes;
        } else {
            snprintf(v->text, sizeof v->text, "at step %d t%d exists, but not op by op", y->step, y->slot);
            return true;
        }
    }
    for (; at < sync->used;
         at += sizeof(trace_entry) + (size_t)((const trace_entry *)(const void *)(sync->notes + at))->bytes) {
        const trace_entry *x = (const trace_entry *)(const void *)(sync->notes + at);
        if (x->what == NOTE_FAILED && x->code == WK_ERR_INDEX) continue;
        snprintf(v->text, sizeof v->text, "at step %d t%d is missing, but not op by op", x->step, x->slot);
        return true;
    }
    return false;
}

bool index_disagrees(const program *p, executor *base, executor *other, verdict *v)
{
    static const mode modes[] = {{.name = "default", .threads = 1},
                                 {.name = "nofuse", .nofuse = true, .threads = 1},
                                 {.name = "order", .threads = 1, .prologues = true, .order = 1}};
    static program *spoiled;
    if (!spoiled) spoiled = xcalloc(1, sizeof *spoiled);
    if (!index_corrupt(p, spoiled)) return false;
    counts->spoiled++;
    executor_run(base, spoiled, &mode_sync);
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        mode mode = modes[k];
        if (mode.order) mode.order = p->seed | 1;
        executor_run(other, spoiled, &mode);
        if (!index_runs_differ(base, other, v)) continue;
        const size_t n = strlen(v->text);
        snprintf(v->text + n, sizeof v->text - n, " (%s)", mode.name);
        return true;
    }
    return false;
}

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

/* Returns true if a thread reports an error although none of its values depends on a bad index. */
static bool reports_other_threads_index(const executor *sync, const executor *other, verdict *v)
{
    const program *p = sync->program;
    causes c;
    bool concerned[MOST_THREADS] = {false};
    if (!find_causes(sync, other, &c)) return false;
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (!s->removed && s->kind == STEP_CALL && (cause_of(s, &c, other) != SOUND || c.of[s->out] != SOUND))
            concerned[s->thread] = true;
    }
    for (size_t at = 0; at < other->used;
         at += sizeof(trace_entry) + (size_t)((const trace_entry *)(const void *)(other->notes + at))->bytes) {
        const trace_entry *n = (const trace_entry *)(const void *)(other->notes + at);
        if (n->what != NOTE_FAILED || n->code != WK_ERR_INDEX || concerned[p->step[n->step].thread]) continue;
        snprintf(v->text, sizeof v->text, "step %d reports another thread's bad index", n->step);
        return true;
    }
    return false;
}

/* Leaves out what is different where tensors lie on a GPU: wk_data fails, and wk_to gives a copy on the CPU. */
static void leave_out_cpu_memory(program *p)
{
    for (int k = 0; k < p->steps; k++) {
        step *s = &p->step[k];
        s->removed |= s->kind == STEP_TAKE_ADDRESS;
        for (int a = 0; a < s->arguments; a++) s->removed |= s->argument[a].kind == WK_VALUE_DEVICE;
    }
}

bool index_disagrees_on_gpu(const program *p, int kind, executor *base, executor *other, verdict *v)
{
    const mode modes[] = {{.name = "in turns", .threads = 1, .gpu = kind, .serialized = true},
                          {.name = "concurrent threads", .threads = 1, .gpu = kind}};
    static program *spoiled;
    bool late;
    if (!spoiled) spoiled = xcalloc(1, sizeof *spoiled);
    if (!index_corrupt(p, spoiled)) return false;
    driver_leave_out_writes(spoiled);
    leave_out_cpu_memory(spoiled);
    executor_run(base, spoiled, &mode_sync);
    if (!trace_has_bad_index(base, &late)) return false;
    counts->spoiled++;
    for (int k = p->concurrent && p->seed % 4 > 0; k < (p->concurrent ? 2 : 1); k++) {
        executor_run(other, spoiled, &modes[k]);
        if (!index_runs_differ(base, other, v) && !reports_other_threads_index(base, other, v)) continue;
        const size_t n = strlen(v->text);
        snprintf(v->text + n, sizeof v->text - n, " (%s)", modes[k].name);
        return true;
    }
    return false;
}
