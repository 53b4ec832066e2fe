/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases on the CPU, once with each instruction set of this machine. */
#ifndef WICK_TESTS_CPU_VM_TEST_H
#define WICK_TESTS_CPU_VM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/cpu/isa.h"
#include "support/group/group_case.h"
#include "support/turns.h"

static void *vm_device;

static inline const wk__backend *vm_backend(void)
{
    return wk__backend_of(WK_CPU);
}

static int vm_open(void **state)
{
    (void)state;
    wk__fail fail;
    return vm_backend()->open(0, &vm_device, &fail) != WK_OK;
}

static int vm_close(void **state)
{
    (void)state;
    vm_backend()->close(vm_device);
    return 0;
}

/* Returns an instruction set of this CPU by index, best first, leaving out those that share their VM with the next. */
static inline const wk__cpu_isa *vm_isa_at(int index)
{
    const wk__cpu_isa *isa, *next;
    for (int k = 0; (isa = wk__cpu_isa_at(k)) != NULL; k++) {
        next = wk__cpu_isa_at(k + 1);
        if ((!next || next->vm != isa->vm) && index-- == 0) break;
    }
    return isa;
}

/* A quick run takes one in vm_one_in pairs of a case and an instruction set. */
static uint32_t vm_one_in = 1;

/* Runs and compares the case with every instruction set, and frees it. */
static inline void vm_check(group_case *c)
{
    const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
    for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
        wk__fail fail;
        if (!test_takes_case(vm_one_in)) continue;
        wk__cpu_isa_use(isa);
        wk_code code = group_case_run(c, vm_backend(), vm_device, &fail);
        if (code != WK_OK && code != WK_ERR_INDEX) fail_msg("%s, %s: %s", c->name, isa->name, fail.text);
        const char *wrong = group_case_check(c, vm_backend(), vm_device);
        if (wrong) fail_msg("%s: %s", isa->name, wrong);
        assert_int_equal(code == WK_ERR_INDEX, c->bad.bound > 0);
    }
    wk__cpu_isa_use(before);
    group_case_free(c);
}

#endif
