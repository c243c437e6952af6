// SPDX-License-Identifier: Apache-2.0
#include "unit/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/file.h"

namespace hotset {
namespace {

std::string diff_of(const std::string& golden, std::string_view text) {
  std::string actual = (std::filesystem::temp_directory_path() / fmt::format("hotset-golden-{}", ::getpid())).string();
  std::ofstream(actual, std::ios::binary) << text;
  std::string command = fmt::format("diff -u --label expected --label actual '{}' '{}' 2>&1", golden, actual);
  std::string diff;
  if (std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose); pipe)
    for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;)
      diff += static_cast<char>(c);
  std::filesystem::remove(actual);
  return diff;
}

} // namespace

void expect_golden(std::string_view name, std::string_view text) {
  std::string path = fmt::format(HOTSET_SOURCE_DIR "/tests/golden/{}", name);
  if (std::getenv("HOTSET_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  if (Result<std::string> golden = Files().read(path); golden && *golden == text) return;
  ADD_FAILURE() << diff_of(path, text) << "if that is meant: HOTSET_UPDATE_GOLDENS=1 build/hotset_unit_tests";
}

} // namespace hotset
