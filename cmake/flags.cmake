# SPDX-License-Identifier: Apache-2.0
# Flags of every file: warnings, numbers that do not depend on the optimiser, sanitizers.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
option(WICK_TEST_LIBRARY "Link the tests to one shared library of everything (libwick_test.so)" OFF)
if(WICK_TEST_LIBRARY)
    set(CMAKE_C_VISIBILITY_PRESET default)
    add_compile_options(-fno-semantic-interposition)
else()
    set(CMAKE_C_VISIBILITY_PRESET hidden)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_UNITY_BUILD OFF) # a name that is static in one file may be another one's, too
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

option(WICK_WERROR "Warnings are errors" OFF)
set(WICK_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
option(WICK_FUZZ "Build the fuzzing programs in place of the tests (clang)" OFF)

if(PROJECT_IS_TOP_LEVEL)
    add_compile_options(-Wall -Wextra -Wpedantic -Wconversion)
endif()
if(WICK_WERROR)
    add_compile_options(-Werror)
endif()

# A product and a sum of two public ops are rounded twice, fused or not (docs/contributing/invariants.md, rule 13), also
# where the project around this one is compiled with -ffast-math.
add_compile_options(-fno-fast-math -ffp-contract=off -fno-math-errno)
add_compile_definitions(_GNU_SOURCE)

# Builds in two folders give the same bytes.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# For structs gcc likes string instructions (rep stos, rep movs), which take as long to start as a small op has in all.
include(CheckCCompilerFlag)
set(plain_stores -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign
                 -mmemcpy-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
check_c_compiler_flag("${plain_stores}" WICK_HAS_PLAIN_STORES)
if(WICK_HAS_PLAIN_STORES)
    add_compile_options(${plain_stores})
endif()

if(WICK_SANITIZE)
    add_compile_options(-fsanitize=${WICK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${WICK_SANITIZE})
    # What loops are asked to be, clang says it cannot make of them here.
    check_c_compiler_flag(-Wno-pass-failed WICK_HAS_PASS_FAILED)
    if(WICK_HAS_PASS_FAILED)
        add_compile_options(-Wno-pass-failed)
    endif()
endif()
