/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of flush files. */
#ifndef WICK_ENGINE_REPLAY_FLUSH_VALIDATE_H
#define WICK_ENGINE_REPLAY_FLUSH_VALIDATE_H

#include "flush_file.h"

/* Verifies that every value is computed once and before it is read; that nothing outside a value is accessed, whatever
 * the indices; and that each record could have been recorded by an op. On failure returns WK_ERR_FORMAT and names the
 * record. */
wk_code wk__flush_validate(const wk__flush_data *flush, wk__io_error *error);

#endif
