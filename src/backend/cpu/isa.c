/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of the instruction set, once per process. */
#include <stdatomic.h>
#include <string.h>

#include "base/environment.h"
#include "isa.h"

extern const wk__vm wk__vm_portable;
extern const wk__gemm wk__gemm_portable[];
extern wk__scan_adjacent *const wk__scan_portable[WK_DTYPE_COUNT];
extern const wk__attention_passes *const wk__attention_portable[WK_DTYPE_COUNT];
extern wk__quantized_run *const wk__quantized_portable[];
extern wk__norm_backward_rows *const wk__norm_portable[WK_DTYPE_COUNT];

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
extern const wk__vm wk__vm_avx2, wk__vm_avx512;
extern const wk__gemm wk__gemm_avx2[], wk__gemm_avx512[], wk__gemm_avx512_bf16[];
extern wk__scan_adjacent *const wk__scan_avx2[WK_DTYPE_COUNT], *const wk__scan_avx512[WK_DTYPE_COUNT];
extern const wk__attention_passes *const wk__attention_avx2[WK_DTYPE_COUNT],
    *const wk__attention_avx512[WK_DTYPE_COUNT];
extern wk__quantized_run *const wk__quantized_avx2[], *const wk__quantized_avx512[];
extern const wk__quantized_digits wk__quantized_digits_avx2, wk__quantized_digits_avx512,
    wk__quantized_digits_avx512_vnni;
extern wk__norm_backward_rows *const wk__norm_avx2[WK_DTYPE_COUNT], *const wk__norm_avx512[WK_DTYPE_COUNT];

/* Features that the files of each set are compiled for: x86-64-v3 and -v4. __builtin_cpu_supports also checks that the
 * system saves the wide registers. The other features of v3 (f16c, movbe, lzcnt) are not tested: every CPU with these
 * three has them, and not every compiler accepts their names here. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_avx512_vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

static bool has_avx512_bf16(void)
{
    return has_avx512_vnni() && __builtin_cpu_supports("avx512bf16");
}
#elif defined(__aarch64__)
extern const wk__vm wk__vm_neon;
extern const wk__gemm wk__gemm_neon[];
extern wk__scan_adjacent *const wk__scan_neon[WK_DTYPE_COUNT];
extern const wk__attention_passes *const wk__attention_neon[WK_DTYPE_COUNT];
extern wk__quantized_run *const wk__quantized_neon[];
extern wk__norm_backward_rows *const wk__norm_neon[WK_DTYPE_COUNT];
#endif

/* Best first. Each entry requires the features of those below, whose kernels it uses for dtypes it has none for. */
static const wk__cpu_isa kinds[] = {
#if defined(__x86_64__)
    {"avx512_bf16", has_avx512_bf16, &wk__vm_avx512, wk__gemm_avx512_bf16, wk__scan_avx512, wk__attention_avx512,
     wk__quantized_avx512, &wk__quantized_digits_avx512_vnni, wk__norm_avx512},
    {"avx512_vnni", has_avx512_vnni, &wk__vm_avx512, wk__gemm_avx512, wk__scan_avx512, wk__attention_avx512,
     wk__quantized_avx512, &wk__quantized_digits_avx512_vnni, wk__norm_avx512},
    {"avx512", has_avx512, &wk__vm_avx512, wk__gemm_avx512, wk__scan_avx512, wk__attention_avx512, wk__quantized_avx512,
     &wk__quantized_digits_avx512, wk__norm_avx512},
    {"avx2", has_avx2, &wk__vm_avx2, wk__gemm_avx2, wk__scan_avx2, wk__attention_avx2, wk__quantized_avx2,
     &wk__quantized_digits_avx2, wk__norm_avx2},
#elif defined(__aarch64__)
    {"neon", always, &wk__vm_neon, wk__gemm_neon, wk__scan_neon, wk__attention_neon, wk__quantized_neon, NULL,
     wk__norm_neon},
#endif
    {"portable", always, &wk__vm_portable, wk__gemm_portable, wk__scan_portable, wk__attention_portable,
     wk__quantized_portable, NULL, wk__norm_portable},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* All threads compute the same value, so no lock is needed. */
static _Atomic(const wk__cpu_isa *) current;

const wk__cpu_isa *wk__cpu_isa_at(int index)
{
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].supported() && index-- == 0) return &kinds[k];
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
    isa = asked_for(wk__setting_text(WK__SETTING_CPU));
    if (!isa) isa = wk__cpu_isa_at(0);
    atomic_store_explicit(&current, isa, memory_order_release);
    return isa;
}

/* Terminates: the last entry, portable, supports every dtype. */
const wk__gemm *wk__cpu_gemm(wk_dtype dtype)
{
    for (const wk__cpu_isa *isa = wk__cpu_isa_current();; isa++)
        for (const wk__gemm *gemm = isa->gemm; gemm->dtype; gemm++)
            if (gemm->dtype == dtype) return gemm;
}

void wk__cpu_isa_use(const wk__cpu_isa *isa)
{
    atomic_store_explicit(&current, isa, memory_order_release);
}
