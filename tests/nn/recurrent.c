/* SPDX-License-Identifier: Apache-2.0 */
/* Tests recurrent layers and cells against goldens/recurrent.txt, which goldens/make_recurrent.py writes with PyTorch,
 * and their gradients against finite differences. */
#include "support/wick.h"
#include <math.h>

enum { IN = 3, HIDDEN = 4, INPUT = 100, STATE = 101, WEIGHT = 110, LINE = 1 << 16, MOST_LENGTHS = 8 };

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* A case of the file. */
typedef struct golden {
    char kind[16];
    bool relu, state, no_bias, batch_first, bidirectional, unbatched;
    int64_t layers, proj, steps, batch, length[MOST_LENGTHS];
    int lengths;
    wk_module *module;
    wk_tensor *x, *given[2], *result[3];
    int states, results;
} golden;

static bool is_cell(const golden *g)
{
    return strstr(g->kind, "_cell") != NULL;
}

static void read_word(golden *g, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"relu", &g->relu},
                 {"state", &g->state},
                 {"no_bias", &g->no_bias},
                 {"batch_first", &g->batch_first},
                 {"bidirectional", &g->bidirectional},
                 {"unbatched", &g->unbatched}};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (strcmp(word, flags[k].name) == 0) {
            *flags[k].flag = true;
            return;
        }
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {{"layers=", &g->layers}, {"proj=", &g->proj}, {"steps=", &g->steps}, {"batch=", &g->batch}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strncmp(word, numbers[k].name, strlen(numbers[k].name)) == 0) {
            *numbers[k].number = atoi(word + strlen(numbers[k].name));
            return;
        }
    assert_int_equal(strncmp(word, "lengths=", 8), 0);
    for (const char *at = word + 8; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        assert_true(g->lengths < MOST_LENGTHS);
        g->length[g->lengths++] = atoi(at);
    }
}

/* Returns a hash of the index, uniform in [-1, 1), as the script does. */
static wk_tensor *fill(const int64_t *shape, int ndim, int number)
{
    double values[4096];
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= shape[d];
    assert_true(count <= 4096);
    for (int64_t k = 0; k < count; k++) {
        uint32_t h = (uint32_t)k * 2654435761u + (uint32_t)number * 40503u + 1;
        h = (h ^ h >> 16) * 0x7feb352du;
        h = (h ^ h >> 15) * 0x846ca68bu;
        h ^= h >> 16;
        values[k] = -1 + 2 * (h / 4294967296.0);
    }
    return wk_reshape(wk_from(values, (count)), WK_ARRAY(shape, ndim));
}

static wk_module *create(const golden *g)
{
    const wk_nn_rnn_options layer = {.size = sizeof layer,
                                     .num_layers = g->layers,
                                     .proj_size = g->proj,
                                     .nonlinearity = g->relu ? WK_RNN_RELU : WK_RNN_TANH,
                                     .no_bias = g->no_bias,
                                     .batch_first = g->batch_first,
                                     .bidirectional = g->bidirectional,
                                     .dtype = WK_F64};
    const wk_nn_rnn_cell_options cell = {
        .size = sizeof cell, .nonlinearity = layer.nonlinearity, .no_bias = g->no_bias, .dtype = WK_F64};
    static const struct {
        const char *kind;
        wk_module *(*layer)(wk_site, int64_t, int64_t, const wk_nn_rnn_options *);
        wk_module *(*cell)(wk_site, int64_t, int64_t, const wk_nn_rnn_cell_options *);
    } kinds[] = {{"rnn", wk_nn_rnn_at, NULL},           {"gru", wk_nn_gru_at, NULL},
                 {"lstm", wk_nn_lstm_at, NULL},         {"rnn_cell", NULL, wk_nn_rnn_cell_at},
                 {"gru_cell", NULL, wk_nn_gru_cell_at}, {"lstm_cell", NULL, wk_nn_lstm_cell_at}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].kind, g->kind) != 0) continue;
        wk_module *m =
            kinds[k].layer ? kinds[k].layer(WK_HERE, IN, HIDDEN, &layer) : kinds[k].cell(WK_HERE, IN, HIDDEN, &cell);
        wk_tensors *parameters = wk_parameters(m);
        for (int p = 0; p < wk_tensors_count(parameters); p++) {
            WK_NO_GRAD;
            wk_tensor *x = wk_tensors_get(parameters, p);
            int64_t shape[2] = {wk_size(x, 0), wk_ndim(x) > 1 ? wk_size(x, 1) : 1};
            wk_copy_(x, fill(shape, wk_ndim(x), p));
        }
        return m;
    }
    fail_msg("recurrent.txt: unknown kind %s", g->kind);
    return NULL;
}

static wk_tensor *leaf(const int64_t *shape, int ndim, int number)
{
    return wk_requires_grad_(wk_clone(fill(shape, ndim, number)), true);
}

static void create_inputs(golden *g)
{
    const bool lstm = strncmp(g->kind, "lstm", 4) == 0;
    int64_t shape[3];
    int ndim = 0;
    if (g->batch_first) shape[ndim++] = g->batch;
    if (!is_cell(g)) shape[ndim++] = g->steps;
    if (!g->batch_first && !g->unbatched) shape[ndim++] = g->batch;
    shape[ndim++] = IN;
    g->x = leaf(shape, ndim, INPUT);
    g->states = 1 + lstm;
    for (int k = 0; k < g->states && g->state; k++) {
        ndim = 0;
        if (!is_cell(g)) shape[ndim++] = g->layers * (1 + g->bidirectional);
        if (!g->unbatched) shape[ndim++] = g->batch;
        shape[ndim++] = !k && g->proj ? g->proj : HIDDEN;
        g->given[k] = leaf(shape, ndim, STATE + k);
    }
}

/* Calls the module and sets the results. */
static void run(golden *g)
{
    wk_tensor *const in[3] = {g->x, g->given[0], g->given[1]};
    g->results = g->states + !is_cell(g);
    if (g->lengths) {
        g->result[0] =
            wk_rnn_forward(g->module, g->x, .h0 = g->given[0], .c0 = g->given[1], .h_n = &g->result[1],
                           .c_n = g->states == 2 ? &g->result[2] : NULL, .lengths = wk_from(g->length, (g->lengths)));
        return;
    }
    const int inputs = g->state ? 1 + g->states : 1;
    assert_int_equal(wk_forward_n(g->module, WK_ARRAY(in, inputs), g->result, g->results), g->results);
}

/* Returns the sum of all results times fixed numbers. */
static wk_tensor *weigh(const golden *g)
{
    wk_tensor *sum = NULL;
    for (int k = 0; k < g->results; k++) {
        wk_tensor *r = g->result[k];
        int64_t shape[3];
        for (int d = 0; d < wk_ndim(r); d++) shape[d] = wk_size(r, d);
        wk_tensor *term = wk_sum(wk_mul(r, fill(shape, wk_ndim(r), WEIGHT + k)));
        sum = sum ? wk_add(sum, term) : term;
    }
    return sum;
}

static void begin(golden *g, char *line)
{
    *g = (golden){.layers = 1};
    char *save, *word = strtok_r(line, " \n", &save);
    word = strtok_r(NULL, " \n", &save);
    snprintf(g->kind, sizeof g->kind, "%s", word);
    while ((word = strtok_r(NULL, " \n", &save))) read_word(g, word);
    g->module = create(g);
    create_inputs(g);
    run(g);
    wk_backward(weigh(g));
    expect_ok();
}

/* Returns the tensor that a line of a case describes. */
static wk_tensor *named(const golden *g, const char *name)
{
    static const char *const results[] = {"output", "h_n", "c_n"};
    for (int k = 0; k < 3; k++)
        if (strcmp(name, results[k]) == 0) return g->result[k - is_cell(g)];
    if (strcmp(name, "x") == 0) return wk_grad_of(g->x);
    if (strcmp(name, "h0") == 0) return wk_grad_of(g->given[0]);
    if (strcmp(name, "c0") == 0) return wk_grad_of(g->given[1]);
    return wk_grad_of(wk_module_parameter(g->module, name));
}

/* Compares a tensor with the numbers of a line. */
static void compare(const golden *g, const char *line, const char *text)
{
    double values[4096];
    int count = 0;
    char name[64];
    assert_int_equal(sscanf(line, "%63s", name), 1);
    for (const char *at = line + strlen(name); *at && *at != '\n'; count++) {
        char *end;
        assert_true(count < 4096);
        values[count] = strtod(at, &end);
        if (end == at) fail_msg("%s: a number is missing in %s", text, name);
        at = end;
    }
    wk_tensor *x = named(g, name);
    expect_ok();
    if (wk_numel(x) != count) fail_msg("%s: %s has %d numbers in the file", text, name, count);
    const double wrong = wk_item(wk_amax(wk_abs(wk_sub(wk_flatten(x, 0), wk_from(values, (count))))));
    if (!(wrong < 1e-9)) fail_msg("%s: %s differs by %g", text, name, wrong);
}

static void layers_agree_with_pytorch(void **state)
{
    (void)state;
    static char line[LINE];
    char path[1024], text[256] = "";
    const char *root = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/goldens/recurrent.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    WK_SCOPE;
    golden g = {0};
    int cases = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "case ", 5) != 0) {
            compare(&g, line, text);
            continue;
        }
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        begin(&g, line);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 24);
}

/* ---- second gradients -------------------------------------------------------------------------------------------- */

/* A layer whose first gradients a check differentiates. */
typedef struct twice {
    wk_module *module;
    wk_tensor *lengths;
    bool has_c;
} twice;

/* Returns all results in one vector, of x, h0 and c0. */
static wk_tensor *results_of(wk_tensor *const *in, void *user)
{
    const twice *t = user;
    wk_tensor *h = NULL, *c = NULL;
    wk_tensor *y = wk_rnn_forward(t->module, in[0], .h0 = in[1], .c0 = t->has_c ? in[2] : NULL, .lengths = t->lengths,
                                  .h_n = &h, .c_n = t->has_c ? &c : NULL);
    y = wk_cat((wk_flatten(y, 0), wk_flatten(h, 0)), 0);
    return t->has_c ? wk_cat((y, wk_flatten(c, 0)), 0) : y;
}

/* Returns the gradients of the results by x, h0 and the weight of the state, in one vector. */
static wk_tensor *gradients_of(wk_tensor *const *in, void *user)
{
    const twice *t = user;
    WK_ENABLE_GRAD; /* the check turns it off for differences */
    for (int k = 0; k < 2 + t->has_c; k++)
        if (!wk_requires_grad(in[k])) wk_requires_grad_(in[k], true);
    wk_tensor *y = results_of(in, user), *grad[3] = {NULL};
    wk_tensor *sum = wk_sum(wk_mul(wk_mul(y, y), wk_arange(wk_numel(y), .dtype = WK_F64)));
    wk_tensor *weight = wk_module_parameter(t->module, "weight_hh_l0");
    if (wk_grad((sum), (in[0], in[1], weight), grad, .create_graph = true) != WK_OK) return NULL;
    return wk_cat((wk_flatten(grad[0], 0), wk_flatten(grad[1], 0), wk_flatten(grad[2], 0)), 0);
}

static void check_twice(wk_module *m, wk_tensor *lengths, bool has_c, int64_t layers)
{
    twice t = {m, lengths, has_c};
    wk_tensor *in[3];
    for (int k = 0; k < 3; k++)
        in[k] = wk_rand((k ? layers : 3, 2, k ? HIDDEN : IN), .dtype = WK_F64, .requires_grad = true);
    const int inputs = 2 + has_c;
    const bool first = wk_gradcheck(results_of, &t, WK_ARRAY(in, inputs));
    expect_ok();
    const bool second = wk_gradcheck(gradients_of, &t, WK_ARRAY(in, inputs));
    expect_ok();
    assert_true(first && second);
}

static void gradients_and_second_gradients_agree_with_differences(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_tensor *lengths = wk_of(int64_t, (2), 1, 3);
    check_twice(wk_nn_rnn(IN, HIDDEN, .dtype = WK_F64), NULL, false, 1);
    check_twice(wk_nn_gru(IN, HIDDEN, .num_layers = 2, .dtype = WK_F64), NULL, false, 2);
    check_twice(wk_nn_gru(IN, HIDDEN, .no_bias = true, .bidirectional = true, .dtype = WK_F64), lengths, false, 2);
    check_twice(wk_nn_lstm(IN, HIDDEN, .dtype = WK_F64), NULL, true, 1);
    check_twice(wk_nn_lstm(IN, HIDDEN, .bidirectional = true, .dtype = WK_F64), lengths, true, 2);
}

/* ---- large weights ----------------------------------------------------------------------------------------------- */

enum { LARGE = 192, ROWS = 20, STEPS = 3 }; /* weights of 442 kB and more */

/* Returns the output of a layer, computed by the cell of its kind with the layer's parameters. */
static wk_tensor *by_cell(wk_module *layer, wk_module *cell, wk_tensor *x, wk_tensor *const *given, int states)
{
    static const char *const names[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    for (int k = 0; k < 4; k++) {
        WK_NO_GRAD;
        char path[32];
        snprintf(path, sizeof path, "%s_l0", names[k]);
        wk_copy_(wk_module_parameter(cell, names[k]), wk_module_parameter(layer, path));
    }
    wk_tensor *in[3] = {NULL, given[0], given[1]}, *out[STEPS];
    for (int t = 0; t < STEPS; t++) {
        wk_tensor *next[2];
        in[0] = wk_select(x, 0, t);
        assert_int_equal(wk_forward_n(cell, WK_ARRAY(in, 1 + states), next, states), states);
        for (int k = 0; k < states; k++) in[1 + k] = next[k];
        out[t] = in[1];
    }
    return wk_stack(WK_ARRAY(out, STEPS), 0);
}

static void expect_near(wk_tensor *a, wk_tensor *b, const char *name)
{
    expect_ok();
    const double wrong = wk_item(wk_amax(wk_abs(wk_sub(a, b)))), most = wk_item(wk_amax(wk_abs(b)));
    if (!(wrong <= 1e-4 * most)) fail_msg("%s differs by %g of %g", name, wrong, most);
}

static void check_large(wk_module *layer, wk_module *cell, int states)
{
    WK_SCOPE;
    wk_tensor *x = wk_rand((STEPS, ROWS, IN)), *given[2] = {NULL}, *h0[2] = {NULL};
    for (int k = 0; k < states; k++) {
        h0[k] = wk_rand((1, ROWS, LARGE), .requires_grad = true);
        given[k] = wk_select(h0[k], 0, 0);
    }
    wk_tensor *seed = wk_randn((STEPS, ROWS, LARGE)), *grad[4], *wanted[4];
    wk_tensor *y = wk_rnn_forward(layer, x, .h0 = h0[0], .c0 = h0[1]), *z = by_cell(layer, cell, x, given, states);
    expect_near(y, z, "the output");
    assert_int_equal(wk_grad((wk_sum(wk_mul(y, seed))),
                             (h0[0], wk_module_parameter(layer, "weight_hh_l0"),
                              wk_module_parameter(layer, "weight_ih_l0"), wk_module_parameter(layer, "bias_hh_l0")),
                             grad),
                     WK_OK);
    assert_int_equal(wk_grad((wk_sum(wk_mul(z, seed))),
                             (h0[0], wk_module_parameter(cell, "weight_hh"), wk_module_parameter(cell, "weight_ih"),
                              wk_module_parameter(cell, "bias_hh")),
                             wanted),
                     WK_OK);
    static const char *const names[] = {"the gradient of h0", "that of weight_hh", "that of weight_ih",
                                        "that of bias_hh"};
    for (int k = 0; k < 4; k++) expect_near(grad[k], wanted[k], names[k]);
}

/* The weight of the state is copied into panels if it is large. */
static void large_weights_agree_with_cells(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(2);
    check_large(wk_nn_gru(IN, LARGE), wk_nn_gru_cell(IN, LARGE), 1);
    check_large(wk_nn_lstm(IN, LARGE), wk_nn_lstm_cell(IN, LARGE), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_agree_with_pytorch),
        cmocka_unit_test(gradients_and_second_gradients_agree_with_differences),
        cmocka_unit_test(large_weights_agree_with_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
