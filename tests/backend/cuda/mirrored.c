/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of a mirrored network are copied to the parameters' card while backward continues: the log shows copies
 * before products of earlier layers, and sums after them; the driver shows copies in separate streams. */
#include "child.h"
#include "support/alloc_faults.h"

#include <math.h>

enum {
    WARM = 2,
    LAYERS = 3,
    WIDE = 730 /* weights of more than 2 MB */,
    NARROW = 8,
    MEASURED = 10 /* measured steps of profiling */
};

/* Log of the devices' work in submission order: 'p' product, 'i' indexed add, 'c' large copy to cuda:0, 's' small copy,
 * '+' a pass with add. */
static char device_log[4096];

static void append_to_log(void *user, const char *text)
{
    (void)user;
    const char *bytes = strstr(text, " bytes from cuda:1 to cuda:0"), *what = "";
    if (bytes != NULL) {
        while (bytes > text && bytes[-1] >= '0' && bytes[-1] <= '9') bytes--;
        what = atol(bytes) > 2 << 20 ? "c" : "s";
    } else if (strstr(text, "matmul") != NULL) {
        what = "p";
    } else if (strstr(text, "index_add") != NULL) {
        what = "i";
    } else if (strstr(text, "add") != NULL) {
        what = "+";
    }
    if (strlen(device_log) + 1 < sizeof device_log) strcat(device_log, what);
}

static wk_module *network(int width, int layers)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(width, width));
    for (int k = 1; k < layers; k++) net = wk_nn_sequential(net, wk_nn_tanh(), wk_nn_linear(width, width));
    const wk_device both[] = {wk_cuda(0), wk_cuda(1)};
    return wk_mirrored(net, both, 2);
}

static void backward(wk_module *many, wk_tensor *x, bool logs)
{
    WK_SCOPE;
    wk_tensor *loss = wk_sum(wk_forward(many, x));
    wk_flush();
    device_log[0] = '\0';
    if (logs) must(wk_set_log("placement", append_to_log, NULL) == WK_OK);
    must(wk_backward(loss) == WK_OK);
    wk_flush();
    must(wk_set_log(NULL, NULL, NULL) == WK_OK);
    if (logs) fprintf(stderr, "%s\n", device_log);
}

static wk_tensor *batch(int width)
{
    WK_SCOPE;
    return wk_retain(wk_ones((2, width), .device = wk_cuda(0)));
}

/* Products for the gradients of the inputs of all layers but the first, on both cards; one of them precedes the first
 * copy. */
static void copies_overlap_backward(void)
{
    wk_module *many = network(WIDE, LAYERS);
    wk_tensor *x = batch(WIDE);
    for (int k = 0; k < WARM; k++) backward(many, x, false);
    const long before = driver_calls("copy among kernels");
    backward(many, x, true);
    const char *first = strchr(device_log, 'c'), *last = strrchr(device_log, 'p');
    must(first != NULL && last != NULL);
    int later = 0, copies = 0;
    for (const char *at = first; *at; at++) later += *at == 'p', copies += *at == 'c';
    must(later == 2 * (LAYERS - 1) - 1 && copies == LAYERS);
    must(strrchr(device_log, 'c') < last && strchr(device_log, '+') > last);
    must(driver_calls("copy among kernels") == before && driver_calls("copy beside kernels") > 0);
    wk_free(many), wk_free(x);
}

/* Small gradients share blocks with data in use on the cards, and biases are small: their copies come last. */
static void small_copies_come_last(void)
{
    wk_module *many = network(NARROW, LAYERS), *wide = network(WIDE, LAYERS);
    wk_tensor *x = batch(NARROW), *y = batch(WIDE);
    for (int k = 0; k < WARM; k++) backward(many, x, k == WARM - 1);
    must(strchr(device_log, 'c') == NULL && strchr(device_log, 's') > strrchr(device_log, 'p') &&
         strchr(device_log, 'p') != NULL);
    for (int k = 0; k < WARM; k++) backward(wide, y, k == WARM - 1);
    must(strchr(device_log, 'c') < strrchr(device_log, 'p') && strchr(device_log, 's') > strrchr(device_log, 'p'));
    wk_free(many), wk_free(wide), wk_free(x), wk_free(y);
}

/* Profiled steps wait between computing and copying. Their gradients have the same bits. */
static void measured_steps(void)
{
    wk_module *many = network(WIDE, 2);
    wk_tensor *x = batch(WIDE), *weight = wk_tensors_get(wk_parameters(many), 0), *early = NULL;
    for (int k = 1; k <= MEASURED; k++) {
        wk_set_grad(weight, NULL);
        backward(many, x, k == MEASURED);
        if (k == 1) early = wk_retain(wk_grad_of(weight));
    }
    must(strchr(device_log, 'c') != NULL && strchr(device_log, 'p') != NULL &&
         strchr(device_log, 'c') > strrchr(device_log, 'p'));
    must(wk_item(wk_sum(wk_ne(early, wk_grad_of(weight)))) == 0 && wk_item(wk_sum(wk_ne(early, 0))) > 0);
    wk_free(early), wk_free(many), wk_free(x);
}

/* The host waits for ops that may meet a bad index only after all work has been submitted to both cards. */
static void indices(void)
{
    const wk_device both[] = {wk_cuda(0), wk_cuda(1)};
    wk_module *many = wk_mirrored(wk_nn_sequential(wk_nn_embedding(WIDE, WIDE), wk_nn_linear(WIDE, NARROW)), both, 2);
    wk_tensor *x = wk_retain(wk_to(wk_of(int64_t, (4), 3, 1, 7, 3), wk_cuda(0)));
    for (int k = 0; k < WARM; k++) backward(many, x, k == WARM - 1);
    must(strchr(device_log, 'c') > strrchr(device_log, 'i') && strchr(device_log, 'i') != strrchr(device_log, 'i'));
    wk_free(many), wk_free(x);
}

/* A copy for which the target must wait is submitted after the target's independent work, and so is one for which the
 * host waits because an index may be bad. */
static void order_of_copies(void)
{
    WK_SCOPE;
    wk_tensor *a = wk_ones((4, 4), .device = wk_cuda(0)), *row = wk_to(wk_of(int64_t, (1), 1), wk_cuda(1));
    wk_tensor *x[] = {wk_ones((2, 600000), .device = wk_cuda(1)), wk_ones((2, 60), .device = wk_cuda(1))};
    static const char *const expected[] = {"cp", "ps", "pc"};
    for (int k = 0; k < 3; k++) {
        wk_sync();
        device_log[0] = '\0';
        must(wk_set_log("placement", append_to_log, NULL) == WK_OK);
        wk_tensor *there = k < 2 ? wk_exp(x[k]) : wk_index_select(x[0], 0, row);
        wk_tensor *kept[] = {wk_retain(wk_to(there, wk_cuda(0))), wk_retain(wk_matmul(a, a))};
        wk_flush();
        must(wk_set_log(NULL, NULL, NULL) == WK_OK);
        fprintf(stderr, "%s\n", device_log);
        must(strcmp(device_log, expected[k]) == 0);
        wk_free(kept[0]), wk_free(kept[1]);
    }
}

static void gradient_copies_overlap_backward(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", copies_overlap_backward);
    in_child("STANDIN_ERRORS=", small_copies_come_last);
    in_child("STANDIN_ERRORS=", measured_steps);
    in_child("STANDIN_ERRORS=", indices);
    in_child("STANDIN_ERRORS=", order_of_copies);
}

/* ---- host memory exhaustion -------------------------------------------------------------------------------------- */

/* Returns the gradient's first element; NaN on error. */
static double first_of_gradient(wk_tensor *x)
{
    WK_SCOPE;
    const wk_device both[] = {wk_cuda(0), wk_cuda(1)};
    wk_set_grad(x, NULL);
    wk_tensors *list = wk_devices_broadcast(x, both, 2);
    wk_tensor *here = list ? wk_sum(wk_tensors_get(list, 0)) : NULL;
    wk_tensor *there = here ? wk_to(wk_sum(wk_tensors_get(list, 1)), wk_cuda(0)) : NULL;
    wk_code code = there ? wk_backward(wk_add(here, wk_mul(there, 2))) : WK_ERR_MEMORY;
    double first = NAN;
    if (code == WK_OK && wk_grad_of(x)) first = wk_item(wk_narrow(wk_grad_of(x), 0, 0, 1));
    if (list) wk_free(list);
    return first;
}

/* Two rounds, because lists may grow permanently in the first. */
static void fail_each_allocation(void)
{
    enum { NUMBERS = 270000, WARM_UP = 3, ROUNDS = 2 };
    long long held[ROUNDS];
    alloc_faults_init();
    wk_tensor *x = wk_requires_grad_(wk_ones((NUMBERS), .dtype = WK_F64, .device = wk_cuda(0)), true);
    for (int k = 0; k < WARM_UP; k++) must(first_of_gradient(x) == 3);
    const long long before = alloc_request_count();
    must(first_of_gradient(x) == 3);
    const long long requests = alloc_request_count() - before;
    must(requests > 10);
    for (int round = 0; round < ROUNDS; round++) {
        for (long long n = 1; n <= requests; n++) {
            alloc_faults_arm(n, n % 2 == 0);
            const double first = first_of_gradient(x);
            alloc_faults_arm(0, false);
            must(first == 3 || (isnan(first) && wk_error_code() == WK_ERR_MEMORY));
            alloc_faults_disarm();
            if (round == 0) must(first_of_gradient(x) == 3 && wk_error() == NULL);
        }
        must(first_of_gradient(x) == 3 && wk_error() == NULL);
        held[round] = alloc_live_blocks();
    }
    must(held[1] == held[0]);
    wk_free(x);
}

static void failed_allocations(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", fail_each_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradient_copies_overlap_backward),
                                       cmocka_unit_test(failed_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
