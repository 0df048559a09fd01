#include "bench/asked_gemms.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "bench/shapes.hpp"
#include "files.hpp"
#include "gemm/operands.hpp"
#include "option_rules.hpp"

namespace gantry::tool {

namespace {

std::vector<Size> sizes_of(const AskedTexts& one, const AskedFiles& files, Status& status) {
  if (!one.gemms.empty()) {
    if (!files.shapes.empty())
      refuse(status, OptionRule::conflict, "--problems", "--problems gives the sizes, so --shapes cannot be given too");
    return {{}};
  }
  if (!one.offsets.empty()) {
    if (one.m <= 0 || one.n <= 0 || one.k <= 0)
      refuse(status, OptionRule::value, "--offsets",
             "--offsets say where groups of the --m rows begin, beside --m, --n and --k of 1 or more");
    if (!files.shapes.empty())
      refuse(status, OptionRule::conflict, "--shapes", "--shapes gives the sizes, so groups cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (!one.groups.empty() || !one.groups_k.empty()) {
    const bool rows = !one.groups.empty();
    if (one.n <= 0 || (rows ? one.k : one.m) <= 0)
      refuse(status, OptionRule::value, rows ? "--groups" : "--groups-k",
             rows ? "--groups are the rows of a GEMM, beside --n and --k of 1 or more"
                  : "--groups-k are the rows of K, beside --m and --n of 1 or more");
    if (!files.shapes.empty())
      refuse(status, OptionRule::conflict, "--shapes", "--shapes gives the sizes, so groups cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (one.m != 0 || one.n != 0 || one.k != 0) {
    if (one.m <= 0 || one.n <= 0 || one.k <= 0)
      refuse(status, OptionRule::value, "--m", "--m, --n and --k are one size together, each of them 1 or more");
    if (!files.shapes.empty())
      refuse(status, OptionRule::conflict, "--shapes",
             "--shapes gives the sizes, so --m, --n and --k cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (files.shapes.empty()) return usual_sizes();
  const Result<std::string> file = read_text(files.shapes);
  if (!file) {
    refuse(status, OptionRule::file, "--shapes",
           fmt::format("the shapes could not be read from {}: {}", files.shapes, file.error().describe()));
    return {};
  }
  ReadSizes read = read_sizes(*file);
  for (StatusReason reason : read.status.reasons()) {
    reason.sentence.insert(0, files.shapes + ": ");
    status.add(std::move(reason));
  }
  return read.sizes;
}

// The expressions that are measured: one, or a line of a file each.
std::vector<std::string> epilogues_of(const AskedTexts& one, const AskedFiles& files, Status& status) {
  if (files.epilogues.empty()) return {one.epilogue};
  const Result<std::string> file = read_text(files.epilogues);
  if (!file)
    refuse(status, OptionRule::file, "--epilogues",
           fmt::format("the epilogues could not be read from {}: {}", files.epilogues, file.error().describe()));
  std::vector<std::string> out;
  std::istringstream lines(file ? *file : std::string());
  constexpr const char* kBlank = " \t\r";
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first != std::string::npos) out.push_back(line.substr(first, line.find_last_not_of(kBlank) - first + 1));
  }
  if (file && out.empty())
    refuse(status, OptionRule::file, "--epilogues", "there is no epilogue in " + files.epilogues);
  return out;
}

}  // namespace

AskedGemms read_all_asked(const AskedTexts& texts, const AskedFiles& files) {
  AskedGemms out;
  const std::vector<Size> sizes = sizes_of(texts, files, out.status);
  for (const std::string& epilogue : epilogues_of(texts, files, out.status)) {
    AskedTexts one = texts;
    one.epilogue = epilogue;
    const AskedGemm asked = read_asked(one);
    for (const StatusReason& reason : asked.status.reasons()) {
      const std::vector<StatusReason>& there = out.status.reasons();
      const bool said = std::any_of(there.begin(), there.end(),
                                    [&](const StatusReason& other) { return other.sentence == reason.sentence; });
      if (!said) out.status.add(reason);
    }
    const bool readable = asked.ok();
    for (const Size& size : sizes) {
      const bool grouped = asked.options.groups != GemmGrouping::none;
      out.all.push_back(!readable || grouped ? asked : with_sizes(asked, {size.m, size.n, size.k, asked.batch}));
      if (!readable) continue;
      const AskedGemm& sized = out.all.back();
      const Status status = sized.ok() ? Operands::problems_of(sized) : sized.status;
      for (StatusReason reason : status.reasons()) {
        reason.sentence.insert(0, title(sized) + ": ");
        out.status.add(std::move(reason));
      }
    }
  }
  return out;
}

std::string first_sentences(const Status& status) {
  constexpr std::size_t kShown = 8;
  std::vector<StatusReason> reasons = status.reasons();
  if (reasons.size() <= kShown) return status.describe();
  const std::size_t more = reasons.size() - kShown;
  reasons.resize(kShown);
  return fmt::format("{}\n... and {} more", Status(std::move(reasons)).describe(), more);
}

}  // namespace gantry::tool
