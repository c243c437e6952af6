// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/rights.h"

namespace hotset {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
    case ENOTDIR:
    case ELOOP:
      return ErrorCode::not_found;
    case EISDIR:
    case ENAMETOOLONG:
      return ErrorCode::usage;
    case EPERM:
    case EACCES:
      return ErrorCode::permission;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
      return ErrorCode::output;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::unsupported;
    case EINTR:
      return ErrorCode::interrupted;
    default:
      return ErrorCode::internal;
  }
}

std::string remedy_of(int error_number) {
  switch (error_number) {
    case EPERM:
    case EACCES:
      return rights_remedy();
    case ENOSPC:
    case EDQUOT:
      return "make room on that file system";
    case EROFS:
      return "choose a place that can be written";
    case EISDIR:
      return "give the name of a file";
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return "";
  }
}

} // namespace

std::string to_sentence(const Error& error) {
  std::string sentence = fmt::format("cannot {}", error.operation);
  if (!error.object.empty()) sentence += fmt::format(" {}", error.object);
  if (!error.cause.empty()) sentence += fmt::format(": {}", error.cause);
  if (!error.remedy.empty()) sentence += fmt::format("; {}", error.remedy);
  return sentence;
}

Error errno_error(int error_number, std::string operation, std::string object) {
  return {code_of(error_number), std::move(operation), std::move(object), std::strerror(error_number),
          remedy_of(error_number)};
}

Error within(std::string operation, std::string object, Error inner) {
  std::string remedy = std::exchange(inner.remedy, {});
  return {inner.code, std::move(operation), std::move(object), to_sentence(inner), std::move(remedy)};
}

} // namespace hotset
