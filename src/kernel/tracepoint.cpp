// SPDX-License-Identifier: Apache-2.0
#include "kernel/tracepoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/fd.h"
#include "base/units.h"
#include "kernel/private_mount.h"

namespace hotset {
namespace {

constexpr std::array<std::string_view, 2> kMounts{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

Result<std::uint64_t> parse_id(std::string_view text, std::string_view name) {
  std::optional<std::uint64_t> id = parse_u64(text.substr(0, text.find('\n')));
  if (!id) return fail(ErrorCode::bad_data, "read the number of tracepoint", std::string(name), "it is not a number");
  return *id;
}

std::unexpected<Error> no_such_tracepoint(std::string_view name) {
  return fail(ErrorCode::unsupported, "find tracepoint", std::string(name), "this kernel has no such tracepoint");
}

} // namespace

Result<std::uint64_t> tracepoint_id(const Files& files, std::string_view name) {
  std::size_t colon = name.find(':');
  std::string path = fmt::format("events/{}/{}/id", name.substr(0, colon), name.substr(colon + 1));
  for (std::string_view mount : kMounts) {
    if (!files.exists(fmt::format("{}/events", mount))) continue;
    Result<std::string> text = files.read(fmt::format("{}/{}", mount, path));
    if (text) return parse_id(*text, name);
    if (text.error().code == ErrorCode::not_found) return no_such_tracepoint(name);
    return fail(std::move(text).error());
  }
  Result<Fd> tracefs = private_mount("tracefs");
  if (!tracefs) return fail(within("find tracepoint", std::string(name), std::move(tracefs).error()));
  Fd file(::openat(tracefs->get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return no_such_tracepoint(name);
  HOTSET_TRY(std::string text, read_all(file.get(), path));
  return parse_id(text, name);
}

} // namespace hotset
