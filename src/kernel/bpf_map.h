// SPDX-License-Identifier: Apache-2.0
// BPF maps with the types of their keys and values. They borrow the descriptor of the object that owns the map.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/map_keys.h"

namespace hotset {

template <class Key, class Value>
class HashMap {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>);

 public:
  explicit HashMap(const bpf_map* map)
      : fd_(bpf_map__fd(map)), capacity_(bpf_map__max_entries(map)), name_(bpf_map__name(map)) {}

  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }

  // Nothing when the key is absent.
  Result<std::optional<Value>> find(const Key& key) const {
    Value value{};
    if (bpf_map_lookup_elem(fd_, &key, &value) == 0) return value;
    if (errno == ENOENT) return std::optional<Value>();
    return fail(errno_error(errno, "read map", name_));
  }
  // An absent key is no error.
  Result<> erase(const Key& key) const {
    if (bpf_map_delete_elem(fd_, &key) == 0 || errno == ENOENT) return {};
    return fail(errno_error(errno, "delete from map", name_));
  }
  // The keys alone, where values are large.
  Result<std::vector<Key>> keys() const {
    HOTSET_TRY(std::vector<MapKey> found, map_keys(fd_));
    std::vector<Key> keys(found.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      std::memcpy(&keys[i], found[i].data(), sizeof(Key));
    return keys;
  }
  // Every entry, in one call (Linux 5.6): what programs insert meanwhile may be in it or not, nothing is in it twice.
  Result<std::vector<std::pair<Key, Value>>> entries() const {
    std::vector<Key> keys(capacity_);
    std::vector<Value> values(capacity_);
    std::uint32_t count = capacity_, position = 0;
    if (bpf_map_lookup_batch(fd_, nullptr, &position, keys.data(), values.data(), &count, nullptr) != 0 &&
        errno != ENOENT)
      return fail(errno_error(errno, "read map", name_));
    std::vector<std::pair<Key, Value>> entries;
    entries.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i)
      entries.emplace_back(keys[i], values[i]);
    return entries;
  }

 private:
  int fd_;
  std::uint32_t capacity_;
  std::string name_;
};

// An array with a value per CPU. The kernel copies one value for each *possible* CPU, at multiples of 8 bytes: sized by
// the online ones, the buffer would be overrun.
template <class Value>
class PerCpuArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  explicit PerCpuArray(const bpf_map* map) : fd_(bpf_map__fd(map)), name_(bpf_map__name(map)) {}

  // By CPU number.
  Result<std::vector<Value>> read(std::uint32_t index) const {
    constexpr std::size_t kStride = (sizeof(Value) + 7) / 8 * 8;
    int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail(errno_error(-cpus, "count", "the possible CPUs"));
    std::vector<Value> values(static_cast<std::size_t>(cpus));
    std::vector<std::byte> buffer(values.size() * kStride);
    if (bpf_map_lookup_elem(fd_, &index, buffer.data()) != 0) return fail(errno_error(errno, "read map", name_));
    for (std::size_t cpu = 0; cpu < values.size(); ++cpu)
      std::memcpy(&values[cpu], buffer.data() + cpu * kStride, sizeof(Value));
    return values;
  }
  Result<Value> sum(std::uint32_t index) const {
    HOTSET_TRY(std::vector<Value> values, read(index));
    Value total{};
    for (const Value& value : values)
      total += value;
    return total;
  }

 private:
  int fd_;
  std::string name_;
};

} // namespace hotset
