# SPDX-License-Identifier: Apache-2.0
# Headers, both libraries, wick.pc, the CMake package (find_package(wick): wick::wick, wick::wick_static), the command.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wick)
install(TARGETS wick wick_static wick_needs EXPORT wick)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/wick-config.cmake.in ${PROJECT_BINARY_DIR}/wick-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wick-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wick-config.cmake ${PROJECT_BINARY_DIR}/wick-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT wick NAMESPACE wick:: FILE wick-targets.cmake DESTINATION ${package_dir})

# wick.pc finds its folders from where it lies, so that a copied or DESTDIR tree works; that wants relative ones.
file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(wick.pc.in wick.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wick.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
