/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program of a user: is the library that runs the one that was asked for? */
#include <stdio.h>
#include <string.h>
#include <wick/core.h>

int main(int argc, char **argv)
{
    printf("%s\n", wk_version());
    return argc == 2 && strcmp(wk_version(), argv[1]) == 0 ? 0 : 1;
}
