// Any line whatever, given to `gantry eval`: one line of JSON comes back, and nothing in the library is undefined on
// the way. The first byte chooses the kind.
#include <cstddef>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "eval/kinds.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry::tool;
  using gantry::fuzz::require;
  if (size == 0) return 0;
  const EvalKind& kind = eval_kinds()[data[0] % eval_kinds().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  JsonLine line(kind.computed);
  std::string out;
  const bool readable = evaluate_line(kind, text, line, out);
  require(!out.empty() && out.find('\n') == out.size() - 1, "the answer is one line", text);
  require(nlohmann::json::accept(out), "the answer is JSON", text);
  require(readable || nlohmann::json::parse(out).contains("error"), "an unreadable line gets an error", text);
  return 0;
}
