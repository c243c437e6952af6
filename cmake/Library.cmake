# SPDX-License-Identifier: Apache-2.0
# hotset_library(NAME [DEPENDS…]): one static library per folder of src/.
#
# A library may link only to libraries declared before it, so a wrong direction of flow is an error of the build: the
# folder's headers are simply not on the include path.
function(hotset_library name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources)
    message(FATAL_ERROR "src/${name} has no source files")
  endif()
  add_library(hotset_${name} STATIC ${sources})
  set(stage "${CMAKE_BINARY_DIR}/include/${name}")
  file(MAKE_DIRECTORY "${stage}")
  if(NOT EXISTS "${stage}/${name}")
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/${name}" "${stage}/${name}" SYMBOLIC)
  endif()
  target_include_directories(hotset_${name} PUBLIC "${stage}")
  foreach(dependency ${ARGN})
    if(NOT TARGET hotset_${dependency})
      message(FATAL_ERROR "src/${name} must not depend on src/${dependency}: it comes later in the flow")
    endif()
    target_link_libraries(hotset_${name} PUBLIC hotset_${dependency})
  endforeach()
  target_link_libraries(hotset_${name} PUBLIC fmt::fmt PRIVATE hotset_warnings)
endfunction()
