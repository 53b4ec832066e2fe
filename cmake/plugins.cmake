# SPDX-License-Identifier: Apache-2.0
# libwick_mpi_NAME.so for each MPI of this machine: the transport over MPI, which libwick.so loads on demand
# (src/distributed/mpi_plugin.h). What mpicc is tells mpi_plugin.h.

option(WICK_MPI "Build the plug-ins for the implementations of MPI whose mpicc is found" ON)
if(NOT WICK_MPI)
    return()
endif()

get_directory_property(plugin_options COMPILE_OPTIONS)
list(FILTER plugin_options EXCLUDE REGEX "[<>]")
get_directory_property(plugin_link_options LINK_OPTIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" plugin_type)
separate_arguments(plugin_flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${plugin_type}}")
set(plugin_source ${PROJECT_SOURCE_DIR}/plugins/wick_mpi.c)

# wick_add_mpi(MPICC TARGET DEFINITION...)
function(wick_add_mpi mpicc name)
    set(library ${PROJECT_BINARY_DIR}/libwick_mpi_${name}.so)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E env OMPI_CC=${CMAKE_C_COMPILER} MPICH_CC=${CMAKE_C_COMPILER}
                ${mpicc} -std=gnu11 ${plugin_flags} ${plugin_options} -D_GNU_SOURCE ${ARGN}
                -I${PROJECT_SOURCE_DIR}/include -fPIC -fvisibility=hidden -MD -MF ${library}.d -MT ${library} -shared
                ${plugin_link_options} ${plugin_source} -o ${library} -Wl,-z,nodelete
        DEPENDS ${plugin_source}
        DEPFILE ${library}.d
        COMMENT "Building libwick_mpi_${name}.so"
        VERBATIM)
    add_custom_target(wick_mpi_${name} ALL DEPENDS ${library})
endfunction()

set(mpi_names "")
foreach(candidate mpicc mpicc.openmpi mpicc.mpich)
    find_program(WICK_${candidate} ${candidate})
    if(NOT WICK_${candidate})
        continue()
    endif()
    file(WRITE ${PROJECT_BINARY_DIR}/mpi_name.c "#include <mpi_plugin.h>
#ifdef OPEN_MPI
name=openmpi
#elif defined(MPICH_VERSION)
name=mpich
#endif
")
    execute_process(COMMAND ${WICK_${candidate}} -E -P ${PROJECT_BINARY_DIR}/mpi_name.c OUTPUT_VARIABLE said
                    ERROR_QUIET)
    if(NOT said MATCHES "name=([a-z]+)" OR CMAKE_MATCH_1 IN_LIST mpi_names)
        continue()
    endif()
    set(name ${CMAKE_MATCH_1})
    list(APPEND mpi_names ${name})
    wick_add_mpi(${WICK_${candidate}} ${name})
    if(WICK_INSTALL)
        install(PROGRAMS ${PROJECT_BINARY_DIR}/libwick_mpi_${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endforeach()
if(NOT mpi_names)
    message(STATUS "No mpicc found: no plug-in for MPI (scripts/setup many installs Open MPI)")
endif()
