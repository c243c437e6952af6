// SPDX-License-Identifier: Apache-2.0
// Errors as values.
//
// A fallible function returns Result<T>. The error is made where the system call fails, from four parts that make one
// sentence: what was attempted, on what, why it failed, and what the user can do. Each caller may put what *it* was
// attempting in front (`within`). Nothing below main prints.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace hotset {

// What kind of thing went wrong. Each kind is one documented exit code (docs/exit-codes.md); the numbers never change.
enum class ErrorCode : int {
  internal = 1,       // a bug of ours, or a resource that ran out
  usage = 2,          // the command line
  not_found = 3,      // no such process, file, command
  permission = 4,     // the kernel or the file system said no, or another hotset holds what only one can have
  unsupported = 5,    // this kernel or this build lacks what is needed
  bad_data = 6,       // a file that is malformed, truncated, from the future, or does not fit
  output = 7,         // what was to be written could not be
  gone = 8,           // the target ended before the work was done
  not_applicable = 9, // the target has no memory of its own: a zombie or a kernel thread
  interrupted = 128,  // a signal ended it (base/interrupt.h), whose number is added to the exit code; said silently
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string operation; // "reset the referenced bits", completes "cannot …"
  std::string object;    // "process 12", may be empty
  std::string cause;     // "permission denied"
  std::string remedy;    // "run as root", may be empty
};

// "cannot OPERATION of OBJECT: CAUSE; REMEDY", without a full stop or a line feed.
std::string to_sentence(const Error& error);

// An error from errno: the code follows from the number (ENOENT and ESRCH: not_found, EPERM and EACCES: permission,
// ENOSPC, EDQUOT, EFBIG and EROFS: output, ENOSYS and EOPNOTSUPP: unsupported, EINTR: interrupted, else internal), with
// a remedy where one is general enough to be true.
Error errno_error(int error_number, std::string operation, std::string object);

template <class T = void>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(ErrorCode code, std::string operation, std::string object, std::string cause,
                                   std::string remedy = {}) {
  return std::unexpected(Error{code, std::move(operation), std::move(object), std::move(cause), std::move(remedy)});
}

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

// The same error, seen from the caller: `operation` is what the caller was attempting; what was there becomes the
// cause.
Error within(std::string operation, std::string object, Error inner);

} // namespace hotset

// Early return of an error. The language has no operator for it yet (P2561).
#define HOTSET_JOIN_(a, b) a##b
#define HOTSET_JOIN(a, b) HOTSET_JOIN_(a, b)
#define HOTSET_TRY_(result, declaration, ...)                    \
  auto result = (__VA_ARGS__);                                   \
  if (!result) return ::hotset::fail(std::move(result).error()); \
  declaration = *std::move(result)
// HOTSET_TRY(auto fd, open_read(path)): declares fd, or returns the error from the function.
#define HOTSET_TRY(declaration, ...) HOTSET_TRY_(HOTSET_JOIN(try_result_, __LINE__), declaration, __VA_ARGS__)
// HOTSET_CHECK(write_all(fd, text)): returns the error from the function, if there is one.
#define HOTSET_CHECK(...)                                                                                            \
  do {                                                                                                               \
    if (auto check_result_ = (__VA_ARGS__); !check_result_) return ::hotset::fail(std::move(check_result_).error()); \
  } while (false)
