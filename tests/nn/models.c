/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the ready networks against goldens/models.txt, which goldens/make_models.py writes with torchvision:
 *
 *   names NAME PARAMETERS HASH      number of elements of the parameters; FNV-1a of "path:2,3;" of all parameters, then
 *                                   all buffers
 *   values NAME MODE SHAPE          begins a network whose parameters and input fill() writes; its lines follow:
 *   scores NORM V0 .. V7            of an output: its norm, and elements k * count / 8 in row-major order
 *   gradient PATH NORM              of the sum of all outputs times fixed numbers
 *
 * and initial values, messages and ownership. */
#include "support/wick.h"
#include <math.h>

enum { PERIOD = 65521, INPUT = 100000, OUTPUT = 100001, SCORES = 8, LINE = 400 };

/* ---- networks by torchvision's names ----------------------------------------------------------------------------- */

/* Creates a network; number is what follows the prefix in its name. */
typedef wk_module *create_fn(const char *number, wk_device device);

static wk_module *lenet(const char *number, wk_device device)
{
    (void)number;
    return wk_nn_lenet(.device = device);
}

static wk_module *nin(const char *number, wk_device device)
{
    (void)number;
    return wk_nn_nin(.device = device);
}

static wk_module *alexnet(const char *number, wk_device device)
{
    (void)number;
    return wk_nn_alexnet(.device = device);
}

static wk_module *googlenet(const char *number, wk_device device)
{
    return *number ? wk_nn_googlenet(.aux_logits = true, .dropout = 0, .dropout_aux = 0, .device = device)
                   : wk_nn_googlenet(.device = device);
}

static wk_module *resnext(const char *number, wk_device device)
{
    return strcmp(number, "50_32x4d") == 0 ? wk_nn_resnext50(.device = device)
                                           : wk_nn_resnet(101, .groups = 32, .width_per_group = 8, .device = device);
}

static wk_module *wide_resnet(const char *number, wk_device device)
{
    return wk_nn_resnet(atoi(number), .width_per_group = 128, .device = device);
}

static wk_module *resnet(const char *number, wk_device device)
{
    return wk_nn_resnet(atoi(number), .device = device);
}

static wk_module *densenet(const char *number, wk_device device)
{
    return wk_nn_densenet(atoi(number), .device = device);
}

static wk_module *vgg(const char *number, wk_device device)
{
    return wk_nn_vgg(atoi(number), .batch_norm = strstr(number, "_bn") != NULL, .device = device);
}

static wk_module *regnet(const char *number, wk_device device)
{
    return wk_nn_regnet(number, .device = device);
}

static wk_module *mobilenet_v2(const char *number, wk_device device)
{
    return wk_nn_mobilenet_v2(.width = *number ? atof(number + 1) : 1, .device = device);
}

static wk_module *vit(const char *number, wk_device device)
{
    if (strcmp(number, "small") == 0)
        return wk_nn_vit(.image_size = 32, .patch_size = 8, .hidden_size = 64, .num_hidden_layers = 3,
                         .num_attention_heads = 4, .intermediate_size = 96, .classes = 10, .device = device);
    const int64_t patch = atoi(strchr(number, '_') + 1);
    if (*number == 'b') return wk_nn_vit(.patch_size = patch, .device = device);
    const bool huge = *number == 'h';
    return wk_nn_vit(.patch_size = patch, .hidden_size = huge ? 1280 : 1024, .num_hidden_layers = huge ? 32 : 24,
                     .num_attention_heads = 16, .intermediate_size = huge ? 5120 : 4096, .device = device);
}

static wk_module *create(const char *name, wk_device device)
{
    static const struct {
        const char *prefix;
        create_fn *create;
    } all[] = {{"lenet", lenet},     {"nin", nin},        {"alexnet", alexnet},           {"googlenet", googlenet},
               {"resnext", resnext}, {"resnet", resnet},  {"wide_resnet", wide_resnet},   {"densenet", densenet},
               {"vgg", vgg},         {"regnet_", regnet}, {"mobilenet_v2", mobilenet_v2}, {"vit_", vit}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const size_t length = strlen(all[k].prefix);
        if (strncmp(name, all[k].prefix, length) == 0) return all[k].create(name + length, device);
    }
    fail_msg("models.txt: unknown network %s", name);
    return NULL;
}

/* ---- numbers that the script repeats ----------------------------------------------------------------------------- */

/* Writes tensor number `number`: a hash of the index modulo PERIOD, uniform in [low, high). */
static void fill(wk_tensor *x, int number, double low, double high)
{
    WK_NO_GRAD;
    const int64_t count = wk_numel(x), distinct = count < PERIOD ? count : PERIOD;
    float *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int64_t k = 0; k < distinct; k++) {
        uint32_t h = (uint32_t)k * 2654435761u + (uint32_t)number * 40503u + 1;
        h = (h ^ h >> 16) * 0x7feb352du;
        h = (h ^ h >> 15) * 0x846ca68bu;
        h ^= h >> 16;
        values[k] = (float)(low + (high - low) * (h / 4294967296.0));
    }
    for (int64_t k = distinct; k < count; k += PERIOD)
        memcpy(values + k, values, (size_t)(count - k < PERIOD ? count - k : PERIOD) * sizeof *values);
    wk_copy_(x, wk_view_as(wk_from(values, (count)), x));
    free(values);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static void fill_network(wk_module *net)
{
    wk_tensors *lists[] = {wk_parameters(net), wk_buffers(net)};
    int number = 0;
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < wk_tensors_count(lists[l]); k++, number++) {
            wk_tensor *x = wk_tensors_get(lists[l], k);
            const char *name = wk_tensors_name(lists[l], k);
            const double bound = wk_ndim(x) > 1 ? sqrt(6.0 / (double)(wk_numel(x) / wk_size(x, 0))) : 0.1;
            if (wk_ndim(x) == 0) continue;
            if (wk_ndim(x) > 1 || ends_in(name, "bias") || ends_in(name, "mean"))
                fill(x, number, -bound, bound);
            else
                fill(x, number, 0.5, 1.5);
        }
}

static uint64_t names_hash(wk_module *net)
{
    wk_tensors *lists[] = {wk_parameters(net), wk_buffers(net)};
    uint64_t h = 0xcbf29ce484222325u;
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < wk_tensors_count(lists[l]); k++) {
            char text[256];
            int length = snprintf(text, sizeof text, "%s:", wk_tensors_name(lists[l], k));
            wk_tensor *x = wk_tensors_get(lists[l], k);
            for (int d = 0; d < wk_ndim(x); d++)
                length += snprintf(text + length, sizeof text - (size_t)length, d ? ",%lld" : "%lld",
                                   (long long)wk_size(x, d));
            snprintf(text + length, sizeof text - (size_t)length, ";");
            for (const char *c = text; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001b3u;
        }
    return h;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static FILE *open_goldens(void)
{
    const char *root = getenv("WICK_SOURCE");
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/goldens/models.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    return file;
}

/* The null device has no elements, so that the large networks cost nothing. */
static void names_and_shapes_are_those_of_torchvision(void **state)
{
    (void)state;
    FILE *file = open_goldens();
    char line[LINE], name[64];
    long long parameters;
    unsigned long long hash;
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "names %63s %lld %llx", name, &parameters, &hash) != 3) continue;
        WK_SCOPE;
        wk_module *net = create(name, test_null());
        expect_ok();
        if (wk_parameter_count(net) != parameters)
            fail_msg("%s has %lld parameters; expected %lld", name, (long long)wk_parameter_count(net), parameters);
        if (names_hash(net) != hash) fail_msg("%s has other names or shapes than in torchvision", name);
        count++;
    }
    fclose(file);
    assert_true(count >= 48);
}

/* A network between its lines in the file. */
typedef struct network {
    char name[64];
    wk_module *net;
    wk_tensor *out[3];
    int outputs, seen;
    bool backward_done;
} network;

/* Replaces the wide linear layers of AlexNet and VGG, which have most of their parameters, by narrow ones. */
static void narrow(network *n)
{
    const bool vgg = strncmp(n->name, "vgg", 3) == 0;
    if (!vgg && strcmp(n->name, "alexnet") != 0) return;
    wk_module_replace(n->net, vgg ? "classifier.0" : "classifier.1", wk_nn_linear(vgg ? 25088 : 9216, 16));
    wk_module_replace(n->net, vgg ? "classifier.3" : "classifier.4", wk_nn_linear(16, 12));
    wk_module_replace(n->net, "classifier.6", wk_nn_linear(12, 10));
}

/* Reads NAME MODE SHAPE. Elements of a network on the null device, which need no initial values, are those that
 * fill_network() writes afterwards. In training, where batch norm amplifies rounding, the numbers are of 64 bits. */
static void begin_network(network *n, const char *line)
{
    char mode[8];
    int length = 0;
    int64_t shape[4];
    *n = (network){0};
    assert_int_equal(sscanf(line, "values %63s %7s%n", n->name, mode, &length), 2);
    const char *sizes = line + length;
    for (int d = 0; d < 4; d++) shape[d] = strtoll(sizes, (char **)(uintptr_t)&sizes, 10);
    const bool training = strcmp(mode, "train") == 0;
    const wk_dtype dtype = training ? WK_F64 : WK_F32;
    n->net = create(n->name, test_null());
    narrow(n);
    wk_module_to(n->net, wk_device_parse("cpu"));
    wk_module_to_dtype(n->net, dtype);
    wk_module_train(n->net, training);
    fill_network(n->net);
    wk_tensor *x = wk_empty(WK_ARRAY(shape, 4), .dtype = dtype);
    fill(x, INPUT, -1, 1);
    n->outputs = wk_forward_n(n->net, (x), n->out, strstr(n->name, "_aux") ? 3 : 1);
    expect_ok();
}

static void compare(const network *n, const char *what, double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance)) fail_msg("%s, %s: %.8g, expected %.8g", n->name, what, got, expected);
}

/* Elements may differ by 1e-4 of their root mean square. */
static void compare_scores(network *n, const char *line)
{
    assert_true(n->seen < n->outputs);
    wk_tensor *y = wk_flatten(n->out[n->seen++], 0, -1);
    const int64_t count = wk_numel(y);
    const double norm = strtod(line, (char **)(uintptr_t)&line), tolerance = 1e-4 * norm / sqrt((double)count);
    compare(n, "norm of the scores", wk_item(wk_sqrt(wk_sum(wk_square(y)))), norm, 1e-4 * norm);
    for (int k = 0; k < SCORES; k++)
        compare(n, "a score", wk_item(wk_select(y, 0, k * count / SCORES)), strtod(line, (char **)(uintptr_t)&line),
                tolerance);
}

static void compare_gradient(network *n, const char *path, double expected)
{
    if (!n->backward_done) {
        wk_tensor *sum = wk_zeros((), .dtype = WK_F64);
        for (int k = 0; k < n->outputs; k++) {
            wk_tensor *factors = wk_empty_like(n->out[k]);
            fill(factors, OUTPUT + k, -1, 1);
            sum = wk_add(sum, wk_sum(wk_mul(n->out[k], factors)));
        }
        assert_int_equal(wk_backward(sum), WK_OK);
        n->backward_done = true;
    }
    wk_tensor *grad = wk_grad_of(wk_module_parameter(n->net, path));
    compare(n, path, wk_item(wk_sqrt(wk_sum(wk_square(grad)))), expected, 1e-3 * expected);
}

static void compare_line(network *n, const char *line)
{
    char path[128];
    double norm;
    if (strncmp(line, "scores ", 7) == 0) compare_scores(n, line + 7);
    if (sscanf(line, "gradient %127s %lf", path, &norm) == 2) compare_gradient(n, path, norm);
}

static void outputs_and_gradients_are_those_of_torchvision(void **state)
{
    (void)state;
    FILE *file = open_goldens();
    char line[LINE] = "";
    int count = 0;
    while (strncmp(line, "values ", 7) == 0 || fgets(line, sizeof line, file)) {
        if (strncmp(line, "values ", 7) != 0) continue;
        WK_SCOPE;
        network n;
        begin_network(&n, line);
        while (fgets(line, sizeof line, file) && strncmp(line, "values ", 7) != 0) compare_line(&n, line);
        expect_ok();
        assert_int_equal(n.seen, n.outputs);
        if (feof(file)) line[0] = '\0';
        count++;
    }
    fclose(file);
    assert_int_equal(count, 14);
}

/* ---- initial values ---------------------------------------------------------------------------------------------- */

static double deviation(wk_module *net, const char *path)
{
    wk_tensor *x = wk_module_parameter(net, path);
    return wk_item(wk_std(x));
}

static double largest(wk_module *net, const char *path)
{
    return wk_item(wk_amax(wk_abs(wk_module_parameter(net, path))));
}

static void expect_deviation(wk_module *net, const char *path, double expected)
{
    const double got = deviation(net, path);
    if (!(fabs(got / expected - 1) < 0.05)) fail_msg("%s: deviation %g, expected %g", path, got, expected);
}

/* Those of torchvision's constructors. */
static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *m = wk_nn_resnet(18, .zero_init_residual = true);
    expect_deviation(m, "layer3.0.conv1.weight", sqrt(2.0 / (256 * 9))); /* fan_out */
    expect_deviation(m, "fc.weight", 1 / sqrt(512 * 3));
    assert_true(largest(m, "layer2.1.bn2.weight") == 0 && largest(m, "layer2.1.bn1.weight") == 1);
    m = wk_nn_densenet(121, .classes = 20);
    expect_deviation(m, "features.denseblock1.denselayer6.conv2.weight", sqrt(2.0 / (128 * 9)));
    expect_deviation(m, "classifier.weight", 1 / sqrt(1024 * 3));
    assert_true(largest(m, "classifier.bias") == 0);
    m = wk_nn_mobilenet_v2();
    expect_deviation(m, "features.18.0.weight", sqrt(2.0 / 1280));
    expect_deviation(m, "classifier.1.weight", 0.01);
    assert_true(largest(m, "classifier.1.bias") == 0);
    m = wk_nn_regnet("y_400mf");
    expect_deviation(m, "trunk_output.block4.block4-1.f.a.0.weight", sqrt(2.0 / 440));
    expect_deviation(m, "fc.weight", 0.01);
    assert_true(largest(m, "fc.bias") == 0 && largest(m, "trunk_output.block4.block4-1.f.se.fc1.bias") > 0);
    m = wk_nn_googlenet(.aux_logits = true);
    expect_deviation(m, "inception5b.branch2.1.conv.weight", 0.01);
    expect_deviation(m, "aux1.fc1.weight", 0.01);
    assert_true(largest(m, "fc.bias") > 0);
    m = wk_nn_vit(.num_hidden_layers = 1);
    expect_deviation(m, "conv_proj.weight", sqrt(1.0 / 768));
    expect_deviation(m, "encoder.pos_embedding", 0.02);
    expect_deviation(m, "encoder.layers.encoder_layer_0.mlp.0.weight", sqrt(2.0 / (768 + 3072)));
    expect_deviation(m, "encoder.layers.encoder_layer_0.mlp.3.bias", 1e-6);
    assert_true(largest(m, "class_token") == 0 && largest(m, "conv_proj.bias") == 0);
    assert_true(largest(m, "heads.head.weight") == 0 && largest(m, "heads.head.bias") == 0);
    m = wk_nn_lenet();
    expect_deviation(m, "7.weight", sqrt(2.0 / (400 + 120)));
    assert_true(largest(m, "7.weight") < sqrt(6.0 / (400 + 120)));
    expect_ok();
}

/* The same seed gives the same values, whatever the compiler's order of evaluation. */
static void initial_values_depend_on_the_seed(void **state)
{
    (void)state;
    WK_SCOPE;
    double sums[3];
    for (int k = 0; k < 3; k++) {
        wk_seed(k < 2 ? 5 : 6);
        sums[k] = wk_item(wk_sum(wk_module_parameter(wk_nn_lenet(), "9.bias")));
    }
    assert_true(sums[0] == sums[1] && sums[0] != sums[2]);
    expect_ok();
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

static void options_change_the_network(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *m = wk_nn_resnet(18, .classes = 7, .in_channels = 1);
    EXPECT_SHAPE(wk_forward(m, wk_rand((2, 1, 32, 32))), 2, 7);
    EXPECT_SHAPE(wk_module_parameter(m, "conv1.weight"), 64, 1, 7, 7);
    m = wk_nn_lenet(.classes = 3, .in_channels = 2);
    EXPECT_SHAPE(wk_forward(m, wk_rand((4, 2, 28, 28))), 4, 3);
    m = wk_nn_nin(.classes = 4, .dropout = 0);
    wk_tensor *x = wk_rand((1, 3, 67, 67));
    EXPECT_SHAPE(wk_forward(m, x), 1, 4);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_forward(m, x), wk_forward(m, x))))) == 0); /* training, no dropout */
    m = wk_nn_densenet(121, .classes = 2, .dropout = 0.1);
    assert_string_equal(wk_module_kind_name(wk_module_child(m, "features.denseblock1.denselayer1.dropout")), "dropout");
    wk_module_replace(m, "classifier", wk_nn_linear(1024, 3));
    EXPECT_SHAPE(wk_forward(m, wk_rand((2, 3, 32, 32))), 2, 3);
    expect_ok();
}

/* Dropout acts where torchvision's does: in a network for evaluation, each of these modules alone, back in training,
 * makes two calls differ. */
static void dropout_of_vit(void **state)
{
    (void)state;
    static const char *const paths[] = {"encoder.dropout", "encoder.layers.encoder_layer_0.self_attention",
                                        "encoder.layers.encoder_layer_0.dropout",
                                        "encoder.layers.encoder_layer_0.mlp.2", "encoder.layers.encoder_layer_0.mlp.4"};
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *m = wk_nn_vit(.image_size = 16, .patch_size = 4, .hidden_size = 16, .num_hidden_layers = 1,
                             .num_attention_heads = 2, .intermediate_size = 32, .classes = 3, .in_channels = 1,
                             .dropout = 0.5, .attention_dropout = 0.5);
    wk_init_normal_(wk_module_parameter(m, "heads.head.weight"), 0, 1);
    wk_tensor *x = wk_rand((2, 1, 16, 16));
    EXPECT_SHAPE(wk_forward(m, x), 2, 3);
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        wk_module_train(m, false);
        assert_true(wk_item(wk_dist(wk_forward(m, x), wk_forward(m, x))) == 0);
        wk_module_train(wk_module_child(m, paths[k]), true);
        if (!(wk_item(wk_dist(wk_forward(m, x), wk_forward(m, x))) > 0)) fail_msg("no dropout in %s", paths[k]);
    }
    m = wk_nn_vit(.image_size = 16, .patch_size = 4, .hidden_size = 16, .num_hidden_layers = 1,
                  .num_attention_heads = 2, .in_channels = 1);
    wk_init_normal_(wk_module_parameter(m, "heads.head.weight"), 0, 1);
    assert_true(wk_item(wk_dist(wk_forward(m, x), wk_forward(m, x))) == 0); /* training; both are 0 by default */
    assert_non_null(strstr(wk_module_str(m), "(ln_1): LayerNorm((16,), eps=1e-06, "));
    expect_ok();
}

static void googlenet_returns_auxiliary_scores_in_training(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *m = wk_nn_googlenet(.classes = 5, .aux_logits = true);
    wk_tensor *x = wk_rand((2, 3, 32, 32)), *out[3];
    EXPECT_SHAPE(wk_forward(m, x), 2, 5);
    assert_int_equal(wk_forward_n(m, (x), out, 2), 1);
    assert_int_equal(wk_forward_n(m, (x), out, 3), 3);
    EXPECT_SHAPE(out[2], 2, 5);
    wk_module_train(m, false);
    assert_int_equal(wk_forward_n(m, (x), out, 3), 1);
    expect_ok();
    assert_int_equal(wk_forward_n(m, (x, x), out, 3), -1);
    expect_error("forward", "one input", "got 2 inputs", NULL);
}

/* Without a scope the network belongs to the caller, and its parts to the network. */
static void a_network_is_one_object(void **state)
{
    (void)state;
    wk_module *m = wk_nn_lenet();
    wk_tensor *bias = wk_module_parameter(m, "0.bias");
    assert_int_equal(wk_numel(bias), 6);
    wk_free(m);
    assert_int_equal(wk_numel(bias), 0);
    expect_error("numel", NULL);
}

static void a_network_is_created_on_a_device(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_lenet(.device = test_null());
    assert_int_equal(wk_device_of(wk_module_parameter(m, "11.bias")).kind, test_null().kind);
    assert_int_equal(wk_device_of(wk_zeros((2))).kind, WK_CPU);
    expect_ok();
    assert_null(wk_nn_lenet(.device = wk_device_parse("tpu:0")));
    wk_clear_error();
}

static void mistakes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_resnet(20));
    expect_error("nn_resnet: unknown depth 20", "18, 34, 50, 101 or 152", NULL);
    assert_null(wk_nn_resnet(18, .groups = 2));
    expect_error("nn_resnet", "at least 50 layers, got 18", NULL);
    assert_null(wk_nn_resnext50(.groups = -1));
    expect_error("nn_resnext50", "at least 1, got -1", NULL);
    assert_null(wk_nn_vgg(12));
    expect_error("nn_vgg: unknown depth 12", "11, 13, 16 or 19", NULL);
    assert_null(wk_nn_densenet(120));
    expect_error("nn_densenet: unknown depth 120", NULL);
    assert_null(wk_nn_regnet("z_400mf"));
    expect_error("nn_regnet: unknown name \"z_400mf\"", "y_128gf", NULL);
    assert_null(wk_nn_regnet(NULL));
    expect_error("nn_regnet", "NULL", NULL);
    assert_null(wk_nn_alexnet(.classes = -2));
    expect_error("nn_alexnet: .classes must be at least 1, got -2", NULL);
    assert_null(wk_nn_lenet(.in_channels = -2));
    expect_error("nn_lenet: .in_channels must be at least 1, got -2", NULL);
    assert_null(wk_nn_nin(.dropout = 2));
    expect_error("nn_nin", "[0, 1], got 2", NULL);
    assert_null(wk_nn_mobilenet_v2(.width = -1));
    expect_error("nn_mobilenet_v2: .width", "got -1", NULL);
    assert_null(wk_nn_vit(.patch_size = 15));
    expect_error("nn_vit: .image_size must be a multiple of .patch_size, got 224 and 15", NULL);
    assert_null(wk_nn_vit(.num_attention_heads = 5));
    expect_error("nn_vit: .hidden_size must be a multiple of .num_attention_heads, got 768 and 5", NULL);
    assert_null(wk_nn_vit(.num_hidden_layers = -1));
    expect_error("nn_vit: .num_hidden_layers must be at least 1, got -1", NULL);
    assert_null(wk_nn_vit(.num_hidden_layers = 1, .attention_dropout = 2));
    expect_error("nn_", "[0, 1], got 2", NULL);
    assert_null(wk_forward(wk_nn_vit(.num_hidden_layers = 1), wk_rand((1, 3, 224, 192))));
    expect_error("vision_transformer: expected images (N, C, 224, 224), got f32[1,3,224,192]", NULL);
    assert_null(wk_forward(wk_nn_vit(.num_hidden_layers = 1), wk_rand((3, 224, 224))));
    expect_error("vision_transformer: expected images (N, C, 224, 224), got f32[3,224,224]", NULL);
    assert_null(wk_forward(wk_nn_lenet(), wk_rand((1, 3, 28, 28))));
    expect_error("in layer 0 (conv2d)", "3 channels", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_shapes_are_those_of_torchvision),
        cmocka_unit_test(outputs_and_gradients_are_those_of_torchvision),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(initial_values_depend_on_the_seed),
        cmocka_unit_test(options_change_the_network),
        cmocka_unit_test(dropout_of_vit),
        cmocka_unit_test(googlenet_returns_auxiliary_scores_in_training),
        cmocka_unit_test(a_network_is_one_object),
        cmocka_unit_test(a_network_is_created_on_a_device),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
