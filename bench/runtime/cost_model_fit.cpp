// Constants of the cost model fitted to times that size_sweep measured, and how closely the choice follows them. Needs
// no GPU.
//
//   cost_model_fit TIMES               how close the choice comes, and which sizes it misses most
//   cost_model_fit TIMES CONSTANT...   moves these constants to where it comes closest
//
// Every third size is held out.
//
// The error of a size is what the chosen configuration takes longer than the fastest, and a little of how far the model
// is from the measured times: without it, constants would wander where no choice depends on them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>

namespace {

using namespace gantry;

struct Constant {
  const char* name;
  double GemmLatencies::*member;
};
constexpr Constant kConstants[] = {
    {"launch", &GemmLatencies::launch},
    {"tile", &GemmLatencies::tile},
    {"overlapped_tile", &GemmLatencies::overlapped_tile},
    {"pingpong_turn", &GemmLatencies::pingpong_turn},
    {"k_step", &GemmLatencies::k_step},
    {"stage_refill", &GemmLatencies::stage_refill},
    {"smem_read_share", &GemmLatencies::smem_read_share},
    {"epilogue_elements", &GemmLatencies::epilogue_elements},
    {"subtile", &GemmLatencies::subtile},
    {"split_latency", &GemmLatencies::split_latency},
    {"split_add", &GemmLatencies::split_add},
    {"split_rate", &GemmLatencies::split_rate},
    {"cluster_latency", &GemmLatencies::cluster_latency},
    {"cluster_rate", &GemmLatencies::cluster_rate},
    {"uneven_split_steps", &GemmLatencies::uneven_split_steps},
    {"hot_load", &GemmLatencies::hot_load},
    {"load_across_lines", &GemmLatencies::load_across_lines},
    {"load_across_sectors", &GemmLatencies::load_across_sectors},
    {"store_across_lines", &GemmLatencies::store_across_lines},
    {"store_across_sectors", &GemmLatencies::store_across_sectors},
    {"overlap_sharpness", &GemmLatencies::overlap_sharpness},
    {"wide_stream", &GemmLatencies::wide_stream},
    {"streaming_sharpness", &GemmLatencies::streaming_sharpness},
    {"few_rows_sharpness", &GemmLatencies::few_rows_sharpness},
};

struct Candidate {
  std::string name;
  GemmDesign design;
  double measured = 0;  // microseconds
};
struct Size {
  GemmWorkload workload;
  fusion::Graph graph;
  double vendor = 0;
  std::vector<Candidate> candidates;  // that the list has and that were measured

  double fastest() const {
    double least = 1e30;
    for (const Candidate& c : candidates) least = std::min(least, c.measured);
    return least;
  }
};

std::string name_of(const GemmDesign& d) {
  std::string out = to_text(d.options).c_str();
  out += " s" + std::to_string(d.options.stages) + " ";
  if (d.store == GemmStore::overlapped) return out + "overlapped";
  return out + std::to_string(d.part.epi_tile.m) + "x" + std::to_string(d.part.epi_tile.n) + " D" +
         std::to_string(d.options.epilogue.stages_d);
}

// Lines of size_sweep: size, epilogue, configuration, how tiles are split, how launched, the model's, burst, cold, MHz,
// W.
std::vector<Size> read(const char* path) {
  std::ifstream file(path);
  std::vector<Size> out;
  std::string last;
  std::map<std::string, double> times;
  const auto finish = [&] {
    if (out.empty()) return;
    Size& size = out.back();
    size.vendor = times["cuBLASLt - -"];
    for (const GemmDesign& design : gemm_candidates(size.workload, size.graph)) {
      const auto time = times.find(name_of(design));
      if (time != times.end()) size.candidates.push_back({name_of(design), design, time->second});
    }
    if (size.candidates.empty()) out.pop_back();
    times.clear();
  };
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 10) continue;
    const std::string key = words[0] + ' ' + words[1] + ' ' + words[2] + ' ' + words[3];
    if (key != last) {
      finish();
      last = key;
      Size& size = out.emplace_back();
      size.workload.m = std::stoi(words[0]);
      size.workload.n = std::stoi(words[1]);
      size.workload.k = std::stoi(words[2]);
      size.graph = fusion::graph(words[3] == "gelu" ? "d = gelu_tanh(acc + row(bias:bf16))" : "d = acc");
    }
    const std::size_t n = words.size();
    const bool vendor = words[4] == "cuBLASLt";
    std::string name = words[4];
    for (std::size_t i = 5; i + (vendor ? 5 : 7) < n; ++i) name += ' ' + words[i];
    times[vendor ? "cuBLASLt - -" : name] = std::stod(words[n - 4]);
  }
  finish();
  return out;
}

struct Choice {
  const Candidate* chosen = nullptr;
  double misfit = 0;  // of the model's times, beside the measured ones
};

Choice choose(const Size& size, const Architecture& arch) {
  Choice out;
  double least = 1e30;
  for (const Candidate& c : size.candidates) {
    const GemmCost cost = estimate(size.workload, c.design, epilogue_cost(size.graph, ElementType::void_), arch);
    const double off = std::log(cost.milliseconds * 1e3 / c.measured);
    out.misfit += std::min(off * off, 0.25) / static_cast<double>(size.candidates.size());
    if (cost.ranks_last() || cost.cycles >= least) continue;
    least = cost.cycles;
    out.chosen = &c;
  }
  if (out.chosen == nullptr) out.chosen = &size.candidates.front();
  return out;
}

double error(const std::vector<const Size*>& sizes, const Architecture& arch) {
  double sum = 0;
  for (const Size* size : sizes) {
    const Choice choice = choose(*size, arch);
    sum += std::log(choice.chosen->measured / size->fastest()) + 0.1 * choice.misfit;
  }
  return sum / static_cast<double>(sizes.size());
}

void report(const char* name, const std::vector<const Size*>& sizes, const Architecture& arch, bool worst) {
  double longer = 0, ahead = 0, best = 0, misfit = 0;
  int close = 0, behind = 0, best_behind = 0;
  std::vector<std::pair<double, std::string>> missed;
  for (const Size* size : sizes) {
    const Choice choice = choose(*size, arch);
    const double chosen = choice.chosen->measured, fastest = size->fastest();
    longer += std::log(chosen / fastest);
    ahead += std::log(size->vendor / chosen);
    best += std::log(size->vendor / fastest);
    misfit += choice.misfit;
    close += chosen < 1.04 * fastest ? 1 : 0;
    behind += size->vendor < 0.95 * chosen ? 1 : 0;
    best_behind += size->vendor < 0.95 * fastest ? 1 : 0;
    const auto& w = size->workload;
    const auto* first = &size->candidates.front();
    for (const Candidate& c : size->candidates) first = c.measured == fastest ? &c : first;
    char line[300];
    std::snprintf(line, sizeof line, "%6lld %6lld %6lld  %.3f of cuBLASLt, %.3f of the fastest: %s, not %s",
                  (long long)w.m, (long long)w.n, (long long)w.k, size->vendor / chosen, fastest / chosen,
                  choice.chosen->name.c_str(), first->name.c_str());
    missed.emplace_back(chosen / fastest, line);
  }
  const auto n = static_cast<double>(sizes.size());
  std::printf(
      "%s: %zu sizes; chosen over fastest %.4f, within 4 %% %.3f; of cuBLASLt %.3f (fastest %.3f), below 0.95 at %d "
      "(%d); "
      "model off by %.3f\n",
      name, sizes.size(), std::exp(longer / n), close / n, std::exp(ahead / n), std::exp(best / n), behind, best_behind,
      std::sqrt(misfit / n));
  std::sort(missed.rbegin(), missed.rend());
  for (std::size_t i = 0; worst && i < std::min<std::size_t>(missed.size(), 25); ++i)
    std::printf("%s\n", missed[i].second.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("cost_model_fit TIMES [CONSTANT...]\n", stderr), 2;
  const std::vector<Size> sizes = read(argv[1]);
  std::vector<const Size*> fitted, held;
  for (std::size_t i = 0; i < sizes.size(); ++i) (i % 3 == 2 ? held : fitted).push_back(&sizes[i]);
  Architecture arch = kH200;
  report("fitted", fitted, arch, argc == 2);
  report("held out", held, arch, argc == 2);
  if (argc == 2) return 0;

  std::vector<const Constant*> moved;
  for (int i = 2; i < argc; ++i) {
    const auto* found = std::find_if(std::begin(kConstants), std::end(kConstants),
                                     [&](const Constant& c) { return std::strcmp(c.name, argv[i]) == 0; });
    if (found == std::end(kConstants)) return std::fprintf(stderr, "cost_model_fit: no constant \"%s\"\n", argv[i]), 2;
    moved.push_back(found);
  }
  double least = error(fitted, arch);
  double step = 0.6;
  for (int round = 0; round < 5; ++round) {
    step /= 2;
    for (bool better = true; better;) {
      better = false;
      for (const Constant* c : moved) {
        for (const double factor : {1 + step, 1 / (1 + step)}) {
          Architecture tried = arch;
          tried.latency.*c->member *= factor;
          const double found = error(fitted, tried);
          if (found >= least - 1e-6) continue;
          least = found;
          arch = tried;
          better = true;
        }
      }
    }
  }
  for (const Constant* c : moved) std::printf("%s = %.4g\n", c->name, arch.latency.*c->member);
  report("fitted", fitted, arch, false);
  report("held out", held, arch, true);
}
