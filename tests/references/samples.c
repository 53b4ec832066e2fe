/* SPDX-License-Identifier: Apache-2.0 */
/* Sample calls shared by large families of ops; see reference.h. */
#include "reference.h"

const char *const samples_unary[] = {"[]", "[7]", "[3,5]", "[2,0]", "[2,3,4]", NULL};

const char *const samples_binary[] = {
    "[], []", "[5], [5]", "[3,4], [4]", "[2,1,3], [4,1]", "[0,3], [3]", "[3,4], 2", "[3,4], 0.5", "2, [3]", NULL};

const char *const samples_reduce[] = {
    "[]", "[7]", "[3,5]", "[3,5], (1)", "[2,3,4], (0,2)", "[2,3,4], (-2), true", "[0,3], (0)", "[130,3], (0)", NULL};
