/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the limit of open devices: each open device has a separate slot in the engine's tables, and the first device
 * without a free slot is refused with its number. */
#include "support/wick.h"

#include "backend/device.h"
#include "backend/null/null.h"

static bool taken[WK__MAX_OPEN_DEVICES];
static int opened;

static void note_slot(wk__device *device, void *user)
{
    (void)user;
    assert_in_range(device->slot, 0, WK__MAX_OPEN_DEVICES - 1);
    assert_false(taken[device->slot]);
    taken[device->slot] = true;
    opened++;
}

static void each_open_device_has_a_slot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *here = wk_ones((2));
    wk__null_set_count(WK__NULL_MOST_DEVICES);
    int index = 0;
    for (; index < WK__NULL_MOST_DEVICES && !wk_error(); index++)
        wk_add(wk_ones((2), .device = {.kind = WK_NULL, .index = (int16_t)index}), 1);
    wk__device_for_each(note_slot, NULL);
    assert_int_equal(opened, WK__MAX_OPEN_DEVICES);
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    char refused[32];
    snprintf(refused, sizeof refused, "null:%d is one device too many", index - 1);
    expect_error(refused, "a process can use 64", NULL);
    assert_true(wk_item(wk_sum(here)) == 2);
    assert_int_equal(wk_sync(), WK_OK);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_open_device_has_a_slot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
