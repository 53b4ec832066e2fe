# SPDX-License-Identifier: Apache-2.0
# Reads lines "MODE NAME passed failed skipped seconds" and prints a table by mode and group (the name up to its first
# underscore) in the order of its input, the tests that failed, and "N passed, N failed".
{
    group = $2
    sub(/_.*/, "", group)
    row = $1 " " group
    if (!(row in programs)) order[++rows] = row
    programs[row]++
    passed[row] += $3
    failed[row] += $4
    skipped[row] += $5
    seconds[row] += $6
    all_seconds += $6
    all_passed += $3
    all_failed += $4
    if ($4 > 0) {
        bad[++nbad] = $1 "/" $2
        mode_of[bad[nbad]] = $1
        name_of[bad[nbad]] = $2
    }
}
END {
    format = "%-12s %-12s %8s %8s %8s %8s %8s\n"
    printf "\n" format, "mode", "group", "programs", "passed", "failed", "skipped", "seconds"
    for (k = 1; k <= rows; k++) {
        row = order[k]
        split(row, name, " ")
        time = sprintf("%.0f", seconds[row])
        printf format, name[1], name[2], programs[row], passed[row], failed[row], skipped[row], time
    }
    for (k = 1; k <= nbad; k++) print "failed: " bad[k] " (make test T=" name_of[bad[k]] " MODE=" mode_of[bad[k]] ")"
    printf "%.0f seconds of a processor in all\n", all_seconds
    printf "\n%d passed, %d failed\n", all_passed, all_failed
    exit all_failed > 0 || all_passed == 0
}
