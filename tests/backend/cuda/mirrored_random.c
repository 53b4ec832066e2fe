/* SPDX-License-Identifier: Apache-2.0 */
/* Random models on several devices. Most of their parameters exceed 2 MB, so gradients are copied to the first device
 * while backward continues. All values are small integers, whose sums do not depend on the order: parameters, results
 * and gradients must equal those of the same model on the CPU, bit for bit. */
#include "child.h"
#include "random/generator/rng.h"
#include "support/devices.h"

enum { MODELS = 3, MOST_PARAMETERS = 5, MOST_VALUES = 16, MOST_DEGREE = 3, LARGE = (2 << 20) / 8 };

typedef enum kind { ADD, SUB, MUL, NEG, RELU, PART } kind;

/* v[0 .. parameters) are the parameters; each later value is computed from earlier ones. The model returns x times the
 * sum of some of them. */
typedef struct recipe {
    int parameters, values;
    uint64_t seed;
    int64_t length[MOST_VALUES], first[MOST_VALUES]; /* first: index in the source of a PART */
    int degree[MOST_VALUES], a[MOST_VALUES], b[MOST_VALUES];
    kind what[MOST_VALUES];
    bool summed[MOST_VALUES];
} recipe;

static const recipe *now; /* the model whose forward runs */

/* ---- models ------------------------------------------------------------------------------------------------------ */

static int64_t drawn_length(rng *d)
{
    return rng_percent(d, 75) ? LARGE + 1 + rng_below(d, 5000) : rng_range(d, 1, 400);
}

/* At most products of three parameters, so that values stay small. */
static void draw_value(recipe *r, rng *d, int k)
{
    const int a = rng_below(d, k), b = rng_below(d, k);
    r->a[k] = a, r->b[k] = b;
    r->what[k] = (kind)rng_range(d, ADD, PART);
    if (r->what[k] == MUL && r->degree[a] + r->degree[b] > MOST_DEGREE) r->what[k] = ADD;
    const bool two = r->what[k] <= MUL;
    r->length[k] = two && r->length[b] < r->length[a] ? r->length[b] : r->length[a];
    r->degree[k] = r->what[k] == MUL                    ? r->degree[a] + r->degree[b]
                   : two && r->degree[b] > r->degree[a] ? r->degree[b]
                                                        : r->degree[a];
    if (r->what[k] != PART) return;
    r->length[k] = rng_range(d, 1, (int)r->length[a]);
    r->first[k] = rng_below(d, (int)(r->length[a] - r->length[k]) + 1);
}

static void draw_recipe(recipe *r, rng *d)
{
    *r = (recipe){.parameters = rng_range(d, 2, MOST_PARAMETERS)};
    r->seed = rng_bits(d);
    r->values = rng_range(d, r->parameters + 2, MOST_VALUES);
    for (int k = 0; k < r->values; k++) {
        if (k < r->parameters) {
            r->length[k] = drawn_length(d);
            r->degree[k] = 1;
        } else {
            draw_value(r, d, k);
        }
        r->summed[k] = k == r->values - 1 || rng_percent(d, 30);
    }
}

static wk_tensor *front(wk_tensor *x, int64_t length)
{
    return wk_size(x, 0) == length ? x : wk_narrow(x, 0, 0, length);
}

static wk_tensor *value(const recipe *r, int k, wk_tensor *const v[])
{
    wk_tensor *a = v[r->a[k]];
    if (r->what[k] == NEG) return wk_neg(a);
    if (r->what[k] == RELU) return wk_relu(a);
    if (r->what[k] == PART) return wk_narrow(a, 0, r->first[k], r->length[k]);
    wk_tensor *x = front(a, r->length[k]), *y = front(v[r->b[k]], r->length[k]);
    return r->what[k] == ADD ? wk_add(x, y) : r->what[k] == SUB ? wk_sub(x, y) : wk_mul(x, y);
}

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    wk_tensor *v[MOST_VALUES], *sum = NULL;
    char name[16];
    for (int k = 0; k < now->values; k++) {
        snprintf(name, sizeof name, "p%d", k);
        v[k] = k < now->parameters ? wk_module_parameter(self, name) : value(now, k, v);
        if (now->summed[k]) sum = sum ? wk_add(sum, wk_sum(v[k])) : wk_sum(v[k]);
    }
    return wk_mul(x, sum);
}

/* Creates the model; parameters have the same values each time. */
static wk_module *model_of(const recipe *r)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "random", .forward1 = forward};
    WK_SCOPE;
    wk_module *m = wk_keep(wk_module_new(&kind));
    wk_seed(r->seed >> 1);
    for (int k = 0; k < r->parameters; k++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", k);
        wk_module_add_parameter(m, name, wk_to_dtype(wk_randint(-2, 3, (r->length[k])), WK_F64));
    }
    return m;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* The input of one step, the same for both models. */
typedef struct turn {
    int rows, forwards, backwards;
    bool flushes, by_grad, clears, updates, looks;
    uint64_t seed;
} turn;

static turn draw_turn(rng *d)
{
    turn t = {.rows = rng_range(d, 1, 7)};
    t.forwards = rng_percent(d, 25) ? 2 : 1;
    t.backwards = rng_percent(d, 20) ? 2 : 1;
    t.flushes = rng_percent(d, 25);
    t.by_grad = rng_percent(d, 15);
    t.clears = rng_percent(d, 50);
    t.updates = rng_percent(d, 60);
    t.looks = rng_percent(d, 30);
    t.seed = rng_bits(d);
    return t;
}

static void differentiate(wk_module *m, wk_tensor *loss, const turn *t)
{
    if (!t->by_grad) {
        for (int k = t->backwards; k > 0; k--) assert_int_equal(wk_backward(loss, .retain_graph = k > 1), WK_OK);
        return;
    }
    wk_tensors *all = wk_parameters(m);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        wk_tensor *leaf = wk_tensors_get(all, k), *grad = NULL;
        assert_int_equal(wk_grad((loss), (leaf), &grad, .retain_graph = true, .allow_unused = true), WK_OK);
        wk_set_grad(leaf, grad);
    }
}

/* Changes parameters by one, so that they stay small. */
static void update(wk_module *m, bool clears)
{
    WK_NO_GRAD;
    wk_tensors *all = wk_parameters(m);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        wk_tensor *leaf = wk_tensors_get(all, k), *grad = wk_grad_of(leaf);
        if (grad) wk_sub_(leaf, wk_sign(grad));
        if (clears) wk_set_grad(leaf, NULL);
    }
}

static double step(wk_module *m, wk_device device, const turn *t)
{
    WK_SCOPE;
    wk_tensor *loss = NULL;
    wk_seed(t->seed >> 1);
    for (int k = 0; k < t->forwards; k++) {
        wk_tensor *x = wk_to(wk_to_dtype(wk_randint(-3, 4, (t->rows, 1)), WK_F64), device);
        wk_tensor *sum = wk_sum(wk_forward(m, x));
        loss = loss ? wk_add(loss, sum) : sum;
    }
    if (t->flushes) wk_flush();
    differentiate(m, loss, t);
    if (t->updates) update(m, t->clears);
    return t->looks ? wk_item(loss) : 0;
}

/* Unused parameters have no gradient in either model. */
static void expect_equal(wk_tensor *x, wk_tensor *y)
{
    WK_SCOPE;
    assert_true((x == NULL) == (y == NULL));
    if (x) assert_true(wk_item(wk_sum(wk_ne(wk_to(x, wk_cpu()), wk_to(y, wk_cpu())))) == 0);
}

static void expect_same(wk_module *one, wk_module *many)
{
    WK_SCOPE;
    wk_tensors *x = wk_parameters(one), *y = wk_parameters(many);
    for (int k = 0; k < wk_tensors_count(x); k++) {
        expect_equal(wk_tensors_get(x, k), wk_tensors_get(y, k));
        expect_equal(wk_grad_of(wk_tensors_get(x, k)), wk_grad_of(wk_tensors_get(y, k)));
    }
    expect_ok();
}

/* Draws the cards in either order, with or without the CPU. */
static int draw_devices(rng *d, wk_device device[3])
{
    const int second = rng_below(d, 2), n = rng_percent(d, 60) ? 2 : 3, host = n == 3 ? rng_below(d, 3) : n;
    for (int k = 0, card = second; k < n; k++) device[k] = k == host ? wk_cpu() : test_gpu(card++ % 2);
    return n;
}

static void try_model(uint64_t seed)
{
    WK_SCOPE;
    rng d = {seed};
    recipe r;
    wk_device device[3];
    draw_recipe(&r, &d);
    now = &r;
    const int n = draw_devices(&d, device);
    wk_module *one = model_of(&r), *many = wk_mirrored(model_of(&r), device, n, .balance = rng_percent(&d, 15));
    for (int k = rng_range(&d, 1, 4); k > 0; k--) {
        const turn t = draw_turn(&d);
        assert_true(step(one, wk_cpu(), &t) == step(many, device[0], &t));
        if (t.looks) expect_same(one, many);
    }
    expect_same(one, many);
}

static void large_gradients_equal_those_of_the_cpu(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < MODELS; k++) {
        print_message("seed %llu, model %d\n", (unsigned long long)test_seed(), (int)k);
        try_model(test_seed() * MODELS + k);
    }
    assert_true(driver_calls("copy beside kernels") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_gradients_equal_those_of_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
