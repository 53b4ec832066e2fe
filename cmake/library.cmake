# SPDX-License-Identifier: Apache-2.0
# libwick.so and libwick.a from one set of objects: every .c below src.

set(THREADS_PREFER_PTHREAD_FLAG ON)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # a project around this one links them with wick_static
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

file(GLOB_RECURSE wick_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
# Files in src/backend/cpu/isa are compiled once per instruction set, with WK__ISA set to its name; files in isa/NAME
# once, for NAME alone.
set(isa_folder ${PROJECT_SOURCE_DIR}/src/backend/cpu/isa)
file(GLOB_RECURSE isa_all ${isa_folder}/*.c)
file(GLOB isa_sources CONFIGURE_DEPENDS ${isa_folder}/*.c)
list(REMOVE_ITEM wick_sources ${isa_all})
# The plan checker (src/engine/verify/plan_check.h) checks each plan before it runs. Only debug builds have it; in other
# builds the tests that call it link it themselves (tests/CMakeLists.txt).
option(WICK_CHECK_PLANS "Check each plan of the engine before it runs" OFF)
file(GLOB wick_plan_check ${PROJECT_SOURCE_DIR}/src/engine/verify/plan_check*.c)
if(NOT WICK_CHECK_PLANS)
    list(REMOVE_ITEM wick_sources ${wick_plan_check})
endif()

# What the objects need to compile and whoever links them to link.
add_library(wick_needs INTERFACE)
target_include_directories(wick_needs INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(wick_needs INTERFACE Threads::Threads ZLIB::ZLIB ${CMAKE_DL_LIBS} m)

add_library(wick_objects OBJECT ${wick_sources})
target_link_libraries(wick_objects PRIVATE wick_needs)
target_compile_definitions(wick_objects PRIVATE WK_WARN_UNUSED=1)
target_include_directories(wick_objects PRIVATE ${PROJECT_SOURCE_DIR}/src)
# These rooms take no measurable time (they wait for files, networks and devices), so they are compiled for size: the
# library is 37 KB smaller.
foreach(room parallel distributed checkpoint io nn report)
    file(GLOB_RECURSE small_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
    set_source_files_properties(${small_sources} PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-Os>")
endforeach()
# A handle past its scope is then always told from a live one (docs/contributing/invariants.md, rule 4).
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/slab.c PROPERTIES
                            COMPILE_DEFINITIONS $<$<CONFIG:Debug>:WK__NEVER_REUSE_HANDLES>)
if(WICK_CHECK_PLANS)
    # Caches of compiled programs compare each hit with a fresh compilation.
    foreach(file engine/execute.c backend/cpu/vm/program_cache.c backend/gpu/cache/kernel_cache.c)
        set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${file} PROPERTIES COMPILE_DEFINITIONS WICK_CHECK_PLANS)
    endforeach()
    # It evaluates each program symbolically, which took up to two thirds of a test's time; AddressSanitizer stays on.
    set_source_files_properties(${wick_plan_check} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=undefined")
endif()
set(wick_object_files $<TARGET_OBJECTS:wick_objects>)

# wick_add_isa(NAME OPTION...): all kernels for an instruction set. wick_add_kernels(NAME OPTION...): those of isa/NAME.
function(wick_add_objects name sources)
    add_library(wick_isa_${name} OBJECT ${sources})
    target_link_libraries(wick_isa_${name} PRIVATE wick_needs)
    target_include_directories(wick_isa_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(wick_isa_${name} PRIVATE WK__ISA=${name})
    # Kernels call nobody who could throw through them, and tables to unwind them take 74 KB.
    target_compile_options(wick_isa_${name} PRIVATE ${ARGN} $<$<NOT:$<CONFIG:Debug>>:-fno-asynchronous-unwind-tables>)
    set(wick_object_files ${wick_object_files} $<TARGET_OBJECTS:wick_isa_${name}> PARENT_SCOPE)
endfunction()
macro(wick_add_isa name)
    wick_add_objects(${name} "${isa_sources}" ${ARGN})
endmacro()
macro(wick_add_kernels name)
    file(GLOB kernel_sources CONFIGURE_DEPENDS ${isa_folder}/${name}/*.c)
    wick_add_objects(${name} "${kernel_sources}" ${ARGN})
endmacro()
wick_add_isa(portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    wick_add_isa(avx2 -march=x86-64-v3)
    wick_add_isa(avx512 -march=x86-64-v4 -mprefer-vector-width=512)
    wick_add_kernels(avx512_vnni -march=x86-64-v4 -mavx512vnni -mprefer-vector-width=512)
    wick_add_kernels(avx512_bf16 -march=x86-64-v4 -mavx512bf16 -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    wick_add_isa(neon)
endif()

# Both libraries are libwick on disk. Tests link the static one: it shows them the functions inside.
add_library(wick_static STATIC ${wick_object_files})
set_target_properties(wick_static PROPERTIES OUTPUT_NAME wick EXPORT_NAME wick_static)
target_link_libraries(wick_static PUBLIC wick_needs)

set(symbol_map ${PROJECT_SOURCE_DIR}/src/wick.map)
add_library(wick SHARED ${wick_object_files})
set_target_properties(wick PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      LINK_DEPENDS ${symbol_map})
target_include_directories(wick PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(wick PRIVATE $<BUILD_INTERFACE:wick_needs>)
target_link_options(wick PRIVATE -Wl,--version-script=${symbol_map} -Wl,--as-needed
                    -Wl,-z,nodelete) # its threads run until the process ends
if(NOT WICK_SANITIZE)
    target_link_options(wick PRIVATE -Wl,-z,defs)
endif()
# Tables of functions and texts need a relocation each: packed, which glibc 2.36 reads, they take 5 KB instead of 136.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,-z,pack-relative-relocs WICK_HAS_PACKED_RELOCATIONS)
if(WICK_HAS_PACKED_RELOCATIONS)
    target_link_options(wick PRIVATE -Wl,-z,pack-relative-relocs)
endif()

# The names by which find_package knows them.
add_library(wick::wick ALIAS wick)
add_library(wick::wick_static ALIAS wick_static)
