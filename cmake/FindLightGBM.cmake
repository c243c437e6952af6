# SPDX-License-Identifier: Apache-2.0
# Finds LightGBM: one that is installed on the system first, else the pinned wheel that ./run setup unpacks into
# HOTSET_DEPS. Defines the target LightGBM::LightGBM, LightGBM_FOUND, LightGBM_BUNDLED and LightGBM_VERSION (the library
# itself does not tell its version).
set(LightGBM_FOUND FALSE)
set(LightGBM_BUNDLED FALSE)
if(NOT HOTSET_LIGHTGBM STREQUAL "off")
  find_path(LightGBM_SYSTEM_INCLUDE LightGBM/c_api.h)
  find_library(LightGBM_SYSTEM_LIBRARY NAMES _lightgbm lightgbm)
  if(LightGBM_SYSTEM_INCLUDE AND LightGBM_SYSTEM_LIBRARY)
    set(LightGBM_INCLUDE "${LightGBM_SYSTEM_INCLUDE}")
    set(LightGBM_LIBRARY "${LightGBM_SYSTEM_LIBRARY}")
    set(LightGBM_FOUND TRUE)
    set(LightGBM_VERSION "of this system")
  elseif(EXISTS "${HOTSET_DEPS}/lightgbm/include/LightGBM/c_api.h" AND EXISTS
                                                                     "${HOTSET_DEPS}/lightgbm/lib/lib_lightgbm.so")
    set(LightGBM_INCLUDE "${HOTSET_DEPS}/lightgbm/include")
    set(LightGBM_LIBRARY "${HOTSET_DEPS}/lightgbm/lib/lib_lightgbm.so")
    set(LightGBM_FOUND TRUE)
    set(LightGBM_BUNDLED TRUE)
    file(STRINGS "${CMAKE_SOURCE_DIR}/scripts/lightgbm/library.txt" pin REGEX "^lightgbm==")
    string(REGEX MATCH "[0-9.]+" LightGBM_VERSION "${pin}")
  endif()
endif()
if(LightGBM_FOUND)
  add_library(LightGBM::LightGBM UNKNOWN IMPORTED)
  set_target_properties(LightGBM::LightGBM PROPERTIES IMPORTED_LOCATION "${LightGBM_LIBRARY}"
                                                      INTERFACE_INCLUDE_DIRECTORIES "${LightGBM_INCLUDE}")
  message(STATUS "LightGBM: ${LightGBM_LIBRARY}")
elseif(HOTSET_LIGHTGBM STREQUAL "on")
  message(FATAL_ERROR "LightGBM was not found: run ./run setup, or configure with -DHOTSET_LIGHTGBM=off")
else()
  message(STATUS "LightGBM: none; train, evaluate and estimate will say so")
endif()
