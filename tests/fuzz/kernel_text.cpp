// SPDX-License-Identifier: Apache-2.0
// What the kernel and libbpf say in words: lockdown mode, security modules, load errors, time namespaces.
//
// The first byte of the input is the error's number.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel/bpf_error.h"
#include "kernel/security.h"
#include "kernel/time_namespace.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  if (size == 0) return 0;
  const int number = data[0];
  const std::string text(data + 1, data + size);

  REQUIRE(parse_lockdown(text).find_first_of("]") == std::string::npos);
  std::size_t letters = 0;
  for (const std::string& name : parse_lsm_list(text)) {
    REQUIRE(!name.empty() && name.find_first_of(",\n") == std::string::npos);
    letters += name.size();
  }
  REQUIRE(letters <= text.size());
  REQUIRE(parse_time_offset("", "boottime") == Nanoseconds::zero());
  (void)parse_time_offset(text, "boottime");

  REQUIRE(verifier_reason(text).find('\n') == std::string::npos);
  Error error = bpf_error(number, "load", "a program", text, Privileges());
  REQUIRE(!error.cause.empty());
  REQUIRE(to_sentence(error).find('\n') == std::string::npos);
  return 0;
}
