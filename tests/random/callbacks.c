/* Hooks and functions of the random programs; see callbacks.h. Each is text for the printed program as well. */
#include "callbacks.h"
#include "notes.h"

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static wk_tensor *looks(wk_tensor *grad, void *user)
{
    (void)grad;
    (void)user;
    return NULL;
}

static wk_tensor *scales(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_mul(grad, 2.0);
}

/* Runs what was recorded in the midst of backward. */
static wk_tensor *reads(wk_tensor *grad, void *user)
{
    notes_read(user, NOTE_HOOK, -1, grad);
    return NULL;
}

wk_hook *const callback_hooks[HOOKS] = {looks, scales, reads, reads};
const char *const callback_hook_text[HOOKS] = {
    "static wk_tensor *looks(wk_tensor *grad, void *user)\n{\n    return NULL;\n}\n",
    "static wk_tensor *scales(wk_tensor *grad, void *user)\n{\n    return wk_mul(grad, 2.0);\n}\n",
    "static wk_tensor *reads(wk_tensor *grad, void *user)\n{\n    wk_print(grad);\n    return NULL;\n}\n",
    "static wk_tensor *reads_after(wk_tensor *grad, void *user)\n{\n    wk_print(grad);\n    return NULL;\n}\n"};

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* sin(a) b, of equal shapes */
static void sine_product(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    wk_function_save(f, in[1]);
    out[0] = wk_mul(wk_sin(in[0]), in[1]);
}

static void sine_product_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *a = wk_function_saved(f, 0), *b = wk_function_saved(f, 1);
    if (wk_function_needs(f, 0)) grad_in[0] = wk_mul(grad_out[0], wk_mul(wk_cos(a), b));
    if (wk_function_needs(f, 1)) grad_in[1] = wk_mul(grad_out[0], wk_sin(a));
}

/* e^(a / 4), which its gradient reads */
static void saves_result(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    out[0] = wk_exp(wk_mul(in[0], 0.25));
    wk_function_save(f, out[0]);
}

static void saves_result_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    grad_in[0] = wk_mul(wk_mul(grad_out[0], wk_function_saved(f, 0)), 0.25);
}

/* a + 2 b and a b */
static void two_results(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    wk_function_save(f, in[1]);
    out[0] = wk_add(in[0], wk_mul(in[1], 2));
    out[1] = wk_mul(in[0], in[1]);
}

static void two_results_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *a = wk_function_saved(f, 0), *b = wk_function_saved(f, 1);
    for (int k = 0; k < 2; k++) {
        wk_tensor *sum = grad_out[0] ? wk_mul(grad_out[0], k + 1) : NULL;
        wk_tensor *product = grad_out[1] ? wk_mul(grad_out[1], k ? a : b) : NULL;
        grad_in[k] = sum && product ? wk_add(sum, product) : sum ? sum : product;
    }
}

const wk_function_kind callback_functions[FUNCTIONS] = {
    {.size = sizeof(wk_function_kind),
     .name = "sine_product",
     .inputs = 2,
     .outputs = 1,
     .forward = sine_product,
     .backward = sine_product_back},
    {.size = sizeof(wk_function_kind),
     .name = "saves_result",
     .inputs = 1,
     .outputs = 1,
     .forward = saves_result,
     .backward = saves_result_back},
    {.size = sizeof(wk_function_kind),
     .name = "two_results",
     .inputs = 2,
     .outputs = 2,
     .forward = two_results,
     .backward = two_results_back},
};
