# SPDX-License-Identifier: Apache-2.0
# Every warning is an error: a warning that may be ignored is a warning nobody reads.
add_library(hotset_warnings INTERFACE)
target_compile_options(
  hotset_warnings
  INTERFACE -Wall
            -Wextra
            -Werror
            -Wshadow
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Wcast-align
            -Woverloaded-virtual
            -Wconversion
            -Wsign-conversion
            -Wnull-dereference
            -Wformat=2
            -Wimplicit-fallthrough
            # GCC 12's library uses its own deprecated parts in templates, which clang puts down to us.
            $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
