/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 11 to 16: computing on devices, scopes, placement. */
#include "tour.h"

static void same_device(void)
{
    wk_tensor *X = tour_tensor('X'), *Y = tour_tensor('Y'), *Z = tour_tensor('Z');
    tour_code("wk_add(Y, Z), both on %s", wk_device_str(tour_accelerator(1)));
    wk_print(wk_add(Y, Z));
    if (tour_accelerator(0).kind == WK_CPU) {
        printf("(only one device here: tensors cannot be on different devices)\n");
        return;
    }
    tour_code("wk_add(X, Y), X on %s", wk_device_str(tour_accelerator(0)));
    (void)wk_add(X, Y);
    tour_error();
}

static void say(void *user, const char *line)
{
    (void)user;
    printf("log: %s\n", line);
}

static void soft_placement(void)
{
    int64_t copies, bytes, copies_before, bytes_before;
    wk_tensor *X = tour_tensor('X'), *Y = tour_tensor('Y');
    wk_placement_counters(&copies_before, &bytes_before);
    tour_code("wk_set_soft_placement(true); wk_set_log(\"placement\", say, NULL); wk_add(X, Y)");
    wk_set_soft_placement(true);
    wk_set_log("placement", say, NULL);
    wk_print(wk_add(X, Y));
    wk_set_log("", NULL, NULL);
    wk_set_soft_placement(false);
    wk_placement_counters(&copies, &bytes);
    printf("copies made by soft placement: %lld, bytes: %lld\n", (long long)(copies - copies_before),
           (long long)(bytes - bytes_before));
}

static void fused(void)
{
    tour_code("y = z = wk_to(wk_of(float, (3), 1, 2, 3), %s)", tour_device(tour_accelerator(0)));
    wk_tensor *z = wk_to(wk_of(float, (3), 1, 2, 3), tour_accelerator(0)), *y = z;
    tour_code("wk_mul(wk_exp(wk_add(z, 2)), y)");
    wk_print(wk_mul(wk_exp(wk_add(z, 2)), y));
}

static void device_scopes(void)
{
    tour_code("{ WK_DEVICE(%s); a = wk_ones((2)); { WK_DEVICE(wk_cpu()); b = wk_ones((2)); } c = wk_ones((2)); }",
              tour_device(tour_accelerator(0)));
    wk_tensor *a, *b, *c;
    {
        WK_DEVICE(tour_accelerator(0));
        a = wk_ones((2));
        {
            WK_DEVICE(wk_cpu());
            b = wk_ones((2));
        }
        c = wk_ones((2));
    }
    printf("%s %s %s\n", wk_device_str(wk_device_of(a)), wk_device_str(wk_device_of(b)),
           wk_device_str(wk_device_of(c)));
    tour_code("wk_device_full_name(wk_device_of(a))");
    printf("%s\n", wk_device_full_name(wk_device_of(a)));
    tour_code("{ WK_DEVICE(wk_cuda(7)); }");
    {
        WK_DEVICE(wk_cuda(7));
    }
    printf("no error: no tensor was created there\n");
}

static void scopes_and_copies(void)
{
    wk_tensor *X = tour_tensor('X');
    WK_DEVICE(wk_cpu());
    wk_tensor *same = X, *near = wk_to(X, wk_cpu());
    tour_code("{ WK_DEVICE(wk_cpu()); same = X; near = wk_to(X, wk_cpu()); }");
    printf("same is on %s, near on %s\n", wk_device_str(wk_device_of(same)), wk_device_str(wk_device_of(near)));
}

static void placement_log(void)
{
    wk_transfer_counters before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_transfer_stats(&before);
    tour_code("wk_set_log(\"placement\", say, NULL); wk_print(wk_mul(wk_to(wk_ones((1000, 2)), %s), 3))",
              tour_device(tour_accelerator(0)));
    wk_set_log("placement", say, NULL);
    wk_print(wk_mul(wk_to(wk_ones((1000, 2)), tour_accelerator(0)), 3));
    wk_set_log("", NULL, NULL);
    tour_code("wk_transfer_stats(&counters)");
    wk_transfer_stats(&after);
    printf("to devices %lld bytes, back %lld bytes\n", (long long)(after.uploads - before.uploads),
           (long long)(after.downloads - before.downloads));
}

const tour_step tour_work[] = {
    {11, "Operands must be on one device",
     "A copy costs more than the addition, so it is never implicit: the message names both operands and the call that "
     "moves one.",
     same_device},
    {12, "Soft placement",
     "As in TensorFlow: operands are copied to the accelerator, and every copy is logged and counted.", soft_placement},
    {13, "(z + 2).exp() * y",
     "20.0855, 109.1963, 445.2395: three operations in one pass over memory, because execution is deferred until a "
     "result is read.",
     fused},
    {14, "A default device for a block",
     "Like `with tf.device(...)`: lasts until the end of the block; blocks nest. A missing device is an error only "
     "when a tensor is created on it.",
     device_scopes},
    {15, "Limits of a block",
     "The block sets the device of new tensors. Existing tensors stay where they are, and assigning a handle copies "
     "nothing.",
     scopes_and_copies},
    {16, "Log the placement",
     "The log reports the device of each operation; WICK_LOG=placement writes it to stderr, or to the file in "
     "WICK_LOG_FILE. Counters report the bytes moved: of a large tensor only the printed values are read back.",
     placement_log},
    {0},
};
