# SPDX-License-Identifier: Apache-2.0
# The laws that scripts/check_layers names, over all source files.

BEGIN {
    nrooms = split("base ir backend tensor engine autograd ops nn optim,data,io text,report,parallel,distributed " \
                   "checkpoint cli", floors, " ")
    for (k = 1; k <= nrooms; k++) {
        n = split(floors[k], rooms, ",")
        for (r = 1; r <= n; r++) floor_of[rooms[r]] = k
    }
    nlaws = split("layers public switch cuda calls length done", laws, " ")
    taking = "malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|" \
        "aligned_alloc|posix_memalign|memalign|" \
             "valloc|getline|open_memstream"
    ending = "exit|_exit|_Exit|quick_exit|abort|assert|printf|vprintf|puts|putchar|perror"
}

function broken(law, what)
{
    print FILENAME ":" FNR ": " what
    bad[law]++
}

# What the include of a file in `folder` names: "vm.h" -> "src/backend/cpu/vm/vm.h" (the same folder), "ir/ir.h" ->
# "src/ir/ir.h" (from the root of src, or tests), "../src/base/dtype.h" -> "src/base/dtype.h".
function resolve(folder, path)
{
    if (path ~ /^[^.\/][^\/]*\// && place != "include") return (place == "tests" ? "tests/" : "src/") path
    path = folder "/" path
    while (match(path, /[^\/.][^\/]*\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
    gsub(/\/\.\//, "/", path)
    return path
}

# The line without comments and without what stands in quotes. `comment` lives on from line to line.
function code_of(line,    out, c, two, quote)
{
    if (!comment && line !~ /["'\/]/) return line
    out = ""
    while (line != "") {
        two = substr(line, 1, 2)
        c = substr(line, 1, 1)
        if (comment) {
            if (two == "*/") comment = 0
            line = substr(line, two == "*/" ? 3 : 2)
        } else if (two == "/*") {
            comment = 1
            line = substr(line, 3)
        } else if (two == "//") {
            line = ""
        } else if (c == "\"" || c == "'") {
            quote = c
            line = substr(line, 2)
            while (line != "" && substr(line, 1, 1) != quote) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2)
            out = out quote quote
        } else {
            out = out c
            line = substr(line, 2)
        }
    }
    return out
}

# Does one of the functions stand here as a call, and not as a member or as the end of a longer name?
function calls(code, functions)
{
    return match(" " code, "[^A-Za-z0-9_.>](" functions ")[ \t]*\\(")
}

function check_include(target,    path, room, parts)
{
    if (target ~ /^</) {
        if (place == "src" && target == "<wick.h>") broken("layers", "all of wick.h is for programs")
        return
    }
    gsub(/"/, "", target)
    path = resolve(folder, target)
    if (place == "include") {
        if (path !~ /^include\/wick(\/|\.h$)/) broken("public", "a public header includes " path)
        return
    }
    split(path, parts, "/")
    room = parts[1] == "src" ? parts[2] : parts[1]
    if (!(room in floor_of)) {
        broken("layers", path " is in no room")
    } else if (room != own && floor_of[room] >= floor_of[own]) {
        broken("layers", own " includes " path ", which is not below it")
    } else if (room == "backend" && own == "backend" && parts[4] != "" && parts[3] != part &&
        parts[3] != "arena" && part !~ /^[^\/]*\.[ch]$/ &&
               !(parts[3] == "gpu" && (part == "opencl" || part == "cuda"))) {
        broken("layers", "backend " part " includes " path ", which is another backend's")
    }
}

FNR == 1 {
    comment = 0
    split(FILENAME, names, "/")
    place = names[1]
    own = place == "src" ? names[2] : place
    part = names[3]
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
}

FILENAME ~ /opcodes\.def$/ && /^WK__OPCODE\(/ {
    split($0, row, /[(), ]+/)
    if (row[4] != "S") codes = codes (codes == "" ? "" : "|") row[2]
}

FNR == 1001 && FILENAME !~ /\.def$/ { broken("length", "more than 1,000 lines") }

/(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)/ { broken("done", "unfinished") }

place == "src" || place == "include" || place == "cli" {
    began_in_comment = comment
    code = code_of($0)
    if (!began_in_comment && $0 ~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) {
        match($0, /[<"][^>"]*[>"]/)
        check_include(substr($0, RSTART, RLENGTH))
    }
    if (codes != "" && match(code, "(^|[^A-Za-z0-9_])case[ \t]+WK__(" codes ")[^A-Za-z0-9_]"))
        broken("switch", "a switch over operations")
    if (own != "ops" && code ~ /[!=]=[ \t]*&wk__op_|&wk__op_[a-z0-9_]+[ \t]*[!=]=/)
        broken("switch", "what is done depends on which op it is")
    if (code ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif).*CUDA/ && FILENAME !~ /^src\/backend\/cuda\//)
        broken("cuda", "a condition on CUDA")
    if (place == "src") {
        if (FILENAME != "src/base/alloc.c" && calls(code, taking))
            broken("calls", "memory that alloc.c does not know of")
        if (calls(code, ending) && FILENAME != "src/backend/opencl/probe.c") # whose child may end
            broken("calls", "the library ends the process or prints")
        # wk_report_error(NULL), WICK_LOG, wk_progress_new without a stream
        if (code ~ /(^|[^A-Za-z0-9_])stderr([^A-Za-z0-9_]|$)/ &&
            FILENAME !~ /^src\/(base\/(error|log)|data\/progress)\.c$/)
            broken("calls", "the library writes to stderr")
        if (code ~ /(^|[^A-Za-z0-9_])stdout([^A-Za-z0-9_]|$)/ && FILENAME !~ /\/print[^\/]*\.c$/)
            broken("calls", "the library writes to stdout")
    }
}

END {
    for (k = 1; k <= nlaws; k++) {
        print (laws[k] in bad ? "not ok " : "ok ") laws[k]
        if (laws[k] in bad) status = 1
    }
    exit status
}
