// SPDX-License-Identifier: Apache-2.0
// A folder that stands in for "/": a test writes the text it wants the program to read.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file.h"

namespace hotset {

class FakeTree {
 public:
  FakeTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hotset-tree-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;
  ~FakeTree() { std::filesystem::remove_all(root_); }

  // Writes a file, with the folders above it.
  void put(std::string_view path, std::string_view text) const {
    std::filesystem::path full = root_ + std::string(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
  }
  void remove(std::string_view path) const { std::filesystem::remove_all(root_ + std::string(path)); }

  [[nodiscard]] Files files() const { return Files(root_); }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

} // namespace hotset
