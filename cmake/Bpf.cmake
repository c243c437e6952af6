# SPDX-License-Identifier: Apache-2.0
# hotset_bpf(NAME [MCPU v3]): compiles NAME.bpf.c of this folder with clang and wraps it into the skeleton header
# NAME.skel.h. The default instruction set, v2, is what every kernel since 4.14 runs; v3 has atomic exchange (5.12).
#
# The kernel types come from bpf/kernel_types.h and are relocated against the running kernel when the program is
# loaded (CO-RE), so neither the build host's BTF nor a generated vmlinux.h is needed.
find_program(HOTSET_BPF_CLANG NAMES clang clang-19 clang-16 clang-15 clang-14 REQUIRED)
find_program(HOTSET_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)

# "bpf/fault.h" for C++, and nothing else of the source tree.
set(HOTSET_BPF_STAGE "${CMAKE_BINARY_DIR}/include/bpf")
file(MAKE_DIRECTORY "${HOTSET_BPF_STAGE}")
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/bpf" "${HOTSET_BPF_STAGE}/bpf" SYMBOLIC)

# Everything that is generated: what a static analysis of the sources needs to be there.
add_custom_target(hotset_generated)

function(hotset_bpf name)
  cmake_parse_arguments(arg "" "MCPU" "" ${ARGN})
  if(NOT arg_MCPU)
    set(arg_MCPU v2)
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c")
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o")
  set(skeleton "${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h")
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h" "${CMAKE_SOURCE_DIR}/bpf/*.h")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND
      ${HOTSET_BPF_CLANG} -target bpf -mcpu=${arg_MCPU} -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter
      -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -D__TARGET_ARCH_x86 -I${CMAKE_CURRENT_SOURCE_DIR}
      -I${CMAKE_SOURCE_DIR}/bpf -I${LIBBPF_INCLUDEDIR}
      -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c "${source}" -o "${object}"
    DEPENDS "${source}" ${headers}
    COMMENT "BPF object ${name}.bpf.o"
    VERBATIM)
  add_custom_command(
    OUTPUT "${skeleton}"
    COMMAND ${HOTSET_BPFTOOL} gen skeleton "${object}" name ${name}_bpf > "${skeleton}"
    # A bool of the program comes out as C's _Bool, which is no word of C++.
    COMMAND sed -i s/\\b_Bool\\b/bool/ "${skeleton}"
    DEPENDS "${object}"
    COMMENT "BPF skeleton ${name}.skel.h"
    VERBATIM)
  add_custom_target(${name}_skeleton DEPENDS "${skeleton}")
  add_dependencies(hotset_generated ${name}_skeleton)
  add_library(${name}_bpf INTERFACE)
  add_dependencies(${name}_bpf ${name}_skeleton)
  # A generated header is not held to our warnings.
  target_include_directories(${name}_bpf SYSTEM INTERFACE "${CMAKE_CURRENT_BINARY_DIR}")
  target_include_directories(${name}_bpf INTERFACE "${HOTSET_BPF_STAGE}")
  target_link_libraries(${name}_bpf INTERFACE PkgConfig::LIBBPF)
endfunction()
