/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL backend: devices with a driver for OpenCL 1.2 or later. */
#ifndef WICK_BACKEND_OPENCL_BACKEND_H
#define WICK_BACKEND_OPENCL_BACKEND_H

#include "backend/backend.h"

extern const wk__backend wk__opencl_backend;

#endif
