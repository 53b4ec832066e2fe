/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a process says that comes to the door of a job: nothing is read that did not come, and nobody is
 * let in who has not said what only a rank can say. */
#include "hostile/frames.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t said[FRAMES_MOST];
    bool proved;
    if (frames_conversation(said) != FRAMES_MOST) abort();
    if (frames_check(data, size, &proved)) abort();
    if (proved && (size < sizeof said || memcmp(data, said, sizeof said) != 0)) abort();
    return 0;
}
