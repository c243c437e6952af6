// SPDX-License-Identifier: Apache-2.0
// Text broken into lines keeps its words, and no line is longer than asked unless one word alone is.
//
// The first two bytes of the input are indent and width.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "present/style.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  if (size < 2) return 0;
  const std::size_t indent = data[0] % 40, columns = data[1];
  std::string text(data + 2, data + size);
  std::erase(text, '\n');
  std::string wrapped = wrap_text(text, indent, columns);

  auto without_blanks = [](std::string letters) {
    std::erase_if(letters, [](char c) { return c == ' ' || c == '\n'; });
    return letters;
  };
  REQUIRE(without_blanks(wrapped) == without_blanks(text));
  for (std::size_t at = wrapped.find('\n'); at != std::string::npos;) {
    std::size_t end = std::min(wrapped.find('\n', at + 1), wrapped.size());
    std::string line = wrapped.substr(at + 1, end - at - 1);
    REQUIRE(line.size() >= indent);
    bool ascii = std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    bool several_words = line.find(' ', indent) != std::string::npos;
    REQUIRE(!ascii || !several_words || line.size() <= columns);
    at = wrapped.find('\n', at + 1);
  }
  return 0;
}
