# SPDX-License-Identifier: Apache-2.0
# What other programs need to count in rolling windows and to read them (examples/window): the header for BPF programs,
# the reader as static libraries with its headers, and a package for find_package(hotset).
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}"
           OUTPUT_VARIABLE HOTSET_LIB_TO_INCLUDE)
configure_file("${CMAKE_SOURCE_DIR}/cmake/hotsetConfig.cmake.in" "${CMAKE_BINARY_DIR}/hotsetConfig.cmake" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/hotsetConfig.cmake" DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotset)
install(TARGETS hotset_base hotset_kernel hotset_window ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(include ${CMAKE_INSTALL_INCLUDEDIR}/hotset)
install(FILES bpf/window.h bpf/window.bpf.h DESTINATION ${include}/bpf)
install(FILES src/base/clock.h src/base/result.h DESTINATION ${include}/base)
install(FILES src/window/clock.h src/window/history.h src/window/image.h src/window/reader.h src/window/start.h
        DESTINATION ${include}/window)
