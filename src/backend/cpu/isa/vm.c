/* SPDX-License-Identifier: Apache-2.0 */
/* VM table of one instruction set, and the loops that run a program block by block. */
#include "block_io.h"
#include "tables.h"

static void end(VM_ARGUMENTS)
{
}

/* Prevents false dependencies of later SSE code on the upper halves of the registers. */
static inline void leave_vectors(void)
{
#if WIDTH > 16
    _mm256_zeroupper();
#endif
}

#define START(program, s, i)                                                                                           \
    ((vm_function *)(program)->op)(program, s, i, zero, zero, zero, zero, zero, zero, zero, zero)

static void run(const wk__vm_ins *program, wk__vm_state *s, int64_t from, int64_t to)
{
    const V zero = {0};
    s->count = LANES;
    for (; to - from >= LANES; from += LANES) START(program, s, from);
    if (from < to) {
        s->count = to - from;
        START(program, s, from);
    }
    leave_vectors();
}

static void run_steps(const wk__vm_ins *program, wk__vm_state *s, int64_t from, int64_t to, int64_t count)
{
    const V zero = {0};
    s->count = count;
    for (; from < to; from++) START(program, s, from);
    leave_vectors();
}

/* Ends a block of run_held() and jumps to the next one. Without tail calls (unoptimised builds) the stack grows with
 * each block, so run_held() receives chunks instead of rows. */
static void again(VM_ARGUMENTS)
{
    if (i < s->loop_end) {
        in = s->loop_start;
        ((vm_function *)in->op)(in, s, i + LANES, x0, x1, x2, x3, x4, x5, x6, x7);
        return;
    }
    char *sum = s->loop_accumulator;
    store_vector(sum, x4);
    store_vector(sum + WIDTH, x5);
    store_vector(sum + 2 * WIDTH, x6);
    store_vector(sum + 3 * WIDTH, x7);
}

static void start_held(const wk__vm_ins *program, wk__vm_state *s, int64_t i)
{
    const V zero = {0};
    const char *sum = s->loop_accumulator;
    ((vm_function *)program->op)(program, s, i, zero, zero, zero, zero, load_vector(sum), load_vector(sum + WIDTH),
                                 load_vector(sum + 2 * WIDTH), load_vector(sum + 3 * WIDTH));
}

static void run_held(const wk__vm_ins *program, wk__vm_state *s, int64_t from, int64_t to, void *sum)
{
    int64_t whole = (to - from) / LANES * LANES;
    s->loop_start = program;
    s->loop_accumulator = sum;
    s->count = LANES;
    s->loop_end = from + whole - LANES;
    if (whole > 0) start_held(program, s, from);
    from += whole;
    if (from < to) {
        s->count = to - from;
        s->loop_end = from;
        start_held(program, s, from);
    }
    leave_vectors();
}

static void fence(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

const wk__vm WK__ISA_NAME(wk__vm) = {
    .lanes = LANES,
    .table = {&WK__ISA_NAME(wk__vm_f32), &WK__ISA_NAME(wk__vm_f64), &WK__ISA_NAME(wk__vm_i32),
              &WK__ISA_NAME(wk__vm_i64)},
    .load = WK__ISA_NAME(wk__vm_load),
    .store = WK__ISA_NAME(wk__vm_store),
    .store_nontemporal = WK__ISA_NAME(wk__vm_stream),
    .gather = WK__ISA_NAME(wk__vm_fetch),
    .convert = WK__ISA_NAME(wk__vm_convert),
    .narrow = WK__ISA_NAME(wk__vm_narrow),
    .to_bool = WK__ISA_NAME(wk__vm_truth),
    .generate = WK__ISA_NAME(wk__vm_source_ops),
    .end = (wk__vm_op *)end,
    .loop = (wk__vm_op *)again,
    .run = run,
    .run_loop = run_held,
    .run_steps = run_steps,
    .fence = fence,
};
