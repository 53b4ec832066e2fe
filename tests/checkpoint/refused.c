/* SPDX-License-Identifier: Apache-2.0 */
/* Tests checkpoints that cannot be loaded: corrupted, of another kind, of another training. A refusal changes
 * nothing. */
#include "support/training.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "hostile/scratch.h"
#include <base/platform/file.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s", scratch(name));
    return path;
}

typedef struct content {
    char *data;
    int64_t bytes;
} content;

static content read_file(const char *path)
{
    wk__io_error error;
    wk__file file;
    assert_int_equal(wk__file_open(&file, path, &error), WK_OK);
    content c = {malloc((size_t)file.bytes + 1), file.bytes};
    assert_int_equal(wk__file_read_at(&file, 0, c.data, c.bytes, &error), WK_OK);
    wk__file_close(&file);
    return c;
}

static void write_file(const char *path, const char *data, int64_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, (size_t)bytes), bytes);
    close(fd);
}

/* The checksum as documented in docs/reference/file-formats.md: of all bytes, with its own digits as 0. */
static void seal(content c)
{
    static const char key[] = "\"wick.crc32\":\"";
    char digits[9], *at = memmem(c.data, (size_t)c.bytes, key, sizeof key - 1);
    assert_non_null(at);
    at += sizeof key - 1;
    memset(at, '0', 8);
    snprintf(digits, sizeof digits, "%08lx", crc32(0, (const unsigned char *)c.data, (uInt)c.bytes));
    memcpy(at, digits, 8);
}

/* A training that has taken some steps, and a file of fewer steps. */
static test_training trained(test_optimiser *optimiser, const char *path)
{
    const test_config plan = {
        .optimiser = optimiser, .device = wk_cpu(), .samples = 22, .batch = 4, .path = path, .blocking = true};
    test_training t = test_begin(&plan, 1);
    unlink(path);
    test_train(&t, 1, 4, 3);
    expect_ok();
    return t;
}

/* Expects an error that begins with these words, and that nothing has changed. */
static void refuses(test_training *t, wk_code code, const char *first, const char *second)
{
    const int64_t step = wk_checkpoint_step(t->checkpoint), epoch = wk_loader_epoch(t->loader);
    wk_seed(4);
    const uint64_t before = test_state(t);
    wk_seed(4);
    if (wk_checkpoint_load(t->checkpoint)) fail_msg("the checkpoint was loaded");
    if (wk_error_code() != code) fail_msg("code %d, not %d: %s", (int)wk_error_code(), (int)code, wk_error());
    expect_error("checkpoint_load: ", first, second, NULL);
    assert_true(test_state(t) == before);
    assert_int_equal(wk_checkpoint_step(t->checkpoint), step);
    assert_int_equal(wk_loader_epoch(t->loader), epoch);
    assert_null(wk_checkpoint_loaded_path(t->checkpoint));
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void truncated_anywhere(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("cut.wick");
    test_training t = trained(test_momentum, path);
    const content whole = read_file(path);
    for (int64_t bytes = 0; bytes < whole.bytes; bytes += bytes < 300 ? 1 : 41) {
        write_file(path, whole.data, bytes);
        refuses(&t, WK_ERR_FORMAT, "cut.wick", "");
    }
    write_file(path, whole.data, whole.bytes);
    assert_true(wk_checkpoint_load(t.checkpoint));
    free(whole.data);
}

static void a_changed_byte(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("flipped.wick");
    test_training t = trained(test_momentum, path);
    const content whole = read_file(path);
    for (int64_t at = 0; at < whole.bytes; at += at % 16 ? 1 : 3) {
        const char bit = (char)(1 << at % 8);
        whole.data[at] = (char)(whole.data[at] ^ bit);
        write_file(path, whole.data, whole.bytes);
        refuses(&t, WK_ERR_FORMAT, "flipped.wick", "");
        whole.data[at] = (char)(whole.data[at] ^ bit);
    }
    write_file(path, whole.data, whole.bytes);
    whole.data[whole.bytes - 1]++;
    write_file(path, whole.data, whole.bytes);
    refuses(&t, WK_ERR_FORMAT, "corrupted: checksum is ", ", expected ");
    write_file(path, "", 0);
    refuses(&t, WK_ERR_FORMAT, "flipped.wick", "not a safetensors file");
    free(whole.data);
}

/* The bytes match the checksum, but are not those of a checkpoint. */
static void valid_checksum_bad_content(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct {
        const char *from, *to;
        wk_code code;
        const char *first, *second;
    } edits[] = {
        {"\"wick.checkpoint\":\"1\"", "\"wick.checkpoint\":\"2\"", WK_ERR_UNSUPPORTED, "checkpoint format 2",
         "which reads format 1"},
        {"\"wick.checkpoint\":\"1\"", "\"wick.checkpoint\":\"x\"", WK_ERR_FORMAT, "not a checkpoint",
         "wick.checkpoint"},
        {"\"wick.checkpoint\":\"1\"", "\"wick.chackpoint\":\"1\"", WK_ERR_FORMAT, "not a checkpoint",
         "wick.checkpoint"},
        {"\"wick.step\":\"3\"", "\"wick.step\":\"-\"", WK_ERR_FORMAT, "no \"wick.step\"", ""},
        {"\"wick.world\":\"1\"", "\"wick.world\":\"2\"", WK_ERR_FORMAT, "missing \"loader\" of 6 values for each of 2",
         ""},
        {"\"wick.world\":\"1\"", "\"wick.world\":\"0\"", WK_ERR_FORMAT, "missing \"loader\" of 6 values for each of 0",
         ""},
        {"\"random\":", "\"rendom\":", WK_ERR_FORMAT, "missing \"random\" of 2 values for each of 1", ""},
        {"\"loader\":", "\"lauder\":", WK_ERR_ARGUMENT,
         "saved without a loader; pass NULL as the loader to wk_checkpoint_new", ""},
        {"\"optim\":", "\"uptim\":", WK_ERR_FORMAT, "not an optimiser state file", ""},
        {"\"net.4.bias\":", "\"net.5.bias\":", WK_ERR_SHAPE, "missing tensor \"net.4.bias\", which is f32[3]",
         "network"},
        {"\"tensors.average\":", "\"tensors.everage\":", WK_ERR_SHAPE, "missing tensor \"tensors.average\"",
         "list of .tensors"},
        {"\"optim.4.bias.momentum_buffer\":", "\"optim.4.baas.momentum_buffer\":", WK_ERR_SHAPE,
         "missing \"4.bias.momentum_buffer\"", ""},
        {"\"optim.0.lr\":\"0.05\"", "\"optim.0.lr\":\"-1.0\"", WK_ERR_ARGUMENT, ".lr = -1", ""},
    };
    const char *path = path_of("sealed.wick");
    test_training t = trained(test_momentum, path);
    const content whole = read_file(path);
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        content changed = {malloc((size_t)whole.bytes), whole.bytes};
        memcpy(changed.data, whole.data, (size_t)whole.bytes);
        char *at = memmem(changed.data, (size_t)changed.bytes, edits[k].from, strlen(edits[k].from));
        if (!at || strlen(edits[k].from) != strlen(edits[k].to)) fail_msg("no %s", edits[k].from);
        memcpy(at, edits[k].to, strlen(edits[k].to));
        seal(changed);
        write_file(path, changed.data, changed.bytes);
        refuses(&t, edits[k].code, edits[k].first, edits[k].second);
        free(changed.data);
    }
    content same = whole;
    seal(same); /* the checksum that it already has */
    write_file(path, same.data, same.bytes);
    assert_true(wk_checkpoint_load(t.checkpoint));
    free(whole.data);
}

static void files_of_other_kinds(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("kinds.wick");
    test_training t = trained(test_momentum, path);
    assert_int_not_equal(wk_load(t.net, path), WK_OK);
    expect_error("missing tensor \"0.weight\"", "; the file is a checkpoint: load it with wk_checkpoint_load", NULL);
    assert_int_equal(wk_save(t.net, path), WK_OK);
    refuses(&t, WK_ERR_FORMAT, "kinds.wick: not a checkpoint", "wick.crc32\"; load files of wk_save with wk_load");
    assert_int_equal(wk_optim_save(t.optim, path), WK_OK);
    refuses(&t, WK_ERR_FORMAT, "not a checkpoint", "");
    const content text = read_file(source_file("README.md"));
    write_file(path, text.data, text.bytes);
    refuses(&t, WK_ERR_FORMAT, "not a safetensors file", "");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(&t, WK_ERR_IO, "Is a directory", "");
    assert_int_not_equal(wk_checkpoint_save(t.checkpoint), WK_OK);
    expect_error("checkpoint_save: ", "Is a directory", NULL);
    rmdir(path);
    free(text.data);
}

/* A checkpoint is a safetensors file that other readers accept. */
static void other_readers(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("readers.wick");
    test_training t = trained(test_adam, path);
    assert_true(wk_checkpoint_load(t.checkpoint));
    wk_tensors *list = wk_load_tensors(path);
    expect_ok();
    wk_tensor *weight = wk_tensors_find(list, "net.0.weight"), *mean = wk_tensors_find(list, "optim.0.weight.exp_avg");
    assert_true(wk_item(wk_all(wk_eq(weight, wk_module_parameter(t.net, "0.weight")))) == 1);
    wk_tensor *own = wk_tensors_find(wk_optim_state(t.optim), "0.weight.exp_avg");
    assert_true(wk_item(wk_all(wk_eq(mean, own))) == 1);
    EXPECT_VALUES(wk_tensors_find(list, "net.1.calls"), 0, 3);
    EXPECT_SHAPE(wk_tensors_find(list, "random"), 1, 2);
    EXPECT_VALUES(wk_tensors_find(list, "loader"), 0, 5, 1, 22, 0, 12, 1);
}

/* Files of the first version remain readable: after two steps of sgd from zeros, on samples 0 to 4 in batches of
 * two. */
static wk_checkpoint *of_version_1(const char *path, wk_module *net, wk_optim **sgd, wk_loader **loader)
{
    wk_init_zeros_(wk_module_parameter(net, "weight"));
    wk_init_zeros_(wk_module_parameter(net, "bias"));
    *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.5, .momentum = 0.25);
    *loader = wk_data_loader(wk_data_tensors(wk_reshape(wk_arange(5.0), (5, 1)), NULL), .batch_size = 2);
    return wk_checkpoint_new(path, net, *sgd, *loader, .tensors = wk_list((wk_full((2), 7))), .blocking = true);
}

static void a_file_of_version_1(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_linear(1, 1);
    wk_optim *sgd;
    wk_loader *loader;
    wk_checkpoint *c = of_version_1(source_file("tests/fixtures/checkpoint/version_1.wick"), net, &sgd, &loader);
    wk_seed(1);
    if (!wk_checkpoint_load(c)) fail_msg("%s", wk_error());
    assert_int_equal(wk_checkpoint_step(c), 2);
    EXPECT_VALUES(wk_detach(wk_module_parameter(net, "weight")), 0, -3.125);
    EXPECT_VALUES(wk_detach(wk_module_parameter(net, "bias")), 0, -2.25);
    wk_tensors *list = wk_optim_state(sgd);
    EXPECT_VALUES(wk_tensors_find(list, "weight.momentum_buffer"), 0, 5.25);
    EXPECT_VALUES(wk_tensors_find(list, "weight.step"), 0, 2);
    int batches = 0;
    WK_EACH(batch, loader)
    {
        assert_int_equal(batch->index, 2);
        EXPECT_VALUES(batch->x, 0, 4);
        batches++;
    }
    assert_int_equal(batches, 1);
    wk_tensor *drawn = wk_rand((2));
    wk_seed(7);
    wk_rand((3));
    assert_true(wk_item(wk_all(wk_eq(drawn, wk_rand((2))))) == 1);
}

/* ---- another training -------------------------------------------------------------------------------------------- */

static void another_training(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("fit.wick");
    test_training t = trained(test_momentum, path), other = t;
    wk_module *net = wk_nn_sequential(wk_nn_linear(6, 9));
    other.checkpoint = wk_checkpoint_new(path, net, NULL, NULL);
    refuses(&other, WK_ERR_SHAPE, "\"net.0.weight\" is f32[9,6] in the network", "f32[8,6] in the file");
    other.checkpoint = wk_checkpoint_new(path, wk_nn_linear(6, 8, .dtype = WK_F64), NULL, NULL);
    refuses(&other, WK_ERR_SHAPE, "missing tensor \"net.weight\"", "f64[8,6]");
    other.checkpoint = wk_checkpoint_new(path, wk_module_child(t.net, "0"), NULL, NULL);
    refuses(&other, WK_ERR_SHAPE, "missing tensor \"net.weight\"", "f32[8,6]");
    other.checkpoint = wk_checkpoint_new(path, t.net, test_adam(wk_parameters(t.net)), t.loader);
    refuses(&other, WK_ERR_ARGUMENT, "the file holds the state of sgd", "the optimiser is adam");
    wk_dataset *data = wk_data_tensors(wk_zeros((21, 6)), NULL);
    other.checkpoint = wk_checkpoint_new(path, t.net, t.optim, wk_data_loader(data, .shuffle = true, .seed = 5));
    refuses(&other, WK_ERR_ARGUMENT, "the loader has 21 samples", "had 22");
    other.checkpoint = wk_checkpoint_new(path, NULL, NULL, NULL, .tensors = wk_list((wk_zeros((2)))));
    refuses(&other, WK_ERR_SHAPE, "missing tensor \"tensors.0\", which is f32[2] in the list of .tensors", "");
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "average", wk_zeros((8, 6), .dtype = WK_F64));
    other.checkpoint = wk_checkpoint_new(path, NULL, NULL, NULL, .tensors = list);
    refuses(&other, WK_ERR_DTYPE, "\"tensors.average\" is f64[8,6]", "f32[8,6] in the file");
    other.checkpoint = wk_checkpoint_new(path, wk_nn_sequential(wk_nn_lazy_linear(2)), NULL, NULL);
    refuses(&other, WK_ERR_STATE, "lazy_linear", "wk_forward");
    WK_EACH(batch, t.loader)
    {
        (void)batch;
        assert_false(wk_checkpoint_load(t.checkpoint));
        assert_int_equal(wk_error_code(), WK_ERR_STATE);
        expect_error("checkpoint_load: ", "a WK_EACH loop over the loader is in progress", NULL);
        break;
    }
    /* saved without a part of this one */
    wk_checkpoint *bare = wk_checkpoint_new(path, NULL, NULL, NULL, .blocking = true);
    assert_int_equal(wk_checkpoint_save(bare), WK_OK);
    refuses(&t, WK_ERR_SHAPE, "missing tensor \"net.0.weight\"", "");
    other.checkpoint = wk_checkpoint_new(path, NULL, NULL, t.loader);
    refuses(&other, WK_ERR_ARGUMENT, "saved without a loader; pass NULL as the loader to wk_checkpoint_new", "");
    other.checkpoint = wk_checkpoint_new(path, NULL, t.optim, NULL);
    refuses(&other, WK_ERR_FORMAT, "not an optimiser state file", "");
    assert_true(wk_checkpoint_load(bare));
}

static void arguments(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("arguments.wick");
    unlink(path);
    assert_null(wk_checkpoint_new(NULL, NULL, NULL, NULL));
    expect_error("checkpoint_new: the path is NULL", NULL);
    assert_null(wk_checkpoint_new("", NULL, NULL, NULL));
    expect_error("checkpoint_new: the path is empty", NULL);
    assert_null(wk_checkpoint_new(path, NULL, NULL, NULL, .keep = -1));
    expect_error("checkpoint_new: .keep must be at least 1, got -1", NULL);
    assert_null(wk_checkpoint_new(path, (wk_module *)wk_ones((1)), NULL, NULL));
    expect_error("checkpoint_new: the module", "tensor", NULL);
    assert_null(wk_checkpoint_new(path, NULL, (wk_optim *)wk_ones((1)), NULL));
    expect_error("checkpoint_new: the optimiser", "tensor", NULL);
    assert_null(wk_checkpoint_new(path, NULL, NULL, (wk_loader *)wk_ones((1))));
    expect_error("checkpoint_new: the loader", "tensor", NULL);
    assert_null(wk_checkpoint_new(path, NULL, NULL, NULL, .tensors = (wk_tensors *)wk_ones((1))));
    expect_error("checkpoint_new: the list", "tensor", NULL);
    wk_checkpoint *c = wk_checkpoint_new(path, NULL, NULL, NULL, .tensors = wk_list((wk_ones((1)))));
    assert_int_equal(wk_checkpoint_every(c, 0), WK_ERR_ARGUMENT);
    expect_error("checkpoint_every: n must be at least 1, got 0", NULL);
    assert_int_equal(wk_checkpoint_step(c), 0);
    assert_int_not_equal(wk_checkpoint_save(NULL), WK_OK);
    expect_error("checkpoint_save: the checkpoint is NULL", NULL);
    assert_int_not_equal(wk_checkpoint_every(NULL, 1), WK_OK);
    expect_error("checkpoint_every: the checkpoint is NULL", NULL);
    assert_int_not_equal(wk_checkpoint_wait(NULL), WK_OK);
    expect_error("checkpoint_wait: the checkpoint is NULL", NULL);
    assert_false(wk_checkpoint_load(NULL));
    expect_error("checkpoint_load: the checkpoint is NULL", NULL);
    assert_int_equal(wk_checkpoint_step(NULL), 0);
    expect_ok();
    /* while an error is pending */
    wk_reshape(wk_ones((2)), (3));
    assert_null(wk_checkpoint_new(path, NULL, NULL, NULL));
    assert_int_equal(wk_checkpoint_save(c), WK_ERR_SHAPE);
    assert_int_equal(wk_checkpoint_every(c, 1), WK_ERR_SHAPE);
    assert_int_equal(wk_checkpoint_every(c, 2), WK_ERR_SHAPE);
    assert_false(wk_checkpoint_load(c));
    expect_error("reshape", NULL);
    assert_int_equal(wk_checkpoint_step(c), 0); /* a failed step does not count */
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(wk_checkpoint_every(c, 2), WK_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(wk_checkpoint_every(c, 2), WK_OK);
    assert_int_equal(wk_checkpoint_wait(c), WK_OK);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(wk_checkpoint_step(c), 2);
}

/* Work that fails during execution leaves the older file. */
static void work_that_fails(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("work.wick");
    test_training t = trained(test_momentum, path);
    const content before = read_file(path);
    wk_tensor *places = wk_of(int64_t, (1), 50), *row = wk_ones((1, 6));
    {
        WK_NO_GRAD;
        wk_index_add_(wk_tensors_get(t.more, 0), 0, wk_add(places, 0), row);
    }
    assert_int_equal(wk_checkpoint_save(t.checkpoint), WK_ERR_INDEX);
    expect_error("50", NULL);
    const content after = read_file(path);
    assert_int_equal(before.bytes, after.bytes);
    assert_memory_equal(before.data, after.data, (size_t)before.bytes);
    free(before.data);
    free(after.data);
}

/* ---- older files ------------------------------------------------------------------------------------------------- */

static void damage(const char *path)
{
    const content c = read_file(path);
    c.data[c.bytes / 2] ^= 1;
    write_file(path, c.data, c.bytes);
    free(c.data);
}

static void an_older_file_is_loaded(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[300], older[4][320];
    snprintf(path, sizeof path, "%s", path_of("older.wick"));
    for (int k = 1; k <= 4; k++) {
        snprintf(older[k - 1], sizeof older[0], "%s.%d", path, k);
        unlink(older[k - 1]);
    }
    unlink(path);
    test_config plan = {
        .optimiser = test_momentum, .device = wk_cpu(), .samples = 22, .batch = 4, .path = path, .keep = 4};
    test_training t = test_begin(&plan, 1);
    test_train(&t, 1, 4, 1);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    damage(path); /* the same file as path.4 */
    assert_true(wk_checkpoint_load(t.checkpoint));
    assert_int_equal(wk_checkpoint_step(t.checkpoint), 3);
    assert_string_equal(wk_checkpoint_loaded_path(t.checkpoint), older[2]);
    assert_int_equal(truncate(older[2], 20), 0);
    assert_true(wk_checkpoint_load(t.checkpoint));
    assert_int_equal(wk_checkpoint_step(t.checkpoint), 2);
    plan.keep = 1; /* this one has no older files */
    test_training alone = test_begin(&plan, 2);
    refuses(&alone, WK_ERR_FORMAT, "older.wick: corrupted", "");
    damage(older[1]);
    damage(older[0]);
    refuses(&t, WK_ERR_FORMAT, "older.wick: corrupted", ""); /* the error is that of the newest */
    damage(older[0]);
    assert_true(wk_checkpoint_load(t.checkpoint)); /* restored */
    assert_string_equal(wk_checkpoint_loaded_path(t.checkpoint), older[0]);
    assert_int_equal(wk_checkpoint_save(t.checkpoint), WK_OK); /* and there is a newest again */
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    assert_true(wk_checkpoint_load(t.checkpoint));
    assert_string_equal(wk_checkpoint_loaded_path(t.checkpoint), path);
    unlink(path);
    refuses(&t, WK_ERR_STATE, "older.wick does not exist, but ", "older.wick.1 does; rename that file");
    assert_false(wk_checkpoint_load(alone.checkpoint)); /* it keeps one */
    expect_ok();
    for (int k = 0; k < 4; k++) unlink(older[k]);
    assert_false(wk_checkpoint_load(t.checkpoint)); /* the training begins */
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_anywhere),
        cmocka_unit_test(a_changed_byte),
        cmocka_unit_test(valid_checksum_bad_content),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(other_readers),
        cmocka_unit_test(a_file_of_version_1),
        cmocka_unit_test(another_training),
        cmocka_unit_test(arguments),
        cmocka_unit_test(work_that_fails),
        cmocka_unit_test(an_older_file_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
