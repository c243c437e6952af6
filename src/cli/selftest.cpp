// SPDX-License-Identifier: Apache-2.0
// hotset selftest: do the methods tell the truth on this machine?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "app/selftest.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "cli/command.h"
#include "present/json.h"
#include "present/output.h"
#include "present/progress.h"

namespace hotset {
namespace {

constexpr int kFailedExit = 1;

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"pass", "fail", "unjudged", "skipped"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string cell_name(const SelftestCell& cell) {
  return fmt::format("{} {} hot {:g}% {}{}{}", cell.pattern, human_bytes(cell.rss_bytes), cell.hot * 100,
                     cell.scattered ? "scattered" : "contiguous", cell.shared ? " shared" : "",
                     cell.huge ? " huge" : "");
}

struct SelftestOptions {
  std::string cells, method;
  bool full = false, json = false;
};

std::string json_of(const SelftestResult& result, const SelftestOptions& options) {
  const SelftestCell& cell = result.cell;
  bool measured = result.windows > 0;
  auto number = [measured](auto value) { return measured ? Json(value) : Json(); };
  return json_line({{"schema", "hotset.selftest/1"},
                    {"pattern", cell.pattern},
                    {"rss_bytes", cell.rss_bytes},
                    {"hot", cell.hot},
                    {"scattered", cell.scattered},
                    {"shared", cell.shared},
                    {"huge", cell.huge},
                    {"matrix", options.full ? "full" : "short"},
                    {"chosen", !options.cells.empty() || !options.method.empty()},
                    {"method", result.method},
                    {"budget", result.budget},
                    {"verdict", name_of(result.verdict)},
                    {"why", text_or_null(result.why)},
                    {"truth_pages", number(result.truth_pages)},
                    {"error_of_rss", number(result.error_of_rss)},
                    {"error_of_wss", number(result.error_of_wss)},
                    {"width_of_rss", number(result.width_of_rss)},
                    {"covered", result.covered},
                    {"windows", result.windows},
                    {"cpu_ms", number(result.cpu_ms)}});
}

std::string row_of(const SelftestResult& result) {
  if (result.windows == 0)
    return fmt::format("{:<48}{:<11}{:<10}{}", cell_name(result.cell), result.method, name_of(result.verdict),
                       result.why);
  return fmt::format("{:<48}{:<11}{:<10}{:>8.3f}{:>9.2f}{:>9.3f}{:>7}/{}{:>10.2f}  {}", cell_name(result.cell),
                     result.method, name_of(result.verdict), result.error_of_rss * 100, result.error_of_wss * 100,
                     result.width_of_rss * 100, result.covered, result.windows, result.cpu_ms, result.why);
}

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// Those that the options choose: with each of the words in their names.
Result<std::vector<SelftestCell>> chosen_cells(const SelftestOptions& options) {
  std::vector<SelftestCell> cells = selftest_cells(options.full);
  if (!options.cells.empty() && words_in(options.cells).empty())
    return fail(ErrorCode::usage, "choose the cells", "", "--cells has no word in it", "leave it out for all of them");
  for (const std::string& word : words_in(options.cells))
    std::erase_if(cells, [&](const SelftestCell& cell) {
      const std::vector<std::string> name = words_in(cell_name(cell));
      return std::ranges::find(name, word) == name.end();
    });
  if (!cells.empty()) return cells;
  return fail(ErrorCode::usage, "choose the cells", fmt::format("'{}'", printable(options.cells)),
              "none has all of these words in its name",
              options.full ? "take whole words from the names that hotset selftest --full prints"
                           : "take whole words from the names that hotset selftest prints; --full has more of them");
}

Result<std::vector<Method>> chosen_methods(const SelftestOptions& options) {
  std::vector<Method> chosen;
  std::string known;
  for (const Method& method : methods()) {
    if (method.counts_faults || method.chooses) continue; // no working set; none of its own
    known += fmt::format("{}{}", known.empty() ? "" : ", ", method.name);
    if (options.method.empty() || options.method == method.name) chosen.push_back(method);
  }
  if (!chosen.empty()) return chosen;
  return fail(ErrorCode::usage, "choose the method", fmt::format("'{}'", printable(options.method)),
              "it is none that is tested", "choose one of: " + known);
}

Result<int> selftest(const SelftestOptions& options) {
  const bool json = options.json;
  HOTSET_TRY(const std::vector<SelftestCell> cells, chosen_cells(options));
  HOTSET_TRY(const std::vector<Method> chosen, chosen_methods(options));
  SystemClock clock;
  Output output;
  Progress progress(clock);
  if (!json)
    HOTSET_CHECK(output.line(fmt::format("{:<48}{:<11}{:<10}{:>8}{:>9}{:>9}{:>9}{:>10}", "CELL", "METHOD", "VERDICT",
                                         "OF RSS%", "OF WSS%", "WIDTH%", "COVERED", "CPU ms")));
  int failed = 0, passed = 0, unjudged = 0, skipped = 0;
  SelftestSummary summary;
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const Method& method : chosen) {
      if (interrupt_requested()) return interrupt_exit_code();
      if (output.reader_gone()) return 0;
      progress.show(fmt::format("cell {} of {}: {}, {}", i + 1, cells.size(), cell_name(cells[i]), method.name));
      Result<SelftestResult> ran = run_selftest_cell(cells[i], method, clock);
      if (interrupt_requested()) return interrupt_exit_code();
      if (!ran) return fail(std::move(ran).error());
      const SelftestResult& result = *ran;
      failed += result.verdict == Verdict::fail;
      passed += result.verdict == Verdict::pass;
      unjudged += result.verdict == Verdict::unjudged;
      skipped += result.verdict == Verdict::skipped;
      summary.add(result);
      progress.clear();
      HOTSET_CHECK(output.line(json ? json_of(result, options) : row_of(result)));
    }
  if (!json)
    for (const std::string& line : summary.lines())
      HOTSET_CHECK(output.line(line));
  if (!json)
    HOTSET_CHECK(
        output.line(fmt::format("{} passed, {} failed, {} not judged, {} skipped", passed, failed, unjudged, skipped)));
  HOTSET_CHECK(output.finish());
  if (failed == 0 && passed == 0)
    return fail(ErrorCode::internal, "judge", "a method",
                unjudged == 0 ? "none could run" : "those that ran are there to compare with, and not judged",
                "each line says why; --method exact and --method sample are judged where they run");
  return failed > 0 ? kFailedExit : 0;
}

} // namespace

Action declare_selftest(CLI::App& app, const Tail& /*tail*/) {
  auto options = std::make_shared<SelftestOptions>();
  app.add_flag("--full", options->full, "The whole matrix (an hour) instead of a minute");
  app.add_option("--cells", options->cells, "Only those with all of these words in their names, like \"10% shared\"");
  app.add_option("--method", options->method, "Only this one");
  app.add_flag("--json", options->json, "One object a cell and method (docs/schemas.md)");
  return [options] { return selftest(*options); };
}

} // namespace hotset
