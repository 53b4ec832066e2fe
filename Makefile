# SPDX-License-Identifier: Apache-2.0
# The door. CMake builds; this file names what people want. Each target first lets scripts/setup install what it misses.
#
#   make              the library and the command, in build/release
#   make demo         the tour of devices, then a network trained on real digits
#   make check        the tests, under AddressSanitizer and UndefinedBehaviorSanitizer; ends with "N passed, N failed"
#   make check-all    the same, and each program in each mode: make check leaves some to other days
#   make bench        the benchmarks; PEER="python3 bench/pytorch.py" puts another library beside them
#   make install      PREFIX=/usr/local, DESTDIR=
#   make docs         docs/api.md, the manual in the headers as one page
#   make ops          what follows from the rows of ops (src/ops/specs): scripts/generate_ops.py, which needs Python
#   3.11
#   make check-arm    the tests for aarch64 under qemu-user
#   make cuda-matrix  the kernels that the tests run on CUDA, for seven architectures: warnings, registers, spills
#   make tsan         the tests under ThreadSanitizer
#   make valgrind     the tests under valgrind
#   make fuzz         the fuzzing programs, FUZZ_SECONDS=60 each
#   make mutants      does a test fail when a condition of the planner is another one? MUTANTS="--sample 400 --seed 1"
#   make random       random programs in every mode of the library, SECONDS=60 of them, from SEED=number (else
#                     that of the day)
#   make coverage     lines of the engine, autograd and the CPU's products that neither random programs nor tests
#                     reach, PROGRAMS=20000
#   make walk-cuda    every op in every dtype and layout on the stand-in for CUDA, for hours; make check runs a part
#   make tidy         clang-tidy
#   make format       clang-format
#   make clean
#
# TESTS=regex runs only the tests whose MODE/NAME matches, JOBS=n compiles n files at once.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
PROGRAMS ?= 20000
SECONDS ?= 60
SEED ?= $(shell date -u +%Y%m%d)
TESTS ?= .
export WICK_TESTS = $(TESTS)
export DESTDIR
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

# build PRESET, TARGETS, CONFIGURE OPTIONS
define build
	@cmake --preset $(1) $(3) -Wno-dev >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
	@cmake --build build/$(1) -j $(JOBS) $(if $(2),--target $(2))
endef

# This Makefile has no variables for the sub-makes that CMake's generator calls.
MAKEFLAGS += --no-print-directory
MAKEOVERRIDES =

.PHONY: all demo check bench install docs ops check-arm cuda-matrix tsan valgrind fuzz mutants random coverage walk-cuda
.PHONY: check-all tidy format clean

all:
	@scripts/setup build
	$(call build,release)

demo:
	@scripts/setup build opencl
	$(call build,release)
	@scripts/demo build/release/wick

check:
	@scripts/setup build opencl check
	$(call build,release,all checked,-DWICK_WERROR=ON)
	$(call build,debug,all checked)
	@tests/runner/run_all build/debug build/release

check-all: export WICK_TEST_DAY = all
check-all: check

bench:
	@scripts/setup build opencl
	$(call build,release)
	@build/release/wick bench $(if $(PEER),--peer "$(PEER)")

install:
	@scripts/setup build
	$(call build,release)
	@cmake --install build/release --prefix "$(PREFIX)"

docs:
	@mkdir -p docs
	@scripts/api_docs include/wick.h include/wick/*.h >docs/api.md

ops:
	@scripts/generate_ops.py

check-arm:
	@scripts/setup build arm
	$(call build,arm,all tests)
	@WICK_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" tests/runner/run_all build/arm

cuda-matrix:
	@scripts/setup build check cuda
	$(call build,debug,all tests)
	@WICK_TESTS='^cuda/' WICK_MATRIX=all WICK_TEST_LIMIT=7200 tests/runner/run_all build/debug
	@cat build/debug/results/cuda/cuda_matrix.log

tsan:
	@scripts/setup build opencl check
	$(call build,tsan,tests)
	@WICK_TEST_LIMIT=3600 tests/runner/run_all build/tsan

valgrind:
	@scripts/setup build opencl check valgrind
	$(call build,valgrind,tests)
	@WICK_CPU=avx2 WICK_TEST_LIMIT=3600 WICK_RUNNER="valgrind -q --leak-check=full \
	    --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=9 \
	    --suppressions=tests/runner/valgrind.supp" tests/runner/run_all build/valgrind

fuzz:
	@scripts/setup build fuzz
	$(call build,fuzz)
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

mutants:
	@scripts/setup build opencl check mutants
	@scripts/mutants $(MUTANTS)

random:
	@scripts/setup build check
	$(call build,release,random_programs)
	@echo "seed $(SEED)"
	@build/release/tests/random_programs --kinds --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS)

coverage:
	@scripts/setup build check
	$(call build,coverage,random_programs tests)
	@scripts/coverage build/coverage --programs $(PROGRAMS) --seed $(SEED)

walk-cuda:
	@scripts/setup build opencl check cuda
	$(call build,debug,tests)
	@WICK_WALK_SHORT=0 WICK_TEST_LIMIT=86400 tests/runner/run_one $(CURDIR)/build/debug cuda sweep_gpu

tidy:
	@scripts/setup build check tidy
	$(call build,release,,-DWICK_WERROR=ON)
	@scripts/tidy build/release $(JOBS)

format:
	@scripts/setup format
	@scripts/list_formatted_files | xargs clang-format -i

clean:
	rm -rf build
