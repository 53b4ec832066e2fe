/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of a mirrored network are on their way to the parameters' card while backward goes on: by the log, copies
 * come before products of earlier layers, and sums after them; to the driver, copies lie in streams of their own. */
#include "cuda_child.h"

enum { WARM = 3, LAYERS = 4 };

/* What the devices do in the order in which they are told: 'p' a product, 'c' a copy to cuda:0, '+' a pass with add. */
static char told[4096];

static void hear(void *user, const char *text)
{
    (void)user;
    const char *what = strstr(text, "bytes from cuda:1 to cuda:0") ? "c" : strstr(text, "matmul") ? "p" : "";
    if (!*what && strstr(text, "add")) what = "+";
    if (strlen(told) + 1 < sizeof told) strcat(told, what);
}

static wk_module *network(void)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(8, 8), wk_nn_tanh(), wk_nn_linear(8, 8), wk_nn_tanh(),
                                      wk_nn_linear(8, 8), wk_nn_tanh(), wk_nn_linear(8, 8));
    const wk_device both[] = {wk_cuda(0), wk_cuda(1)};
    return wk_mirrored(net, both, 2);
}

static void backward(wk_module *many, bool listens)
{
    WK_SCOPE;
    wk_tensor *loss = wk_sum(wk_forward(many, wk_ones((6, 8), .device = wk_cuda(0))));
    wk_flush();
    if (listens) must(wk_set_log("placement", hear, NULL) == WK_OK);
    must(wk_backward(loss) == WK_OK);
    wk_flush();
    must(wk_set_log(NULL, NULL, NULL) == WK_OK);
}

static void goes_beside(void)
{
    wk_module *many = network();
    for (int k = 0; k < WARM; k++) backward(many, false);
    const long before = driver_calls("copy among kernels");
    backward(many, true);
    fprintf(stderr, "%s\n", told);
    const char *first = strchr(told, 'c'), *last = strrchr(told, 'p');
    must(first != NULL && last != NULL);
    int later = 0;
    for (const char *at = first; *at; at++) later += *at == 'p';
    /* Gradients of the inputs of all layers but the first, on either card; one comes before the first copy. */
    must(later == 2 * (LAYERS - 1) - 1);
    must(strrchr(told, 'c') < last && strchr(told, '+') > last);
    must(driver_calls("copy among kernels") == before && driver_calls("copy beside kernels") > 0);
    wk_free(many);
}

static void gradients_go_beside_backward(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", goes_beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_go_beside_backward)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
