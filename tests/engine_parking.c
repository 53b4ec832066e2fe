/* What is parked is still right when it is read later: memory and registers that it needs are not given away. */
#include "ops_values.h"

/* exp is in a register of the kernel that computes c; b, which nobody has asked for yet, needs it too. */
static void shared_with_a_wanted_result(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 0, 1), *b, *c;
    {
        WK_SCOPE;
        wk_tensor *a = wk_exp(x);
        b = wk_keep(wk_mul(a, 2));
        c = wk_keep(wk_add(a, 1));
    }
    wk_tensor *held = wk_retain(c);
    wk_flush();
    EXPECT(c, (2), 2, 1 + M_E);
    EXPECT(b, (2), 2, 2 * M_E);
    wk_free(held);
}

/* The output of the second read is as large as the operands of a sum that is only in registers, and still to be read. */
static void operands_of_registers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p, *q, *r, *sum, *scaled;
    {
        WK_SCOPE;
        p = wk_keep(wk_clone(wk_of(double, (2), 1, 2)));
        q = wk_keep(wk_clone(wk_of(double, (2), 10, 20)));
        r = wk_keep(wk_clone(wk_of(double, (2), 100, 200)));
        wk_read(p, (double[2]){0}, 16);
        wk_read(q, (double[2]){0}, 16);
        wk_read(r, (double[2]){0}, 16);
        sum = wk_keep(wk_add(wk_add(p, q), r));
        scaled = wk_keep(wk_mul(sum, 2));
    }
    wk_free(p);
    wk_free(q);
    wk_free(r);
    EXPECT(scaled, (2), 222, 444);
    EXPECT(sum, (2), 111, 222);
}

/* A copy of what it reads is stored after another output of the same kernel, which could have taken that memory. */
static void stored_as_loaded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_clone(wk_of(double, (2), 1, 2));
    wk_read(x, (double[2]){0}, 16);
    wk_tensor *zeros = wk_retain(wk_zeros((2), .dtype = WK_F64)), *copy = wk_retain(wk_clone(x));
    wk_free(x);
    wk_flush();
    EXPECT(copy, (2), 1, 2);
    EXPECT(zeros, (2), 0, 0);
    wk_free(copy);
    wk_free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_with_a_wanted_result),
        cmocka_unit_test(operands_of_registers),
        cmocka_unit_test(stored_as_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
