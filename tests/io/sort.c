/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the sort of the file readers and writers: any elements, any order, equal keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "hostile/file.h"
#include "io/heap_sort.h"

typedef struct item {
    int64_t key;
    char name[24];
} item;

static bool key_before(const void *a, const void *b)
{
    return ((const item *)a)->key < ((const item *)b)->key;
}

static bool byte_before(const void *a, const void *b)
{
    return *(const unsigned char *)a < *(const unsigned char *)b;
}

static void check_items(item *items, int64_t count)
{
    int64_t sum = 0, sorted_sum = 0;
    for (int64_t k = 0; k < count; k++) {
        sum += items[k].key;
        memset(items[k].name, (int)(items[k].key & 127), sizeof items[k].name);
    }
    wk__heap_sort(items, count, sizeof *items, key_before);
    for (int64_t k = 0; k < count; k++) {
        sorted_sum += items[k].key;
        if (k > 0) assert_true(items[k - 1].key <= items[k].key);
        for (size_t n = 0; n < sizeof items[k].name; n++) assert_int_equal(items[k].name[n], items[k].key & 127);
    }
    assert_int_equal(sum, sorted_sum);
}

static void items_of_every_order(void **state)
{
    (void)state;
    static item items[1000];
    uint64_t random = 7;
    for (int64_t count = 0; count < 1000; count = count < 20 ? count + 1 : count * 2) {
        for (int64_t range = 1; range < 4000; range *= 5) {
            for (int64_t k = 0; k < count; k++) items[k].key = (int64_t)(next_random(&random) % (uint64_t)range);
            check_items(items, count);
        }
        for (int64_t k = 0; k < count; k++) items[k].key = count - k;
        check_items(items, count);
        check_items(items, count);
    }
}

static void single_bytes(void **state)
{
    (void)state;
    char text[] = "the quick brown fox";
    wk__heap_sort(text, 19, 1, byte_before);
    assert_string_equal(text, "   bcefhiknooqrtuwx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_of_every_order),
        cmocka_unit_test(single_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
