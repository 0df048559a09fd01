// Any bytes as the options of `gantry explain`: the question is answered or refused, and both are text that can be
// written. Lines of the input are the options in order.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/tma/explain_report.hpp>

#include "explain/json.hpp"
#include "explain/options.hpp"

namespace {

std::vector<std::string> lines_of(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      out.emplace_back();
    } else {
      out.back() += static_cast<char>(data[i]);
    }
  }
  out.resize(14);
  return out;
}

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "{}\n", what);
  std::abort();
}

// A refusal says why: every objection names its rule and ends in a sentence.
template <class Explanation>
void require_answer(const Explanation& e) {
  if (report(e).empty()) fail("the report is empty");
  if (gantry::tool::to_json(e).dump().empty()) fail("the JSON is empty");
  if (e.ok() != e.objections.empty()) fail("a plan runs exactly if there is no objection to it");
  for (const gantry::TmaObjection& o : e.objections) {
    if (o.rule.empty() || o.sentence.empty()) fail("an objection names no rule");
  }
}

void require_reasons(const gantry::Status& refused) {
  if (refused) fail("what cannot be read has a reason");
  for (const gantry::StatusReason& reason : refused.reasons()) {
    if (reason.rule.empty() || reason.operand.empty()) fail("a reason names no rule or no option");
    if (reason.sentence.size() < 10) fail("a reason has no sentence");
  }
}

void ask_tma(const std::vector<std::string>& l) {
  const auto q = gantry::tool::read_question(gantry::tool::TmaTexts{.op = l[0],
                                                                    .elem = l[1],
                                                                    .gmem = l[2],
                                                                    .smem = l[3],
                                                                    .tile = l[4],
                                                                    .cluster = l[5],
                                                                    .at = l[6],
                                                                    .tma_elem = l[7]});
  if (!q) return require_reasons(q.error());
  require_answer(gantry::explain(gantry::make_tma_copy(q->request), {.tile = q->tile}));
}

void ask_im2col(const std::vector<std::string>& l) {
  gantry::tool::Im2colTexts texts;
  texts.activation = l[1];
  texts.layout = l[2];
  texts.elem = l[3];
  texts.filter = l[4];
  texts.pad = l[5];
  texts.pad_upper = l[6];
  texts.stride = l[7];
  texts.dilation = l[8];
  texts.tile = l[9];
  texts.swizzle = l[10];
  texts.at = l[11];
  if (!l[12].empty()) texts.op = l[12];
  if (!l[13].empty()) texts.cluster = l[13];
  const auto q = gantry::tool::read_question(texts);
  if (!q) return require_reasons(q.error());
  require_answer(gantry::explain(gantry::plan_im2col(q->conv, q->tile, q->op), {.pixel_tile = q->pixel_tile}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> lines = lines_of(data, size);
  if (lines[0] == "im2col") {
    ask_im2col(lines);
  } else {
    ask_tma(lines);
  }
  return 0;
}
