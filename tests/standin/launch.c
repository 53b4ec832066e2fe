/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: loads a kernel's library, runs its blocks in an order determined by the seed, and handles processor
 * faults. */
#include "fibres_state.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POISON = 0xab };

char fibres_dynamic[FIBRES_SHARED] __attribute__((aligned(128)));

uint64_t fibres_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail_text(const char *why)
{
    fibres_fail("%s", why);
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

static int find_image(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    if (info->dlpi_addr != *(ElfW(Addr) *)user) return 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[k];
        char *from = (char *)info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD) continue;
        if (fibres.image == NULL || from < fibres.image) fibres.image = from;
        if (from + h->p_memsz > fibres.image_end) fibres.image_end = from + h->p_memsz;
    }
    return 1;
}

static void ignore(const void *at, int bytes, int kind, int multiple)
{
    (void)at, (void)bytes, (void)kind, (void)multiple;
}

static const void *known; /* the library of the last launch */

void fibres_forget(const void *library)
{
    if (known == library) known = NULL;
}

/* Prepares a library for launches. Its functions are set first, because code of the library that is called here may
 * already call the access hook. */
static const char *enter(void *library)
{
    if (library == known) return NULL;
    void (*sections)(void);
    shim_state *shim = dlsym(library, "shim");
    void *symbol = dlsym(library, "shim_sections");
    memcpy(&sections, &symbol, sizeof symbol);
    if (shim == NULL || symbol == NULL || shim->bytes != sizeof *shim) return "is not a library of kernels";
    shim->barrier = fibres_barrier;
    shim->exchange = fibres_exchange;
    shim->fail = fail_text;
    shim->access = ignore;
    shim->dynamic = fibres_dynamic;
    sections();
    struct link_map *map;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return "is not a library";
    fibres.image = fibres.image_end = NULL;
    dl_iterate_phdr(find_image, &map->l_addr);
    shim->access = fibres_memcheck;
    fibres.shim = shim;
    known = library;
    return NULL;
}

/* Returns a random step that is coprime to the number of blocks, so that stepping visits every block once. */
static unsigned step_through(unsigned blocks)
{
    unsigned step = blocks > 1 ? 1 + fibres_chance(blocks - 1) : 1;
    for (;; step++) {
        unsigned a = blocks, b = step;
        while (b != 0) {
            const unsigned rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return step;
    }
}

static void run_blocks(void)
{
    shim_state *shim = fibres.shim;
    const unsigned x = shim->grid[0], y = shim->grid[1], blocks = x * y * shim->grid[2];
    const unsigned step = step_through(blocks);
    const size_t fixed = (size_t)(shim->shared_end - shim->shared);
    uint64_t at = fibres_chance(blocks);
    for (unsigned k = 0; k < blocks && !fibres.failed; k++, at = (at + step) % blocks) {
        shim->group[0] = (unsigned)at % x;
        shim->group[1] = (unsigned)at / x % y;
        shim->group[2] = (unsigned)at / x / y;
        /* This covers the shared arrays of all kernels in the library. If they are large, only the first block poisons
         * them; reads of unwritten memory are still detected. */
        if (k == 0 || fixed < (64 << 10)) memset(shim->shared, POISON, fixed);
        memset(fibres_dynamic, POISON, fibres.launch->shared);
        fibres_run_block();
    }
}

/* ---- processor faults -------------------------------------------------------------------------------------------- */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { FAULTS = sizeof faults / sizeof faults[0] };
static struct sigaction before[FAULTS];
static volatile bool running;
static __thread bool runs_here;

/* Handles a fault. For a fault of another thread, it restores the previous handlers, and the instruction faults
 * again. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (!runs_here || !running || fibres.current < 0) {
        for (int k = 0; k < FAULTS; k++)
            if (faults[k] == signal) sigaction(signal, &before[k], NULL);
        return;
    }
    fibres_fail("signal %d at %p", signal, info->si_addr);
}

/* Installs the handlers and their stack for this thread during the launch, and restores the previous ones. */
static void run_guarded(void)
{
    static char stack[64 << 10];
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t mine = {.ss_sp = stack, .ss_size = sizeof stack}, other;
    sigaltstack(&mine, &other);
    for (int k = 0; k < FAULTS; k++) sigaction(faults[k], &action, &before[k]);
    runs_here = running = true;
    run_blocks();
    runs_here = running = false;
    for (int k = 0; k < FAULTS; k++) sigaction(faults[k], &before[k], NULL);
    sigaltstack(&other, NULL);
}

const char *fibres_run(const fibres_launch *launch, uint64_t with_seed, int seconds)
{
    char symbol[160];
    snprintf(symbol, sizeof symbol, "shim_call_%s", launch->name);
    void *found = dlsym(launch->library, symbol);
    if (found == NULL) return "no such kernel";
    memcpy(&fibres.entry, &found, sizeof found);
    const char *wrong = enter(launch->library);
    if (wrong != NULL) return wrong;
    shim_state *shim = fibres.shim;
    if (!fibres_memcheck_begin((size_t)(shim->shared_end - shim->shared) + FIBRES_SHARED + 8))
        return "out of host memory";
    memcpy(shim->grid, launch->grid, sizeof shim->grid);
    memcpy(shim->block, launch->block, sizeof shim->block);
    fibres.launch = launch;
    fibres.threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    fibres.failed = false;
    fibres.launch_began = fibres.time;
    fibres.deadline = fibres_now() + (uint64_t)seconds * 1000000000u;
    fibres.seed = with_seed;
    run_guarded();
    if (!fibres.failed) return NULL;
    fibres_free_stacks();
    return fibres.message;
}
