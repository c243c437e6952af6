// SPDX-License-Identifier: Apache-2.0
// hotset_bpf_load [--set VARIABLE=NUMBER]… OBJECT…: loads each program of BPF object files by itself and prints, one
// JSON object a line, whether this kernel took it and what its verifier had to do.
//
// The verifier's work is invisible until a program grows past its limit on somebody's kernel. It drops the branches
// that read-only variables rule out, so --set switches on what users can switch on: the number to watch is that of the
// whole program. The counts are read from the verifier's own statistics, which all kernels since 5.2 give.
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Settings = std::map<std::string, std::uint64_t, std::less<>>;

constexpr int kLogStatistics = 4; // BPF_LOG_STATS of the kernel

// The number in front of which `label` stands in the log, or null.
nlohmann::json number_after(std::string_view log, std::string_view label) {
  std::size_t at = log.find(label);
  if (at == std::string_view::npos) return nullptr;
  log.remove_prefix(at + label.size());
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(log.data(), log.data() + log.size(), value);
  return error == std::errc() ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Writes the settings that this object has variables for into its read-only data; `used` collects their names.
void apply(bpf_object* object, const Settings& settings, std::set<std::string>& used) {
  const btf* types = bpf_object__btf(object);
  std::int32_t section = types ? btf__find_by_name_kind(types, ".rodata", BTF_KIND_DATASEC) : -1;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) if (std::string_view(bpf_map__name(map)).ends_with(".rodata")) break;
  if (section < 0 || !map) return;
  std::size_t bytes = 0;
  const auto* initial = static_cast<const char*>(bpf_map__initial_value(map, &bytes));
  if (!initial) return;
  std::vector<char> data(initial, initial + bytes);
  const btf_type* rodata = btf__type_by_id(types, static_cast<std::uint32_t>(section));
  const btf_var_secinfo* variable = btf_var_secinfos(rodata);
  for (int i = 0; i < btf_vlen(rodata); ++i, ++variable) {
    const char* name = btf__name_by_offset(types, btf__type_by_id(types, variable->type)->name_off);
    auto setting = settings.find(std::string_view(name));
    if (setting == settings.end() || variable->offset + variable->size > bytes) continue;
    std::memcpy(data.data() + variable->offset, &setting->second,
                std::min<std::size_t>(variable->size, sizeof(std::uint64_t)));
    used.insert(setting->first);
  }
  bpf_map__set_initial_value(map, data.data(), data.size());
}

std::vector<std::string> program_names(const char* path) {
  std::vector<std::string> names;
  bpf_object* object = bpf_object__open(path);
  bpf_program* program = nullptr;
  if (object) bpf_object__for_each_program(program, object) names.emplace_back(bpf_program__name(program));
  bpf_object__close(object);
  return names;
}

nlohmann::json load_one(const char* path, const std::string& name, const Settings& settings,
                        std::set<std::string>& used) {
  std::vector<char> log(1 << 16, '\0');
  bpf_object* object = bpf_object__open(path);
  apply(object, settings, used);
  nlohmann::json row{{"program", name}};
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    bool chosen = name == bpf_program__name(program);
    bpf_program__set_autoload(program, chosen);
    if (!chosen) continue;
    row["section"] = bpf_program__section_name(program);
    bpf_program__set_log_buf(program, log.data(), log.size());
    bpf_program__set_log_level(program, kLogStatistics);
  }
  int error = bpf_object__load(object);
  row["loaded"] = error == 0;
  row["errno"] = -error;
  row["instructions"] = number_after(log.data(), "processed ");
  row["microseconds"] = number_after(log.data(), "verification time ");
  bpf_object__close(object);
  return row;
}

bool read_setting(std::string_view text, Settings& settings) {
  std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  std::uint64_t value = 0;
  std::string_view digits = text.substr(equals + 1);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) return false;
  settings.emplace(text.substr(0, equals), value);
  return true;
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::vector<const char*> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--set") {
      paths.push_back(argv[i]);
      continue;
    }
    ++i;
    if (i == argc || !read_setting(argv[i], settings)) {
      std::cerr << "hotset_bpf_load: --set takes VARIABLE=NUMBER\n";
      return 2;
    }
  }
  std::set<std::string> used;
  for (const char* path : paths) {
    std::vector<std::string> names = program_names(path);
    if (names.empty()) {
      std::cerr << "hotset_bpf_load: no BPF program in " << path << '\n';
      return 1;
    }
    std::string file = path;
    for (const std::string& name : names) {
      nlohmann::json row = load_one(path, name, settings, used);
      row["object"] = file.substr(file.rfind('/') + 1);
      std::cout << row.dump() << '\n';
    }
  }
  for (const auto& [name, value] : settings)
    if (!used.contains(name)) {
      std::cerr << "hotset_bpf_load: no object has a variable " << name << '\n';
      return 1;
    }
  return 0;
}
