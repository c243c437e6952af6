// SPDX-License-Identifier: Apache-2.0
#include "dataset/header.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace hotset {
namespace {

using Json = nlohmann::ordered_json;

// Reads members of an object and keeps the first complaint: a member that is absent leaves its default, one of another
// type is an error.
class Members {
 public:
  Members(const Json& object, std::string& cause) : object_(object), cause_(cause) {}

  void text(const char* name, std::string& value) {
    if (const Json* member = find(name)) {
      if (member->is_string())
        value = member->get<std::string>();
      else
        complain(name, "a text");
    }
  }
  void seconds(const char* name, double& value) {
    if (const Json* member = find(name)) {
      if (member->is_number() && std::isfinite(member->get<double>()) && member->get<double>() >= 0)
        value = member->get<double>();
      else
        complain(name, "a number of seconds");
    }
  }
  template <class Whole>
  void whole(const char* name, Whole& value) {
    if (const Json* member = find(name)) {
      if (member->is_number_unsigned() && std::in_range<Whole>(member->get<std::uint64_t>()))
        value = static_cast<Whole>(member->get<std::uint64_t>());
      else
        complain(name, "a whole number");
    }
  }

 private:
  const Json* find(const char* name) const {
    auto member = object_.find(name);
    return member == object_.end() ? nullptr : &*member;
  }
  void complain(const char* name, const char* wanted) {
    if (cause_.empty()) cause_ = fmt::format("its header's \"{}\" is not {}", name, wanted);
  }

  const Json& object_;
  std::string& cause_;
};

HeaderComplaint schema_complaint(const Json& json) {
  auto schema = json.find("schema");
  if (schema == json.end() || !schema->is_string()) return {"its header names no schema"};
  const auto name = schema->get<std::string>();
  if (name == kDatasetSchema) return {};
  if (name.starts_with("hotset.dataset/"))
    return {fmt::format("its schema is {}, and this program reads {}", printable(name), kDatasetSchema),
            "use the hotset that wrote it"};
  return {fmt::format("its schema is {}, which is not a data set's", printable(name))};
}

} // namespace

std::string header_json(const DatasetHeader& header) {
  Json json = {
      {"schema", kDatasetSchema},
      {"host", printable(header.host)},
      {"kernel", printable(header.kernel)},
      {"hook", header.hook},
      {"hook_semantics", header.hook_semantics},
      {"transport", header.transport},
      {"target",
       {{"command", printable(header.target)},
        {"comm", printable(header.comm)},
        {"pid", header.pid},
        {"start_ticks", header.start_ticks}}},
      {"interval_s", header.interval_s},
      {"label", header.label},
      {"begin_time", header.begin_time},
      {"group", printable(header.group)},
      {"hotset_version", header.hotset_version},
  };
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::expected<DatasetHeader, HeaderComplaint> parse_header_json(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::unexpected(HeaderComplaint{"its header is not a JSON object"});
  HeaderComplaint complaint = schema_complaint(json);
  std::string& cause = complaint.cause;
  DatasetHeader header;
  Members members(json, cause);
  members.text("host", header.host);
  members.text("kernel", header.kernel);
  members.text("hook", header.hook);
  members.text("hook_semantics", header.hook_semantics);
  members.text("transport", header.transport);
  members.seconds("interval_s", header.interval_s);
  members.text("label", header.label);
  members.text("begin_time", header.begin_time);
  members.text("group", header.group);
  members.text("hotset_version", header.hotset_version);
  if (auto target = json.find("target"); target != json.end() && target->is_object()) {
    Members of_target(*target, cause);
    of_target.text("command", header.target);
    of_target.text("comm", header.comm);
    of_target.whole("pid", header.pid);
    of_target.whole("start_ticks", header.start_ticks);
  }
  if (cause.empty() && header.label.empty()) cause = "its header does not name the method of the labels";
  if (!cause.empty()) return std::unexpected(std::move(complaint));
  return header;
}

} // namespace hotset
