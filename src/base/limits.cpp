// SPDX-License-Identifier: Apache-2.0
#include "base/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

namespace hotset {

Result<> provide_open_files(std::uint64_t files) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fail(errno_error(errno, "ask for", "the limit of open files"));
  if (limit.rlim_cur >= files) return {};
  if (limit.rlim_max < files)
    return fail(ErrorCode::internal, "start", "",
                fmt::format("no more than {} files may be open, and {} have to be", limit.rlim_max, files),
                fmt::format("raise the limit (ulimit -n {})", files));
  limit.rlim_cur = files;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return fail(errno_error(errno, "raise", "the limit of open files"));
  return {};
}

} // namespace hotset
