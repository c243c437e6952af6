// SPDX-License-Identifier: Apache-2.0
// What all our JSON has in common: keys stay in order, what is not known is null, and a line is valid UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/units.h"

namespace hotset {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Null when it is empty.
inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(printable(text));
}

// On one line. A name may have any bytes: those that are no UTF-8 are replaced, where a bare dump() would throw.
inline std::string json_line(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace hotset
