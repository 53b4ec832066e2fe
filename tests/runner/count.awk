# SPDX-License-Identifier: Apache-2.0
# Counts the tests in the output of a program or script. Prints "MODE NAME passed failed skipped seconds", from the
# variables mode, name, status and seconds. A test that was planned or begun and did not end well has failed; so has a
# program without tests or with another exit status than 0. Exit status: 1 if anything failed.
/^\[=+\].* Running [0-9]+ test/ { for (k = 1; k < NF; k++) if ($k == "Running") planned += $(k + 1) }
/\[ RUN      \]/                { begun++; running = 1 }
/\[       OK \]/                { if (running) passed++; running = 0 }
/\[  SKIPPED \]/                { if (running) skipped++; running = 0 }
/\[  FAILED  \]/                { running = 0 }
/^ok /                          { passed++; planned++ }
/^skip /                        { skipped++; planned++ }
/^not ok /                      { planned++ }
END {
    total = planned > begun ? planned : begun
    failed = total - passed - skipped
    if (failed < 0) failed = 0
    if (status != 0 && failed == 0 || total == 0) failed++
    print mode, name, passed + 0, failed, skipped + 0, seconds
    exit failed != 0
}
