// Writes sources of random requests that are accepted, for tests to compile and run.
//
//   request_sources gemms FILE FIRST COUNT       tests of GEMMs on the simulated SM; so many requests, from this seed
//   on request_sources epilogues FILE FIRST COUNT   the same of epilogues request_sources kernels FOLDER FIRST COUNT
//   GEMM kernels as they are compiled at run time, a file each
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include <gantry/gemm/design.hpp>

#include "features.hpp"
#include "request_texts.hpp"

namespace gantry::test {
namespace {

// The first accepted request of a seed that has the seed's feature: so many seeds in a row, each feature once.
GemmRequest accepted_gemm(std::uint64_t seed) {
  const Feature& feature = kFeatures[seed % kFeatureCount];
  for (RandomRequests requests(seed);;) {
    GemmRequest r = requests.gemm();
    if (feature.has(r) && make_gemm_design(r.options, r.fusion.graph).ok()) return r;
  }
}
EpilogueRequest accepted_epilogue(std::uint64_t seed) {
  for (RandomRequests requests(seed);;) {
    EpilogueRequest r = requests.epilogue();
    if (tool::answer(tool::read_question(texts_of(r))).ok()) return r;
  }
}

std::string gemm_test(std::uint64_t seed) {
  const GemmRequest r = accepted_gemm(seed);
  return fmt::format(
      "struct Gemm{0} {{\n{1}\n}};\n"
      "TEST(AcceptedGemms, Request{0}) {{ expect_right<Gemm{0}>({2}, {0}); }}\n\n",
      seed, spec_text(r), literal(r.fusion.text));
}

std::string epilogue_test(std::uint64_t seed) {
  const EpilogueRequest r = accepted_epilogue(seed);
  return fmt::format(
      "struct Epilogue{0} : Plain {{\n"
      "  static constexpr EpiloguePolicy policy = {1}.policy();\n"
      "  static_assert(policy.ok());\n"
      "  static constexpr fusion::Graph graph = fusion::graph({2});\n"
      "}};\n"
      "TEST(AcceptedEpilogues, Request{0}) {{ expect_right_epilogue<Epilogue{0}>({0}); }}\n\n",
      seed, builder_text(r.builder), literal(r.fusion.text));
}

int write(std::string_view kind, const std::string& to, std::uint64_t first, std::uint64_t count) {
  if (kind == "kernels") {
    std::filesystem::create_directories(to);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      const GemmRequest r = accepted_gemm(seed);
      std::ofstream(fmt::format("{}/request{}.cu", to, seed))
          << runtime::gemm_source({.options = r.options, .expression = r.fusion.text});
    }
    return 0;
  }
  const bool gemms = kind == "gemms";
  if (!gemms && kind != "epilogues") return 2;
  std::ofstream out(to);
  out << "// Written by request_sources.\n#include \"" << (gemms ? "run_gemm.hpp" : "run_epilogue.hpp") << "\"\n\n"
      << "namespace gantry::test {\nnamespace {\n\n";
  for (std::uint64_t seed = first; seed < first + count; ++seed) out << (gemms ? gemm_test(seed) : epilogue_test(seed));
  out << "}  // namespace\n}  // namespace gantry::test\n";
  return out ? 0 : 1;
}

}  // namespace
}  // namespace gantry::test

int main(int count, char** arguments) {
  if (count == 5) {
    const int status = gantry::test::write(arguments[1], arguments[2], std::strtoull(arguments[3], nullptr, 10),
                                           std::strtoull(arguments[4], nullptr, 10));
    if (status != 2) return status;
  }
  std::fputs("request_sources gemms|epilogues|kernels FILE|FOLDER FIRST COUNT\n", stderr);
  return 2;
}
