/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction set runs: asked of the CPU once. */
#include <stdatomic.h>
#include <string.h>

#include "../../base/environment.h"
#include "isa.h"

extern const wk__cpu_isa wk__cpu_isa_portable;
#if defined(__x86_64__)
extern const wk__cpu_isa wk__cpu_isa_avx2, wk__cpu_isa_avx512;
#elif defined(__aarch64__)
extern const wk__cpu_isa wk__cpu_isa_neon;
#endif

/* What the files of each set are compiled for: the levels v3 and v4 of x86-64. __builtin_cpu_supports asks both the CPU
 * and whether the system saves the wide registers. What else belongs to v3 (f16c, movbe, lzcnt) no CPU with these three
 * lacks, and not every compiler knows its name here. */
static bool supported(const wk__cpu_isa *isa)
{
#if defined(__x86_64__)
    if (isa == &wk__cpu_isa_avx2 || isa == &wk__cpu_isa_avx512) {
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
            return false;
    }
    if (isa == &wk__cpu_isa_avx512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    }
#endif
    (void)isa;
    return true;
}

static const wk__cpu_isa *const built[] = {
#if defined(__x86_64__)
    &wk__cpu_isa_avx512,
    &wk__cpu_isa_avx2,
#elif defined(__aarch64__)
    &wk__cpu_isa_neon,
#endif
    &wk__cpu_isa_portable,
};

/* Written once with equal contents, whichever thread comes first; hence no lock. */
static _Atomic(const wk__cpu_isa *) current;

const wk__cpu_isa *wk__cpu_isa_at(int index)
{
    for (size_t k = 0; k < sizeof built / sizeof *built; k++) {
        if (supported(built[k]) && index-- == 0) return built[k];
    }
    return NULL;
}

static const wk__cpu_isa *asked_for(const char *name)
{
    const wk__cpu_isa *isa;
    for (int k = 0; name && (isa = wk__cpu_isa_at(k)); k++) {
        if (strcmp(name, isa->name) == 0) return isa;
    }
    return NULL;
}

const wk__cpu_isa *wk__cpu_isa_current(void)
{
    const wk__cpu_isa *isa = atomic_load_explicit(&current, memory_order_acquire);
    if (isa) return isa;
    isa = asked_for(wk__setting_text(WK__SET_CPU));
    if (!isa) isa = wk__cpu_isa_at(0);
    atomic_store_explicit(&current, isa, memory_order_release);
    return isa;
}

void wk__cpu_isa_use(const wk__cpu_isa *isa)
{
    atomic_store_explicit(&current, isa, memory_order_release);
}
