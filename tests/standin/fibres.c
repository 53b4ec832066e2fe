/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one block: a fibre per thread, which yields where CUDA threads wait for each other. See fibres.h. */
#include "fibres_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { WARPS = FIBRES_THREADS / 32, PAGE = 4096 };
enum { NEW, READY, AT_BARRIER, AT_EXCHANGE, DONE };

fibres_state fibres = {.current = -1, .time = 1};

static unsigned ready[WARPS]; /* runnable lanes per warp */
static char *spare[FIBRES_THREADS];
static int spares, arrived, done;
static void *scheduler;

unsigned fibres_chance(unsigned below)
{
    fibres.seed = fibres.seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((fibres.seed >> 33) % below);
}

/* Pushes the callee-saved registers, switches stacks and resumes the other fibre. */
void fibres_switch(void **save, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n.globl fibres_switch\n.hidden fibres_switch\n.type fibres_switch, @function\nfibres_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\n"
        "mov %rsi,%rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size fibres_switch, . - fibres_switch\n");

static void yield_to_scheduler(void)
{
    fibres_switch(&fibres.fibre[fibres.current].sp, scheduler);
}

void fibres_fail(const char *format, ...)
{
    if (!fibres.failed) {
        const unsigned *group = fibres.shim->group, *thread = fibres.shim->thread;
        int used = snprintf(fibres.message, sizeof fibres.message, "block %u,%u,%u thread %u,%u,%u ", group[0],
                            group[1], group[2], thread[0], thread[1], thread[2]);
        va_list list;
        va_start(list, format);
        vsnprintf(fibres.message + used, sizeof fibres.message - (size_t)used, format, list);
        va_end(list);
    }
    fibres.failed = true;
    if (fibres.current >= 0) yield_to_scheduler(); /* and never resumes */
}

/* ---- synchronisation between threads ----------------------------------------------------------------------------- */

void fibres_barrier(int site)
{
    fibre *f = &fibres.fibre[fibres.current];
    if (done > 0) fibres_fail("waits at a barrier that %d threads have left the kernel without", done);
    f->state = AT_BARRIER;
    f->site = (unsigned)site;
    ready[fibres.current / 32] &= ~(1u << fibres.current % 32);
    arrived++;
    yield_to_scheduler();
}

/* Returns the number of lanes in a warp. */
static int lanes_of(int warp)
{
    const int left = fibres.threads - warp * 32;
    return left < 32 ? left : 32;
}

/* Returns true if every lane of the mask has reached the same exchange. */
static bool have_all_arrived(const fibre *warp, int lanes, const fibre *f)
{
    for (int k = 0; k < lanes; k++) {
        if (!(f->mask >> k & 1)) continue;
        if (warp[k].state == DONE) fibres_fail("lane %d of mask %08x has left the kernel", k, f->mask);
        if (warp[k].state != AT_EXCHANGE || warp[k].site != f->site) return false;
        if (warp[k].mask != f->mask) fibres_fail("meets lane %d with masks %08x and %08x", k, f->mask, warp[k].mask);
    }
    return true;
}

const uint64_t *fibres_exchange(int site, unsigned mask, uint64_t value, bool orders)
{
    const int lane = fibres.current % 32, w = fibres.current / 32, lanes = lanes_of(w);
    fibre *f = &fibres.fibre[fibres.current], *warp = f - lane;
    if (!(mask >> lane & 1)) fibres_fail("lane %d is not in its own mask %08x", lane, mask);
    if (lanes < 32) mask &= (1u << lanes) - 1;
    f->state = AT_EXCHANGE;
    f->site = (unsigned)site;
    f->mask = mask;
    f->given = value;
    ready[w] &= ~(1u << lane);
    if (!have_all_arrived(warp, lanes, f)) {
        yield_to_scheduler();
        return f->taken;
    }
    for (int k = 0; k < lanes; k++) {
        if (!(mask >> k & 1)) continue;
        warp[k].state = READY;
        for (int j = 0; j < lanes; j++) warp[k].taken[j] = warp[j].given;
    }
    fibres.warp_time[w] += orders;
    ready[w] |= mask;
    return f->taken;
}

/* ---- running a block --------------------------------------------------------------------------------------------- */

static void start(void)
{
    fibres.entry(fibres.launch->arguments);
    fibres.fibre[fibres.current].state = DONE;
    done++;
    if (arrived > 0) fibres_fail("leaves the kernel while %d threads wait at a barrier", arrived);
    yield_to_scheduler(); /* the scheduler runs on its own stack again, so this one is free */
}

/* Prepares a fibre's stack. On function entry rsp must be 8 modulo 16, as after a call; otherwise code that relies on
 * the alignment faults, in some kernels. */
static bool begin(fibre *f)
{
    if (spares > 0) {
        f->stack = spare[--spares];
    } else {
        char *stack = mmap(NULL, FIBRES_STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) return false;
        mprotect(stack, PAGE, PROT_NONE);
        f->stack = stack + PAGE;
    }
    void **top = (void **)(void *)(f->stack + FIBRES_STACK - 56);
    void (*first)(void) = start;
    top[0] = NULL; /* start has no caller */
    memcpy(&top[-1], &first, sizeof first);
    f->sp = top - 7;
    f->state = READY;
    return true;
}

/* No thread can run: reports a thread that waits, and for which lanes. */
static void report_deadlock(void)
{
    for (int k = 0; k < fibres.threads; k++) {
        const fibre *f = &fibres.fibre[k];
        if (f->state != AT_EXCHANGE) continue;
        unsigned there = 0;
        for (int j = k / 32 * 32; j < k / 32 * 32 + 32 && j < fibres.threads; j++)
            if (fibres.fibre[j].state == AT_EXCHANGE && fibres.fibre[j].site == f->site) there |= 1u << j % 32;
        fibres_fail("(not it, but thread %d) waits for lanes %08x, and only %08x come", k, f->mask, there);
        return;
    }
}

static void all_ready(void)
{
    for (int w = 0; w * 32 < fibres.threads; w++) ready[w] = lanes_of(w) == 32 ? ~0u : (1u << lanes_of(w)) - 1;
}

/* Resumes all threads at the barrier, after checking that every thread will arrive there. */
static void release_barrier(void)
{
    fibres.current = -1;
    if (arrived + done < fibres.threads) {
        report_deadlock();
        return;
    }
    for (int k = 1; k < fibres.threads; k++)
        if (fibres.fibre[k].site != fibres.fibre[0].site) fibres_fail("(threads 0 and %d) waits at another barrier", k);
    for (int k = 0; k < fibres.threads; k++) fibres.fibre[k].state = READY;
    all_ready();
    arrived = 0;
    fibres.time++;
}

static void run_lane(int thread)
{
    fibre *f = &fibres.fibre[thread];
    const unsigned x = fibres.shim->block[0], y = fibres.shim->block[1];
    fibres.current = thread;
    fibres.shim->thread[0] = (unsigned)thread % x;
    fibres.shim->thread[1] = (unsigned)thread / x % y;
    fibres.shim->thread[2] = (unsigned)thread / x / y;
    if (f->state == NEW && !begin(f)) {
        fibres.current = -1;
        fibres_fail("runs out of host memory for its stack");
        return;
    }
    fibres_switch(&scheduler, f->sp);
    if (f->state != DONE) return;
    ready[thread / 32] &= ~(1u << thread % 32);
    spare[spares++] = f->stack;
}

/* Runs each runnable lane of the warp, in ascending or descending order, until it waits. */
static void run_warp(int w)
{
    const bool down = fibres_chance(2) == 1;
    for (unsigned set = ready[w]; set != 0 && !fibres.failed;) {
        const int lane = down ? 31 - __builtin_clz(set) : __builtin_ctz(set);
        set &= ~(1u << lane);
        run_lane(w * 32 + lane);
    }
}

void fibres_run_block(void)
{
    const int warps = (fibres.threads + 31) / 32;
    arrived = done = 0;
    fibres.block_began = ++fibres.time;
    for (int k = 0; k < fibres.threads; k++) fibres.fibre[k].state = NEW;
    all_ready();
    while (!fibres.failed) {
        int w = (int)fibres_chance((unsigned)warps), looked = 0;
        for (; looked < warps && ready[w] == 0; looked++) w = (w + 1) % warps;
        if (looked < warps) {
            run_warp(w);
        } else if (done == fibres.threads) {
            break;
        } else {
            release_barrier();
        }
    }
    fibres.current = -1;
}

/* Frees the stacks of fibres that never resume. */
void fibres_free_stacks(void)
{
    for (int k = 0; k < fibres.threads; k++) {
        const unsigned state = fibres.fibre[k].state;
        if (state != NEW && state != DONE) spare[spares++] = fibres.fibre[k].stack;
    }
}
