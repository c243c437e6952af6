// SPDX-License-Identifier: Apache-2.0
#include "window/type.h"

#include <bpf/btf.h>

#include <span>
#include <string_view>

namespace hotset {
namespace {

constexpr std::uint32_t kBitsPerByte = 8;
constexpr std::string_view kTag = "abs_bucket";

// The structure behind typedefs and qualifiers; null when it is none.
const btf_type* structure(const btf& types, std::uint32_t id) {
  int resolved = btf__resolve_type(&types, id);
  const btf_type* type = resolved < 0 ? nullptr : btf__type_by_id(&types, static_cast<std::uint32_t>(resolved));
  return type != nullptr && btf_is_struct(type) ? type : nullptr;
}

std::span<const btf_member> members(const btf_type& type) {
  return {btf_members(&type), btf_vlen(&type)};
}

std::string_view name_at(const btf& types, std::uint32_t offset) {
  const char* name = btf__name_by_offset(&types, offset);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

// "cache" of "cache_window"; nothing when the name does not end so.
std::optional<std::string> stem(const btf& types, const btf_type& type, std::string_view suffix) {
  std::string_view name = name_at(types, type.name_off);
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return std::nullopt;
  return std::string(name.substr(0, name.size() - suffix.size()));
}

// Whether the type is an integer of 8 bytes without a sign.
bool is_word(const btf& types, std::uint32_t id) {
  int resolved = btf__resolve_type(&types, id);
  const btf_type* type = resolved < 0 ? nullptr : btf__type_by_id(&types, static_cast<std::uint32_t>(resolved));
  return type != nullptr && btf_is_int(type) && type->size == sizeof(std::uint64_t) &&
         (btf_int_encoding(type) & BTF_INT_SIGNED) == 0;
}

// The names of a structure that consists of words and of nothing else; empty when it does not.
std::vector<std::string> words(const btf& types, const btf_type& type) {
  std::vector<std::string> names;
  std::uint32_t offset = 0;
  for (const btf_member& member : members(type)) {
    if (!is_word(types, member.type) || member.offset != offset) return {};
    offset += sizeof(std::uint64_t) * kBitsPerByte;
    names.emplace_back(name_at(types, member.name_off));
  }
  return names;
}

bool is_header(const btf& types, const btf_member& member) {
  const btf_type* type = structure(types, member.type);
  return type != nullptr && name_at(types, type->name_off) == "window_header" && type->size == sizeof(window_header);
}

bool are_slots(const btf& types, const btf_member& member, std::size_t counters) {
  int resolved = btf__resolve_type(&types, member.type);
  const btf_type* type = resolved < 0 ? nullptr : btf__type_by_id(&types, static_cast<std::uint32_t>(resolved));
  if (type == nullptr || !btf_is_array(type) || btf_array(type)->nelems != WINDOW_SLOTS) return false;
  const btf_type* slot = structure(types, btf_array(type)->type);
  return slot != nullptr && slot->size == (1 + counters) * sizeof(std::uint64_t) && btf_vlen(slot) > 0 &&
         name_at(types, members(*slot)[0].name_off) == kTag;
}

std::optional<WindowType> starts(const btf& types, const btf_type& value) {
  std::optional<std::string> name = stem(types, value, "_window");
  if (!name || btf_vlen(&value) != 3) return std::nullopt;
  std::span<const btf_member> parts = members(value);
  const btf_type* totals = structure(types, parts[1].type);
  if (totals == nullptr || !is_header(types, parts[0])) return std::nullopt;
  std::vector<std::string> counters = words(types, *totals);
  if (counters.empty() || counters.size() > WINDOW_MAX_COUNTERS || !are_slots(types, parts[2], counters.size()) ||
      value.size != WINDOW_WORDS(counters.size()) * sizeof(std::uint64_t))
    return std::nullopt;
  return WindowType{*std::move(name), WINDOW_STARTS, std::move(counters)};
}

std::optional<WindowType> published(const btf& types, const btf_type& value) {
  std::optional<std::string> name = stem(types, value, "_slot");
  if (!name || value.size != sizeof(window_published_slot)) return std::nullopt;
  std::vector<std::string> counters = words(types, value);
  if (counters.size() != 1 + WINDOW_PUBLISHED_COUNTERS || counters.front() != kTag) return std::nullopt;
  counters.erase(counters.begin());
  return WindowType{*std::move(name), WINDOW_PUBLISHED, std::move(counters)};
}

} // namespace

std::optional<WindowType> window_type(const btf& types, std::uint32_t value_type) {
  const btf_type* value = structure(types, value_type);
  if (value == nullptr) return std::nullopt;
  std::optional<WindowType> found = starts(types, *value);
  return found ? found : published(types, *value);
}

} // namespace hotset
