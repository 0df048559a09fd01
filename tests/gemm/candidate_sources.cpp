// Writes the source that is compiled at run time for every configuration that may be chosen, which leaves out those
// that are known to spill, in seven epilogues, for a short and for a long K and for every kind of element, a file each,
// for scripts/ptxas_sweep.py.
//
//   gemm_candidate_sources FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/runtime/gemm.hpp>

namespace {

using namespace gantry;
using E = ElementType;

struct Epilogue {
  const char* name;
  const char* expression;
};
constexpr Epilogue kEpilogues[] = {{"plain", "d = acc"},
                                   {"c", "d = acc + c"},
                                   {"bias_gelu", "d = gelu_tanh(acc + row(bias:bf16))"},
                                   {"bias_gelu_aux", "aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)"},
                                   {"erf", "d = gelu(acc + row(bias))"},
                                   {"all", "d = relu(alpha * acc + beta * c + row(bias) + col(shift))"},
                                   {"sums", "d = acc; s = reduce_row_add(acc); top = reduce_max(acc)"}};

struct Elements {
  E a, b, d;
  bool promote = false;
};
constexpr Elements kElements[] = {
    {E::bf16, E::bf16, E::bf16}, {E::bf16, E::bf16, E::f32},  {E::f16, E::f16, E::f16},
    {E::e4m3, E::e4m3, E::bf16}, {E::e4m3, E::e4m3, E::e4m3}, {E::e4m3, E::e5m2, E::bf16, true},
    {E::tf32, E::tf32, E::f32},  {E::s8, E::s8, E::s32},      {E::s8, E::s8, E::bf16}};

// As a file is named.
std::string file_name(std::string text) {
  for (char& c : text) c = c == ' ' ? '_' : c;
  return text + ".cu";
}

int write(const std::string& folder, const Elements& x, const Epilogue& epilogue) {
  const fusion::Graph graph = fusion::parse_graph(epilogue.expression).graph;
  GemmWorkload workload;
  workload.a = x.a;
  workload.b = x.b;
  workload.d = x.d;
  if (graph.uses_source()) workload.c = x.d;
  workload.m = workload.n = 8192;
  int count = 0;
  for (GemmOptions candidate : gemm_requests(workload)) {
    candidate.promote = x.promote;
    if (!problems(candidate).empty()) continue;
    std::set<std::string> sources;  // of every K
    for (const int k : {64, 8192}) {
      workload.k = k;
      const GemmDesign design = make_gemm_design(staged_for(candidate, graph, workload), graph);
      if (!design.ok() || estimate(workload, design, epilogue_cost(graph, workload.c), {}).spills) continue;
      const GemmOptions& o = design.options;
      const std::string name = std::string(to_text(o).c_str()) + " " + epilogue.name + " k" + std::to_string(k);
      const std::string source = runtime::gemm_source({.options = o, .expression = epilogue.expression});
      if (!sources.insert(source).second) continue;
      std::ofstream(folder + "/" + file_name(name)) << source;
      ++count;
    }
  }
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("gemm_candidate_sources FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::create_directories(arguments[1]);
  int written = 0;
  for (const Elements& elements : kElements) {
    for (const Epilogue& epilogue : kEpilogues) {
      const bool integers = elements.d == E::s32 && std::string_view(epilogue.name) != "plain";
      if (!integers) written += write(arguments[1], elements, epilogue);
    }
  }
  std::printf("%d sources\n", written);
  return 0;
}
