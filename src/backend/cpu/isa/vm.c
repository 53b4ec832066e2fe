/* The table of one instruction set, and the loop that runs a program block by block. */
#include "../isa.h"
#include "memory.h"
#include "tables.h"

static void end(VM_ARGUMENTS)
{
}

static void run(const wk__vm_ins *program, wk__vm_state *s, int64_t from, int64_t to)
{
    const V zero = {0};
    vm_function *first = (vm_function *)program->op;
    s->count = LANES;
    for (; to - from >= LANES; from += LANES) first(program, s, from, zero, zero, zero, zero, zero, zero, zero, zero);
    if (from < to) {
        s->count = to - from;
        first(program, s, from, zero, zero, zero, zero, zero, zero, zero, zero);
    }
#if WIDTH > 16
    _mm256_zeroupper(); /* or everything that follows in SSE code drags the upper halves along */
#endif
}

static void fence(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#define STRING(x) #x
#define QUOTED(x) STRING(x)

static const wk__vm vm = {
    .lanes = LANES,
    .table = {&WK__ISA_NAME(wk__vm_f32), &WK__ISA_NAME(wk__vm_f64), &WK__ISA_NAME(wk__vm_i32),
              &WK__ISA_NAME(wk__vm_i64)},
    .load = WK__ISA_NAME(wk__vm_load),
    .store = WK__ISA_NAME(wk__vm_store),
    .stream = WK__ISA_NAME(wk__vm_stream),
    .fetch = WK__ISA_NAME(wk__vm_fetch),
    .convert = WK__ISA_NAME(wk__vm_convert),
    .narrow = WK__ISA_NAME(wk__vm_narrow),
    .truth = WK__ISA_NAME(wk__vm_truth),
    .source = WK__ISA_NAME(wk__vm_source_ops),
    .end = (wk__vm_op *)end,
    .run = run,
    .fence = fence,
};

extern const wk__gemm WK__ISA_NAME(wk__gemm);
const wk__cpu_isa WK__ISA_NAME(wk__cpu_isa) = {.name = QUOTED(WK__ISA), .vm = &vm, .gemm = &WK__ISA_NAME(wk__gemm)};
