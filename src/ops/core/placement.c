/* SPDX-License-Identifier: Apache-2.0 */
/* Soft placement (placement.h). The mode and the counters are process-wide atomics. */
#include "placement.h"
#include <stdlib.h>
#include <string.h>
#include <wick/device.h>
#include <wick/log.h>
#include "base/environment.h"
#include "base/log.h"
#include "entries.h"

/* WICK_PLACEMENT: "strict" (the default) or "soft". */
static atomic_int mode = -1; /* -1: not read yet */
static atomic_llong copies, copied_bytes;

bool wk__soft_placement_enabled(void)
{
    int now = atomic_load_explicit(&mode, memory_order_relaxed);
    if (now < 0) {
        const char *text = wk__setting_text(WK__SETTING_PLACEMENT);
        now = text && strcmp(text, "soft") == 0;
        atomic_store(&mode, now);
    }
    return now == 1;
}

wk_code wk_set_soft_placement(bool on)
{
    atomic_store(&mode, on);
    return WK_OK;
}

void wk_placement_counters(int64_t *count, int64_t *bytes)
{
    if (count) *count = atomic_load(&copies);
    if (bytes) *bytes = atomic_load(&copied_bytes);
}

/* Writes the counters as the last line of the log file. A log callback is removed first: at exit its code may be
 * unloaded. */
static void log_totals(void)
{
    if (!wk__log_enabled(WK__LOG_PLACEMENT)) return;
    wk_set_log_at((wk_site){0}, "placement", NULL, NULL);
    wk__log(WK__LOG_PLACEMENT, (wk_site){0}, "soft placement made %lld copies of %lld bytes",
            (long long)atomic_load(&copies), (long long)atomic_load(&copied_bytes));
}

static pthread_once_t at_exit = PTHREAD_ONCE_INIT;
static void register_exit_log(void)
{
    atexit(log_totals);
}

static void log_copy(const wk__op *op, wk_site site, int operand, int64_t bytes, const wk__device *from,
                     const wk__device *to)
{
    wk__log(WK__LOG_PLACEMENT, wk__site(site), "%s: operand %d (%lld bytes) copied from %s to %s", op->name,
            operand + 1, (long long)bytes, wk_device_str(from->id), wk_device_str(to->id));
}

static void count_copy(const wk__op *op, wk_site site, wk_tensor *x, int operand, const wk__device *target)
{
    const wk__body *body = wk__body_of(x);
    const int64_t bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    if (wk__log_first_at_site(WK__LOG_PLACEMENT, wk__site(site)))
        log_copy(op, site, operand, bytes, body->storage->device, target);
    pthread_once(&at_exit, register_exit_log);
    atomic_fetch_add(&copies, 1);
    atomic_fetch_add(&copied_bytes, bytes);
}

static bool is_cpu_scalar(const wk_tensor *x)
{
    return wk__body_of(x)->ndim == 0 && wk__body_of(x)->storage->device->id.kind == WK_CPU;
}

bool wk__colocate_operands(const wk__op *op, wk_site site, wk_tensor *in[], int operands, wk__colocation meeting)
{
    const wk__device *target = wk__body_of(in[0])->storage->device;
    for (int k = 1; k < operands && !(meeting & WK__COLOCATE_TO_TARGET) && target->id.kind == WK_CPU; k++)
        target = wk__body_of(in[k])->storage->device;
    const bool all = wk__soft_placement_enabled();
    for (int k = 0; k < operands && !all; k++) {
        if (wk__body_of(in[k])->storage->device == target) continue;
        if (!(meeting & WK__COLOCATE_CPU_SCALARS) || !is_cpu_scalar(in[k])) return false;
    }
    for (int k = 0; k < operands; k++) {
        if (wk__body_of(in[k])->storage->device == target) continue;
        if (all) count_copy(op, site, in[k], k, target);
        wk_tensor *there = wk_to_at(site, in[k], target->id);
        if (!there) return false;
        in[k] = there;
    }
    return true;
}
