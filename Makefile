# SPDX-License-Identifier: Apache-2.0
# CMake builds; this file names the common tasks. Each first lets scripts/setup install what is missing.
#
#   make              the library and the command, in build/release
#   make demo         shows the devices of this machine, then trains a network on real digits
#   make check        tests everything on the CPU and parts of it on OpenCL, with AddressSanitizer and
#                     UndefinedBehaviorSanitizer; about 9 minutes on 2 cores with its build; the same tests each
#                     time; ends with "N passed, N failed"
#   make check-all    tests everything in all modes of the library and on all devices; about 30 minutes on 2 cores;
#                     the commit selects what is too long to run each time
#   make test T=engine_plan CASE='*reuse*' MODE=cuda    one program or script of tests/, and of it the tests that match
#                     CASE; MODE of tests/runner/modes, else the first that has it
#   make bench        the benchmarks; PEER="python3 bench/pytorch.py" runs another library beside them
#   make book         trains the networks of examples/book and writes docs/book.md; about 25 minutes on 2 cores
#   make install      PREFIX=/usr/local, DESTDIR=
#   make docs         docs/api.md, the comments of the public headers as one page
#   make ops          what is generated from src/ops/specs: scripts/generate_ops.py, which needs Python 3.11
#   make check-arm    the tests for aarch64 under qemu-user
#   make cuda-matrix  the kernels that the tests run on CUDA, compiled for seven architectures: warnings, registers,
#                     spills
#   make tsan         the tests under ThreadSanitizer
#   make valgrind     the tests under valgrind
#   make fuzz         the fuzzing programs, FUZZ_SECONDS=60 each
#   make mutants      changes conditions of the planner one by one; a test must fail for each.
#                     MUTANTS="--sample 400 --seed 1"
#   make random       random programs in every mode of the library for SECONDS=60, from SEED=number (default: of the
#                     commit)
#   make coverage     lines of the engine, autograd and the CPU's products that neither random programs nor tests
#                     reach, PROGRAMS=20000
#   make walk-cuda    every op in every dtype and layout on the stand-in for CUDA, for hours; make check-all runs a part
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
SEED ?= $(shell tests/runner/commit_seed)
TESTS ?= .
# Measured seconds of a processor: builds from a fresh clone, tests with empty caches.
RELEASE_SECONDS = 300
CHECK_BUILD_SECONDS = 250
CHECK_SECONDS = 790
ALL_BUILD_SECONDS = 700
ALL_SECONDS = 2600
export WICK_TESTS = $(TESTS)
export DESTDIR
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

# build PRESET,TARGETS,CONFIGURE OPTIONS
build = @scripts/build $(1) $(JOBS) "$(2)" $(3)
# minutes BUILD,TESTS: how long so many seconds of a processor take here; tests run two at a time
minutes = $$((($(1) / $(shell nproc) + $(2) / 2 + 59) / 60)) minutes on $(shell nproc) cores

# This Makefile has no variables for the sub-makes that CMake's generator calls.
MAKEFLAGS += --no-print-directory
MAKEOVERRIDES =

.PHONY: all release demo check check-all test bench book install docs ops check-arm cuda-matrix tsan valgrind fuzz
.PHONY: mutants random coverage walk-cuda tidy format clean

all: release
	@echo "built build/release/libwick.so and build/release/wick; next: make demo, make check, make install"

release:
	@scripts/setup build
	@[ -e build/release/wick ] || echo "building Wick: about $(call minutes,$(RELEASE_SECONDS),0)"
	$(call build,release)

demo: release
	@scripts/setup opencl
	@echo "wick tour, which shows the devices of this machine:"
	@scripts/demo build/release/wick

# One build with sanitizers; nothing depends on the date or the commit, and nothing needs the network.
check:
	@echo "make check builds Wick with sanitizers and runs its tests: at most" \
	    "$(call minutes,$(CHECK_BUILD_SECONDS),$(CHECK_SECONDS))"
	@scripts/setup build opencl check
	$(call build,debug,check_programs)
	@tests/runner/run_all --tier check build/debug

check-all:
	@echo "make check-all builds Wick twice and tests all modes and devices: at most" \
	    "$(call minutes,$(ALL_BUILD_SECONDS),$(ALL_SECONDS))"
	@scripts/setup build opencl check
	$(call build,release,all checked,-DWICK_WERROR=ON)
	$(call build,debug,all checked)
	@tests/runner/run_all --tier all build/debug build/release

test:
	@[ -n "$(T)" ] || { echo "make test T=engine_plan [CASE='*reuse*'] [MODE=cuda]" >&2; exit 1; }
	@scripts/setup build opencl check
	@tests/runner/run_test "$(T)" "$(CASE)" "$(MODE)" $(JOBS)

bench:
	@scripts/setup build opencl
	$(call build,release)
	@build/release/wick bench $(if $(PEER),--peer "$(PEER)")

book: release
	@scripts/book build/release

install: release
	@cmake --install build/release --prefix "$(PREFIX)" >build/install.log || { cat build/install.log; exit 1; }
	@echo "installed in $(DESTDIR)$(PREFIX); build/install.log lists the files; next: README.md, Use in your project"

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
