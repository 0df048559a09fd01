#include "gemm/gemm_list.hpp"

#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/gemm/array_check.hpp>

#include "files.hpp"
#include "option_text.hpp"

namespace gantry::tool {

namespace {

constexpr std::size_t kShown = 8;  // a file of something else is wrong in every line

constexpr const char* kOption = "--problems";

Status first_of(const Status& all, const std::string& path) {
  std::vector<StatusReason> reasons = all.reasons();
  if (reasons.size() <= kShown) return all;
  const std::size_t more = reasons.size() - kShown;
  reasons.resize(kShown);
  Status out(std::move(reasons));
  refuse(out, OptionRule::line, kOption, fmt::format("--problems {}: {} more lines are wrong", path, more));
  return out;
}

// Empty, or what is wrong with a line.
std::string read_line(const std::string& content, GemmExtents& out) {
  std::istringstream words(content);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  if (all.size() != 3) {
    return fmt::format("a line has three numbers, M, N and K, such as 128 768 256, and here are {}: {}", all.size(),
                       in_quotes(content));
  }
  std::int64_t* const extents[] = {&out.m, &out.n, &out.k};
  constexpr const char* kNames[] = {"M", "N", "K"};
  for (std::size_t i = 0; i < std::size(extents); ++i) {
    if (read_number(all[i], *extents[i]) && *extents[i] >= 0 && *extents[i] <= kMostExtent) continue;
    return fmt::format("{} is a number from 0 to {}, and not {}", kNames[i], kMostExtent, in_quotes(all[i]));
  }
  return {};
}

}  // namespace

ReadGemms read_gemms(const std::string& path) {
  ReadGemms out;
  const Result<std::string> read = read_text(path);
  if (!read) {
    refuse(out.status, OptionRule::file, kOption,
           fmt::format("--problems: {} could not be read: {}", in_quotes(path), read.error().describe()));
    return out;
  }
  std::istringstream lines(*read);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string content = line.substr(0, line.find('#'));
    if (content.find_first_not_of(" \t\r") == std::string::npos) continue;
    GemmExtents gemm;
    if (const std::string problem = read_line(content, gemm); !problem.empty()) {
      refuse(out.status, OptionRule::line, kOption, fmt::format("--problems {}, line {}: {}", path, number, problem));
      continue;
    }
    out.gemms.push_back(gemm);
    out.lines.push_back(number);
  }
  if (out.gemms.empty() && out.status.ok()) {
    refuse(out.status, OptionRule::file, kOption,
           fmt::format("--problems: there is no GEMM in {}: a line such as 128 768 256 is one", path));
  }
  out.status = first_of(out.status, path);
  return out;
}

Status why_left_out(const std::string& path, const GemmOptions& options, const fusion::Graph& graph) {
  const ReadGemms file = read_gemms(path);
  Status out;
  if (128 % element_bits(options.d) != 0) return out;  // elements of 6 bits, which the design refuses
  void* const anywhere = reinterpret_cast<void*>(16);  // NOLINT(performance-no-int-to-ptr): nothing is looked at
  for (std::size_t i = 0; i < file.gemms.size(); ++i) {
    const GemmExtents& e = file.gemms[i];
    const auto say = [&](const std::optional<ArrayReason>& why) {
      if (why) refuse(out, kOption, *why, fmt::format("--problems {}, line {}: ", path, file.lines[i]));
    };
    // Lines are padded to 16 bytes here, so that all inputs can be addressed.
    const auto padded = [&](ElementType element, bool rows) {
      const std::int64_t chunk = 128 / element_bits(element), length = rows ? e.n : e.m;
      return (length + chunk - 1) / chunk * chunk;
    };
    GemmGroup gemm{.m = static_cast<std::int32_t>(e.m), .n = static_cast<std::int32_t>(e.n), .d = anywhere};
    gemm.stride_d = padded(options.d, !is_m_major(options.layout_d));
    say(gantry::why_left_out(options, gemm, false, graph.d >= 0));
    for (int a = 0; a < graph.argument_count; ++a) {
      const fusion::Argument& x = graph.arguments[a];
      if (x.kind != fusion::ArgumentKind::aux_out || fusion::is_mask(x)) continue;
      const gantry::detail::FaultyMatrix tensor{
          x.name.text, x.element, {element_bits(x.element), x.row_major, true}, {}};
      const GroupMatrix matrix = tensor.layout.of(anywhere, padded(x.element, x.row_major), e.m, e.n);
      if (rule_of(tensor.layout, matrix) != GroupRule::ends_inside_chunk || e.m == 0 || e.n == 0) continue;
      say(gantry::detail::reason_of(GroupRule::ends_inside_chunk,
                                    {tensor.name, tensor.element, tensor.layout, matrix}));
    }
  }
  return first_of(out, path);
}

}  // namespace gantry::tool
