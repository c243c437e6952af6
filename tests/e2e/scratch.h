// SPDX-License-Identifier: Apache-2.0
// A folder for one test, taken away after it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace hotset {

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hotset-e2e-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

} // namespace hotset
