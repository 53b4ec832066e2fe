/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the handshake of a job's coordinator with arbitrary bytes: the parser does not read beyond its input, and only
 * a process that knows the secret is admitted. */
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
