// SPDX-License-Identifier: Apache-2.0
#include "kernel/libbpf_log.h"

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace hotset {
namespace {

constexpr std::size_t kKeptBytes = 65536;
thread_local LibbpfLog* current = nullptr;
std::once_flag installed;

} // namespace

struct LibbpfSink {
  __attribute__((format(printf, 2, 0))) static int print(libbpf_print_level level, const char* format,
                                                         std::va_list arguments) {
    if (level == LIBBPF_DEBUG || current == nullptr) return 0;
    std::va_list measured;
    va_copy(measured, arguments);
    int length = std::vsnprintf(nullptr, 0, format, measured);
    va_end(measured);
    if (length <= 0) return 0;
    std::string& text = current->text_;
    std::size_t used = text.size();
    text.resize(used + static_cast<std::size_t>(length) + 1);
    std::vsnprintf(text.data() + used, static_cast<std::size_t>(length) + 1, format, arguments);
    text.pop_back();
    if (text.size() > kKeptBytes) text.erase(0, text.size() - kKeptBytes);
    return 0;
  }
};

LibbpfLog::LibbpfLog() : outer_(current) {
  std::call_once(installed, [] { ::libbpf_set_print(LibbpfSink::print); });
  current = this;
}

LibbpfLog::~LibbpfLog() {
  current = outer_;
}

} // namespace hotset
