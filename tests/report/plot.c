/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_plot: what its files show, gaps, escaped text, errors. tests/report/plot_files.sh reads files with an XML
 * parser. */
#include "support/devices.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hostile/scratch.h"
#include <base/alloc.h>

static char text[1 << 20];

/* Saves the plot and returns the text of the file. */
static const char *saved(wk_plot *plot)
{
    const char *path = scratch("plot.svg");
    assert_int_equal(wk_plot_save(plot, path), WK_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int count_of(const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

static void expect_part(const char *part)
{
    if (!strstr(text, part)) fail_msg("no \"%s\" in:\n%s", part, text);
}

/* Returns the data of the path of line n, up to its end. */
static const char *path_of_line(int n)
{
    static char path[1 << 16];
    const char *at = text;
    for (int k = 0; k <= n; k++) {
        at = strstr(at + 1, "<path fill=\"none\"");
        assert_non_null(at);
    }
    at = strstr(at, " d=\"") + 4;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "\""), at);
    return path;
}

static void a_line_is_a_path(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new(.width = 100, .height = 110);
    const double x[] = {0, 5, 10}, y[] = {1, 3, 2};
    assert_int_equal(wk_plot_line(plot, "train", x, y, 3), WK_OK);
    saved(plot);
    /* labels of one digit and margins: the axes are at 27; 5 pixels above and below the values */
    assert_string_equal(path_of_line(0), "M27.0 119.0L77.0 19.0L127.0 69.0");
    expect_part(">train</text>");
    expect_part("text-anchor=\"middle\">5</text>");
    expect_part("text-anchor=\"end\">3</text>");
    assert_int_equal(count_of("<svg"), 1);
    assert_int_equal(count_of("</svg>\n"), 1);
}

static void kinds_of_lines(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_plot *plot = wk_plot_new(.title = "t", .x_label = "x", .y_label = "y", .width = 100, .height = 110);
        wk_history *history = wk_history_new();
        for (int k = 1; k <= 3; k++) wk_history_add(history, wk_full((), k % 3, .device = device));
        wk_tensor *y = wk_to(wk_of(int64_t, (3), 1, 2, 0), device), *x = wk_of(float, (3), 1, 1.5, 2);
        assert_int_equal(wk_plot_line(plot, NULL, NULL, (const double[]){1, 2, 0}, 3), WK_OK);
        assert_int_equal(wk_plot_history(plot, "h", history, .first = 1, .step = 0.5), WK_OK);
        assert_int_equal(wk_plot_tensor(plot, "t", x, y), WK_OK);
        assert_int_equal(wk_plot_tensor(plot, NULL, NULL, y), WK_OK);
        assert_int_equal(wk_plot_history(plot, "h", history), WK_OK);
        saved(plot);
        char first[256];
        snprintf(first, sizeof first, "%s", path_of_line(0));
        assert_string_equal(path_of_line(3), first);
        assert_string_equal(path_of_line(4), first);
        snprintf(first, sizeof first, "%s", path_of_line(1));
        assert_string_equal(path_of_line(2), first);
        assert_int_equal(count_of(">h</text>"), 2);
        assert_int_equal(count_of("h24\""), 3); /* lines in the legend */
        expect_ok();
    }
}

static void gaps(void **state)
{
    (void)state;
    WK_SCOPE;
    const double y[] = {1, 2, NAN, 3, INFINITY, -INFINITY, 4, 5, 6, 1e301, 2};
    wk_plot *plot = wk_plot_new(.width = 100, .height = 100);
    wk_plot_line(plot, NULL, NULL, y, 11);
    saved(plot);
    const char *path = path_of_line(0);
    int runs = 0, points = 0;
    for (; *path; path++) runs += *path == 'M', points += *path == 'L';
    assert_int_equal(runs, 2);
    assert_int_equal(points, 3);
    assert_int_equal(count_of("<circle"), 2);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    plot = wk_plot_new(.log_y = true);
    wk_plot_line(plot, NULL, NULL, (const double[]){1, 10, 0, -5, 100, 1000}, 6);
    saved(plot);
    expect_part(">1000</text>");
    expect_part("L");
    assert_int_equal((int)(strchr(path_of_line(0) + 1, 'M') != NULL), 1);
}

/* Points in one pixel are a dot: a path of no length is invisible. */
static void equal_points(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new(.width = 100, .height = 100);
    wk_plot_line(plot, NULL, (const double[]){0, 5, 5, 5.001, 6, 9}, (const double[]){1, 2, 2, 2, NAN, 3}, 6);
    wk_plot_line(plot, NULL, (const double[]){3, 3}, (const double[]){2, 2}, 2);
    wk_plot_line(plot, NULL, (const double[]){3, 3}, (const double[]){2, 3}, 2);
    saved(plot);
    assert_int_equal(count_of("<circle"), 2);
    assert_string_equal(path_of_line(1), "");
    assert_non_null(strchr(path_of_line(2), 'L'));
}

/* A long line gives at most four points for a column of pixels, among them the extremes. */
static void a_long_line_is_reduced(void **state)
{
    (void)state;
    enum { N = 1000000 };
    WK_SCOPE;
    double *y = malloc(N * sizeof *y);
    assert_non_null(y);
    for (int k = 0; k < N; k++) y[k] = k % 2 ? 1 : -1;
    y[500001] = 5;
    wk_plot *plot = wk_plot_new(.width = 200, .height = 132);
    assert_int_equal(wk_plot_line(plot, NULL, NULL, y, N), WK_OK);
    free(y);
    saved(plot);
    const char *path = path_of_line(0);
    expect_part(" 20.0L"); /* 5 is at the top, below a margin of 14 pixels and of 5 % */
    int points = 0;
    for (; *path; path++) points += *path == 'L';
    assert_in_range(points, 400, 4 * 201);
}

static void text_is_escaped(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new(.title = "<a & \"b\">", .x_label = "\xc3\xa9 \xff\x01", .y_label = "\xef\xbf\xbf");
    wk_plot_line(plot, "</svg>", NULL, NULL, 0);
    saved(plot);
    expect_part(">&lt;a &amp; &quot;b&quot;&gt;</text>");
    expect_part(">\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd</text>");
    expect_part(">\xef\xbf\xbd</text>");
    expect_part(">&lt;/svg&gt;</text>");
    assert_int_equal(count_of("</svg>"), 1);
}

static void empty_plots(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new();
    saved(plot);
    expect_part(">1.0</text>");
    assert_int_equal(count_of("<path fill"), 0);
    wk_plot_line(plot, "nothing", NULL, NULL, 0);
    wk_plot_line(plot, "no number", NULL, (const double[]){NAN}, 1);
    assert_int_equal(wk_plot_history(plot, "history", wk_history_new()), WK_OK);
    assert_int_equal(wk_plot_tensor(plot, "tensor", NULL, wk_zeros((0))), WK_OK);
    saved(plot);
    assert_int_equal(count_of("<path fill"), 4);
    expect_part(">no number</text>");
    expect_ok();
}

/* A line has its points at the time of the call, and a plot may be saved again with more lines. */
static void points_are_copied(void **state)
{
    (void)state;
    WK_SCOPE;
    double y[] = {1, 2};
    char label[] = "a";
    wk_plot *plot = wk_plot_new();
    wk_plot_line(plot, label, NULL, y, 2);
    y[0] = NAN, label[0] = 'b';
    saved(plot);
    expect_part(">a</text>");
    assert_int_equal(count_of("<circle"), 0);
    wk_plot_line(plot, label, NULL, y, 2);
    saved(plot);
    assert_int_equal(count_of("<path fill"), 2);
}

/* ---- mistakes and failures --------------------------------------------------------------------------------------- */

static void mistakes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_plot_new(.width = 49));
    expect_error("plot_new: .width must be in [50, 10000], got 49", NULL);
    assert_null(wk_plot_new(.height = 10001));
    expect_error("plot_new: .height must be in", NULL);
    wk_plot *plot = wk_plot_new();
    const double y[] = {1};
    assert_int_equal(wk_plot_line(NULL, "a", NULL, y, 1), WK_ERR_ARGUMENT);
    expect_error("plot_line: the plot is NULL", NULL);
    assert_int_equal(wk_plot_line(plot, "a", NULL, NULL, 1), WK_ERR_ARGUMENT);
    expect_error("plot_line: y is NULL", NULL);
    assert_int_equal(wk_plot_line(plot, "a", NULL, y, -1), WK_ERR_ARGUMENT);
    expect_error("plot_line", "-1", NULL);
    assert_int_equal(wk_plot_tensor(plot, "a", NULL, wk_ones((2, 2))), WK_ERR_SHAPE);
    expect_error("plot_tensor: expected y with one dimension, got f32[2,2]", NULL);
    assert_int_equal(wk_plot_tensor(plot, "a", wk_ones((3)), wk_ones((2))), WK_ERR_SHAPE);
    expect_error("plot_tensor: x has 3 elements, y has 2", NULL);
    assert_int_equal(wk_plot_tensor(plot, "a", NULL, NULL), WK_ERR_ARGUMENT);
    expect_error("plot_tensor: y is NULL", NULL);
    assert_int_equal(wk_plot_history(plot, "a", NULL), WK_ERR_ARGUMENT);
    expect_error("plot_history: the history is NULL", NULL);
    assert_int_equal(wk_plot_history(plot, "a", wk_history_new(), .step = INFINITY), WK_ERR_ARGUMENT);
    expect_error("plot_history: .step must be finite, got inf", NULL);
    assert_int_equal(wk_plot_history(plot, "a", wk_history_new(), .first = NAN), WK_ERR_ARGUMENT);
    expect_error("plot_history: .first must be finite, got nan", NULL);
    saved(plot);
    assert_int_equal(count_of("<path fill"), 0);
}

static void files_that_cannot_be_written(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new();
    assert_int_equal(wk_plot_save(plot, NULL), WK_ERR_ARGUMENT);
    expect_error("plot_save: the path is NULL", NULL);
    assert_int_equal(wk_plot_save(plot, scratch("no/such/folder.svg")), WK_ERR_IO);
    expect_error("plot_save: ", "folder.svg: cannot save: No such file or directory", NULL);
    assert_int_equal(wk_plot_save(plot, "/dev/full"), WK_ERR_IO);
    expect_error("plot_save: /dev/full: cannot save: not a regular file", NULL);
    /* with an error pending nothing is written */
    const char *path = scratch("pending.svg");
    unlink(path);
    wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    assert_int_equal(wk_plot_save(plot, path), WK_ERR_SHAPE);
    wk_clear_error();
    assert_int_equal(access(path, F_OK), -1);
}

/* A file that does not fit keeps the old one. */
static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_plot *plot = wk_plot_new(.title = "old");
    saved(plot);
    plot = wk_plot_new(.title = "new");
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){100, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const wk_code code = wk_plot_save(plot, scratch("plot.svg"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, WK_ERR_IO);
    expect_error("plot_save: ", "plot.svg: cannot save: File too large", NULL);
    FILE *file = fopen(scratch("plot.svg"), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    expect_part(">old</text>");
    expect_part("</svg>");
}

/* If an allocation fails, the call fails, and the plot keeps its lines. */
static void without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int64_t n = 1; failed; n++) {
        WK_SCOPE;
        wk_history *history = wk_history_new();
        wk_history_add(history, wk_ones(()));
        wk_tensor *y = wk_rand((3), .dtype = WK_F64);
        wk_sync();
        wk__alloc_fail_at(n);
        wk_plot *plot = wk_plot_new(.title = "t", .x_label = "x", .y_label = "y");
        wk_plot_line(plot, "a", (const double[]){1, 2}, (const double[]){1, 2}, 2);
        wk_plot_tensor(plot, "b", y, y);
        wk_plot_history(plot, "c", history);
        const wk_code code = plot ? wk_plot_save(plot, scratch("memory.svg")) : wk_error_code();
        wk__alloc_fail_at(0);
        failed = wk_error() != NULL;
        if (code != (failed ? WK_ERR_MEMORY : WK_OK)) fail_msg("%lld: %d %s", (long long)n, code, wk_error());
        wk_clear_error();
        if (plot) {
            saved(plot);
            expect_part("</svg>\n");
        }
        assert_true(n < 2000);
    }
    assert_int_equal(count_of("<path fill"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_path),
        cmocka_unit_test(kinds_of_lines),
        cmocka_unit_test(gaps),
        cmocka_unit_test(equal_points),
        cmocka_unit_test(a_long_line_is_reduced),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(empty_plots),
        cmocka_unit_test(points_are_copied),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(files_that_cannot_be_written),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
