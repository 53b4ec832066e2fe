#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An XML parser reads plots with odd numbers and texts, and their coordinates lie within the picture.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

cat >"$WICK_WORK/draw.c" <<'END'
#include <math.h>
#include <stdio.h>
#include <wick.h>

static const double values[] = {-1e300, -7, -1e-300, 0, 1e-300, 1e-9, 0.3, 1, 1 + 1e-12, 1e6, 3e300, INFINITY, NAN};
enum { COUNT = sizeof values / sizeof *values };

static void draw(const char *name, int from, int to, bool log)
{
    WK_SCOPE;
    wk_plot *plot = wk_plot_new(.title = name, .x_label = "<&>\"'\x01\xff]]>", .y_label = "\xe6\x8d\x9f", .log_y = log);
    wk_plot_line(plot, "\xef\xbf\xbe--", NULL, values + from, to - from);
    wk_plot_line(plot, "x", values + from, values, to - from);
    for (int k = 0; k < 40; k++) wk_plot_line(plot, "&amp;", NULL, values, 2);
    wk_plot_save(plot, name);
}

int main(void)
{
    char name[64];
    for (int from = 0; from < COUNT; from++)
        for (int to = from; to <= COUNT; to++)
            for (int log = 0; log < 2; log++) {
                snprintf(name, sizeof name, "plot-%d-%d-%d.svg", from, to, log);
                draw(name, from, to, log);
            }
    return wk_report_error(stderr);
}
END

cat >"$WICK_WORK/read.py" <<'END'
import glob, re, sys, xml.etree.ElementTree as ElementTree
names = glob.glob("plot-*.svg")
SVG = "{http://www.w3.org/2000/svg}"
for name in names:
    root = ElementTree.parse(name).getroot()
    assert root.tag == SVG + "svg", root.tag
    width, height = float(root.get("width")), float(root.get("height"))
    texts = [t.text for t in root.iter(SVG + "text")]
    assert name in texts and "<&>\"'\ufffd\ufffd]]>" in texts and "\u635f" in texts and "\ufffd--" in texts, texts
    assert texts.count("&amp;") == 40, texts
    for path in root.iter(SVG + "path"):
        for x, y in re.findall(r"[ML](-?[0-9.]+) (-?[0-9.]+)", path.get("d")):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height, (name, x, y)
        assert re.fullmatch(r"([MLHVh][0-9.]+( [0-9.]+)?)*(h24)?", path.get("d")), (name, path.get("d"))
    for dot in root.iter(SVG + "circle"):
        assert 0 <= float(dot.get("cx")) <= width and 0 <= float(dot.get("cy")) <= height, name
print(len(names))
END

sanitize=$(sed -n 's/^WICK_SANITIZE:[A-Z]*=\(..*\)/-fsanitize=\1/p' "$WICK_BUILD/CMakeCache.txt")
# shellcheck disable=SC2086
check "the program is built" cc -std=c11 -Wall -Wextra -Werror $sanitize -Iinclude "$WICK_WORK/draw.c" \
    -o "$WICK_WORK/draw" -L"$WICK_BUILD" -lwick -lm
cd "$WICK_WORK" || exit 1
check "the plots are written" env LD_LIBRARY_PATH="$WICK_BUILD" ./draw
check "the plots are XML with the texts as given" sh -c "python3 read.py | grep -qx 208"
# The check can fail.
sed -i 's/&lt;/</' plot-0-1-0.svg
fails "invalid XML is found" "ParseError" python3 read.py
