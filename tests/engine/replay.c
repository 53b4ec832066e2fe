/* SPDX-License-Identifier: Apache-2.0 */
/* Tests flushes as files: a written flush can be read and run again with the same result, in every mode; damaged bytes
 * are refused, or can be run safely. */
#include <wick/log.h>

#include "support/devices.h"
#include "support/flush.h"

#include "base/alloc.h"
#include "engine/host_transfer.h"
#include "engine/replay/replay_run.h"

static char *bytes_of_file(const char *path, int64_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *count = ftell(file);
    rewind(file);
    char *bytes = wk__alloc((size_t)*count);
    assert_int_equal(fread(bytes, 1, (size_t)*count, file), *count);
    fclose(file);
    return bytes;
}

/* ---- running it -------------------------------------------------------------------------------------------------- */

static char said[1 << 16];

static void hear(void *user, const char *line)
{
    (void)user;
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", line);
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
    return count;
}

enum { MOST = 4096 };
static wk__device *device_of[MOST];
static wk__value *value_of[MOST];
static wk__outcome outcome[MOST];

static void run_on_cpu(const wk__flush_data *flush, bool one_by_one)
{
    wk__fail fail = {.tag = -1};
    assert_in_range(flush->values, 1, MOST);
    for (int64_t k = 0; k < flush->values; k++) device_of[k] = wk__device_get(wk_cpu(), &fail);
    wk__replay replay = {
        .flush = flush, .context = wk__context(), .device = device_of, .value = value_of, .eager = one_by_one};
    assert_int_equal(wk__replay_run(&replay, outcome, &fail), WK_OK);
}

static void free_results(const wk__flush_data *flush)
{
    for (int64_t k = 0; k < flush->values; k++) {
        wk__free(outcome[k].bytes);
        outcome[k] = (wk__outcome){0};
    }
}

/* The error that was injected when the flush was written does not recur: all modes agree. */
static void all_modes_agree(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        char path[512];
        make_file(device, path, sizeof path);
        said[0] = 0;
        wk_code code = wk_replay(path, hear, NULL);
        if (code != WK_OK) fail_msg("%s\n%s", wk_error(), said);
        assert_int_equal(times(said, ", identical"), 6);
        assert_non_null(strstr(said, "recorded because of "));
        assert_non_null(strstr(said, "RSUM"));
        assert_non_null(strstr(said, "support/flush.h:"));
        assert_non_null(strstr(said, "a product, and then on "));
        assert_int_equal(unlink(path), 0);
    }
}

/* If the error recurs, the difference is reported. */
static void a_mode_that_differs_is_reported(void **state)
{
    (void)state;
    char path[512];
    make_file(wk_cpu(), path, sizeof path);
    wk__flush_data flush;
    wk__io_error error;
    assert_int_equal(wk__flush_read(path, &flush, &error), WK_OK);
    const int64_t records = flush.records;
    wk__flush_free(&flush);
    said[0] = 0;
    corrupt_install(wk_cpu());
    corrupt_arm((corrupt_request){.n = records + 3, .how = CORRUPT_RESULT, .which = 0, .place = 0, .number = 1000});
    assert_int_equal(wk_replay(path, hear, NULL), WK_ERR_INTERNAL);
    corrupt_remove();
    expect_error("replay: results differ in 1 of 6 modes", NULL);
    assert_non_null(strstr(said, "DIFFERS: "));
    assert_non_null(strstr(said, " is 1000, but "));
    assert_int_equal(unlink(path), 0);
}

/* The results are those of the program. */
static void results_are_the_programs(void **state)
{
    (void)state;
    wk__flush_data flush;
    make_flush(&flush);
    wk_tensor *result[RESULTS];
    record_every_kind(wk_cpu(), result);
    wk_sync();
    expect_ok();
    run_on_cpu(&flush, false);
    for (int k = 0; k < RESULTS; k++) {
        const wk__value *want = wk__body_of(result[k])->storage->value;
        int found = 0;
        for (int64_t v = 0; v < flush.values; v++)
            found += outcome[v].bytes && flush.value[v].bytes == want->bytes &&
                     memcmp(outcome[v].bytes, want->memory.host, (size_t)want->bytes) == 0;
        if (!found) fail_msg("result %d is missing in the replay", k);
    }
    free_results(&flush);
    wk__flush_free(&flush);
    let_go(result);
}

/* The cause of an operand's earlier failure is not in the file: dependent results report that, and read no memory. */
static void operands_that_had_failed(void **state)
{
    (void)state;
    wk__flush_data flush;
    make_flush(&flush);
    for (int64_t v = 0; v < flush.values; v++)
        if (flush.value[v].flags & WK__FLUSH_IN_MEMORY) {
            flush.value[v].flags = WK__FLUSH_FAILED;
            flush.value[v].data = NULL;
        }
    run_on_cpu(&flush, false);
    wk__report_posted_failure(wk__context());
    expect_error("had failed before", NULL);
    free_results(&flush);
    wk__flush_free(&flush);
}

/* A bad index is reported with the same message as at the call. */
static void bad_indices_of_labels_are_reported(void **state)
{
    (void)state;
    char path[512];
    wk_tensor *scores = wk_retain(wk_arange(6, .dtype = WK_F32)), *label = wk_retain(wk_arange(2)), *losses = NULL;
    wk_sync();
    {
        WK_SCOPE;
        losses = wk_retain(wk_cross_entropy(wk_reshape(scores, (2, 3)), wk_add(label, 1), .reduction = WK_REDUCE_NONE));
    }
    const int64_t records = wk__context()->op_queue->count;
    corrupt_install(wk_cpu());
    corrupt_arm((corrupt_request){.n = records + 1, .how = CORRUPT_RESULT, .which = 0, .place = 0, .number = 1000});
    wk_sync();
    assert_true(corrupt_remove());
    path_in_error(path, sizeof path);
    wk_free(losses), wk_free(label), wk_free(scores);

    wk__flush_data flush;
    wk__io_error error;
    assert_int_equal(wk__flush_read(path, &flush, &error), WK_OK);
    int labels = 0;
    for (int64_t k = 0; k < flush.records; k++) labels += flush.record[k].record->op->index_is_label;
    assert_int_equal(labels, 1);
    wk__flush_free(&flush);
    assert_int_equal(unlink(path), 0);
}

/* Failures, and devices that report faults later, refer to records by name and may outlive the flush. */
static void names_outlive_the_flush(void **state)
{
    (void)state;
    wk__flush_data flush;
    make_flush(&flush);
    const wk__record *r = flush.record[0].record;
    const wk_site site = r->site;
    const char *name = r->name, *op = r->op->name, *fault = r->op->fault_message;
    wk__failure *failure = wk__failure_new(WK_ERR_INDEX, site, "what a device found in the end");
    wk__flush_free(&flush);
    wk__post_failure(wk__context(), failure);
    wk__failure_drop(failure);
    wk__report_posted_failure(wk__context());
    expect_error("support/flush.h:", "what a device found in the end", NULL);
    assert_true(strlen(name) > 0 && strlen(op) > 0 && (!fault || strlen(fault) > 0));
}

/* A thread flushes in the modes of the process while another one replays. */
typedef struct bystander {
    atomic_bool done;
    atomic_llong flushes;
    int64_t groups, checked;
} bystander;

static void *compute(void *user)
{
    bystander *b = user;
    WK_SCOPE;
    while (!atomic_load(&b->done)) {
        WK_SCOPE;
        wk_tensor *x = wk_ones((3)), *y = wk_mul(wk_add(wk_mul(x, 2), 1), 3);
        const wk__op_queue before = *wk__context()->op_queue;
        wk_item(wk_sum(y));
        const wk__op_queue *after = wk__context()->op_queue;
        b->flushes++;
        b->groups += after->groups - before.groups;
        b->checked += after->config->check;
    }
    return NULL;
}

static void other_threads_are_not_affected(void **state)
{
    (void)state;
    char path[512];
    make_file(wk_cpu(), path, sizeof path);
    wk__engine_config_set_check(false);
    bystander other = {.flushes = 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, compute, &other), 0);
    for (int k = 0; k < 10 || atomic_load(&other.flushes) == 0; k++) /* a busy machine starts it late */
        if (wk_replay(path, NULL, NULL) != WK_OK) fail_msg("%s", wk_error());
    atomic_store(&other.done, true);
    pthread_join(thread, NULL);
    assert_true(other.flushes > 0);
    assert_int_equal(other.groups, other.flushes); /* one pass each: neither unfused nor call by call */
    assert_int_equal(other.checked, 0);
    assert_false(wk__engine_config_get()->sync || wk__engine_config_get()->nofuse || wk__engine_config_get()->check);
    assert_ptr_equal(wk__context()->op_queue->config, wk__engine_config_get());
    assert_int_equal(unlink(path), 0);
}

/* ---- invalid files ----------------------------------------------------------------------------------------------- */

/* A changed number may require more memory or time than a test has. */
static bool is_small(const wk__flush_data *flush)
{
    enum { SMALL = 1 << 20 };
    int64_t sum = 0;
    for (int64_t k = 0; k < flush->values && sum < SMALL; k++)
        sum += flush->value[k].bytes < SMALL ? flush->value[k].bytes : SMALL;
    for (int64_t k = 0; k < flush->records && sum < SMALL; k++) {
        wk__record *r = flush->record[k].record;
        const int64_t elements = wk__numel(r->ndim, wk__record_shape(r));
        const int64_t products = wk__record_family(r)->is_contraction ? wk__contraction_k(wk__record_sum(r)) : 1;
        const bool small = elements < SMALL && r->bound < SMALL && products < SMALL;
        sum += small ? elements * products : SMALL;
    }
    return sum < SMALL;
}

/* Reads a copy of the bytes; if they are valid and small, runs them. */
static bool passes(const char *bytes, int64_t count, bool run)
{
    wk__flush_data flush;
    wk__io_error error = {0};
    char *copy = memcpy(wk__alloc((size_t)count + 1), bytes, (size_t)count);
    wk_code code = wk__flush_parse(copy, count, &flush, &error);
    if (code != WK_OK && (code != WK_ERR_FORMAT || !strstr(error.text, "invalid flush file")))
        fail_msg("code %d: %s", (int)code, error.text);
    if (code != WK_OK) return false;
    if (run && is_small(&flush)) run_on_cpu(&flush, true);
    wk__discard_posted_failure(wk__context());
    wk_clear_error();
    free_results(&flush);
    wk__flush_free(&flush);
    return true;
}

/* Truncated at each byte, and with each byte changed in two ways. */
static void changed_files(void **state)
{
    (void)state;
    char path[512];
    int64_t count;
    make_file(wk_cpu(), path, sizeof path);
    wk__engine_config_set_check(false);
    char *bytes = bytes_of_file(path, &count);
    assert_true(passes(bytes, count, true));
    for (int64_t k = 0; k < count; k++) assert_false(passes(bytes, k, false)); /* truncated */
    int64_t passed = 0;
    static const unsigned char changes[] = {0x01, 0x80};
    for (int64_t k = 0; k < count; k++)
        for (size_t c = 0; c < sizeof changes; c++) {
            bytes[k] = (char)(bytes[k] ^ changes[c]);
            passed += passes(bytes, count, k % 8 == 0);
            bytes[k] = (char)(bytes[k] ^ changes[c]);
        }
    assert_true(passed > 50 && passed < 2 * count); /* counts, names, lines */
    wk__free(bytes);
    assert_int_equal(unlink(path), 0);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    char path[512];
    assert_int_equal(wk_replay("/nowhere/at.all", NULL, NULL), WK_ERR_IO);
    expect_error("replay: ", "/nowhere/at.all", NULL);
    assert_int_equal(wk_replay(NULL, NULL, NULL), WK_ERR_ARGUMENT);
    expect_error("replay: the path is NULL", NULL);
    snprintf(path, sizeof path, "%s/other", folder());
    FILE *file = fopen(path, "w");
    fputs("this is something else, of more than thirty-two bytes", file);
    fclose(file);
    assert_int_equal(wk_replay(path, NULL, NULL), WK_ERR_FORMAT);
    expect_error("invalid flush file: ", "other", NULL);
    assert_int_equal(unlink(path), 0);
}

/* An unwritable folder is reported, and the difference as well. */
static void an_unwritable_folder(void **state)
{
    (void)state;
    setenv("WICK_CHECK_DIR", "/nowhere", 1);
    wk_tensor *result[RESULTS];
    record_every_kind(wk_cpu(), result);
    corrupt_install(wk_cpu());
    corrupt_arm(
        (corrupt_request){.n = wk__context()->op_queue->count + 3, .how = CORRUPT_RESULT, .place = 0, .number = 1000});
    wk_sync();
    expect_error("is 1000, but ", "It could not be saved: /nowhere", NULL);
    setenv("WICK_CHECK_DIR", folder(), 1);
    let_go(result);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, corrupt_setup, corrupt_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {ONE(all_modes_agree),
                                       ONE(a_mode_that_differs_is_reported),
                                       ONE(results_are_the_programs),
                                       ONE(operands_that_had_failed),
                                       ONE(bad_indices_of_labels_are_reported),
                                       ONE(names_outlive_the_flush),
                                       ONE(other_threads_are_not_affected),
                                       ONE(changed_files),
                                       ONE(other_files_are_refused),
                                       ONE(an_unwritable_folder)};
    setenv("WICK_CHECK_DIR", folder(), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
