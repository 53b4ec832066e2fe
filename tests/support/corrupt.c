/* SPDX-License-Identifier: Apache-2.0 */
/* Implements corrupt.h: wraps the device's submit function. */
#include "corrupt.h"
#include <wick/log.h>

#include "backend/device.h"

static wk__device *device;
static const wk__backend *real;
static wk__backend corrupting;
static corrupt_request order;
static int64_t left; /* submissions until the corrupted one; 0: none */

static bool is_due(void)
{
    return left > 0 && --left == 0;
}

static void write_number(const wk__operand *operand)
{
    wk__fail fail;
    const int64_t whole = (int64_t)order.number, size = (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
    const bool is_whole = operand->dtype == WK_I64;
    assert_true(is_whole || operand->dtype == WK_F32);
    const void *number = is_whole ? (const void *)&whole : &order.number;
    real->upload(device->state, operand->memory, order.place * size, number, size, &fail);
}

static void corrupt_operand(const wk__operand *const operand[], const bool stored[], int count)
{
    int which = order.which;
    for (int k = 0; k < count; k++)
        if (stored[k] == (order.how == CORRUPT_RESULT) && which-- == 0) write_number(operand[k]);
}

static void corrupt_program(const wk__program *group)
{
    const wk__operand *operand[WK__MAX_OPERANDS];
    bool stored[WK__MAX_OPERANDS];
    for (int k = 0; k < group->noperands; k++) operand[k] = &group->operand[k], stored[k] = group->operand[k].stored;
    corrupt_operand(operand, stored, group->noperands);
}

static wk_code bad_index(wk__fail *fail)
{
    wk__fail_set(fail, WK_ERR_INDEX, "index 9 is out of range for size 3");
    return wk__fail_set_index(fail, -1, 9, 3);
}

/* Corrupts an operand of a kernel: `which` counts its inputs, or its outputs, and continues with those of its
 * epilogue. */
static void corrupt_kernel(const wk__work *work)
{
    const wk__operand *operand[WK__WORK_OPERANDS + WK__MAX_OPERANDS];
    bool stored[WK__WORK_OPERANDS + WK__MAX_OPERANDS];
    int count = 0;
    for (int k = 0; k < WK__WORK_OPERANDS; k++) {
        if (!work->args->operand[k].memory) continue;
        operand[count] = &work->args->operand[k];
        stored[count++] = work->args->operand[k].stored;
    }
    for (int k = 1; work->program && k < work->program->noperands; k++, count++) {
        operand[count] = &work->program->operand[k];
        stored[count] = work->program->operand[k].stored;
    }
    corrupt_operand(operand, stored, count);
}

static void corrupt_work(const wk__work *work)
{
    if (work->args)
        corrupt_kernel(work);
    else
        corrupt_program(work->program);
}

static wk_code submit(void *state, const wk__work *work, wk__fail *fail)
{
    if (!is_due()) return real->submit(state, work, fail);
    if (order.how == REPORT_BAD_INDEX) return bad_index(fail);
    if (order.how == CORRUPT_OPERAND_BEFORE) corrupt_work(work);
    wk_code code = order.how == SKIP_WORK ? WK_OK : real->submit(state, work, fail);
    if (order.how == CORRUPT_RESULT || order.how == CORRUPT_OPERAND) corrupt_work(work);
    return code;
}

void corrupt_install(wk_device id)
{
    wk__fail fail;
    device = wk__device_get(id, &fail);
    assert_non_null(device);
    real = device->backend;
    corrupting = *real;
    corrupting.submit = submit;
    device->backend = &corrupting;
    left = 0;
}

void corrupt_arm(corrupt_request next)
{
    order = next;
    left = next.n;
}

bool corrupt_remove(void)
{
    if (device) device->backend = real;
    device = NULL;
    return left == 0;
}

/* ---- setup and teardown ------------------------------------------------------------------------------------------ */

static bool checked_before;

int corrupt_setup(void **state)
{
    test_default_mode(state);
    checked_before = wk__engine_config_get()->check;
    wk__engine_config_set_check(true);
    return 0;
}

int corrupt_teardown(void **state)
{
    corrupt_remove();
    wk__engine_config_set_check(checked_before);
    wk_set_log("", NULL, NULL);
    test_restore_mode(state);
    return test_clean(state);
}
