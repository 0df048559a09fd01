// What choice_text.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstdio>

#include <gantry/gemm/choice_text.hpp>

namespace gantry {

namespace detail {

// A few digits that say enough.
inline std::string number(double value, const char* unit) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %s", value, unit);
  return text;
}
inline std::string rounded(double value) { return std::to_string(__builtin_llround(value)); }
inline std::string percent(double part) { return rounded(100 * part) + " %"; }
inline std::string count(long long n, const char* one) { return std::to_string(n) + " " + one + (n == 1 ? "" : "s"); }

inline std::string tiles_sentence(const GemmOptions& o, const GemmCost& c, int clusters) {
  const TileSchedule& s = c.schedule;
  const int cluster = o.cluster.m * o.cluster.n * o.cluster.k;
  const std::string tiles = count(s.tiles(), cluster == 1 ? "tile" : "cluster tile") + " of " +
                            std::to_string(o.tile.m * o.cluster.m) + " x " + std::to_string(o.tile.n * o.cluster.n) +
                            " on " + count(clusters, "resident cluster") + " of " + count(cluster, "CTA");
  const std::string cost = "the reduction costs " + rounded(c.reduction) + " cycles";
  if (s.parts > 1) {
    return tiles + ": split-K by " + std::to_string(s.parts) + " fills " + percent(c.last_wave) + " of a wave; " +
           cost + ".";
  }
  if (s.split_tiles > 0) {
    return tiles + ": stream-K splits " + std::to_string(s.split_tiles) + " of them into equal runs of K tiles; " +
           cost + ".";
  }
  if (o.cluster.k > 1) {
    return tiles + ", which share its K tiles: " + count(c.waves, "wave") + ", the last of them " +
           percent(c.last_wave) + " full; " + cost + ".";
  }
  if (c.waves == 1) return tiles + ": one wave, " + percent(c.last_wave) + " full.";
  return tiles + ": " + std::to_string(c.waves) + " waves, the last of them " + percent(c.last_wave) + " full.";
}

inline std::string step_sentence(const GemmOptions& o, const GemmCost& c) {
  const char* const who[] = {"the tensor cores", "shared memory bandwidth", "L2 bandwidth"};
  return "A K tile of " + std::to_string(o.tile.k) + " takes " + rounded(c.step) + " cycles, bound by " +
         who[static_cast<int>(c.bound)] + ".";
}

inline std::string epilogue_sentence(const GemmOptions& o, const GemmCost& c) {
  constexpr double kHidden = 0.01;  // of it, at most
  if (c.shown > kHidden * c.epilogue) return rounded(c.shown) + " cycles of the epilogue are exposed after each tile.";
  return o.schedule == GemmSchedule::pingpong ? "The epilogue overlaps the main loop of another warpgroup."
                                              : "The epilogue overlaps the main loop of the next tile.";
}

inline std::string memory_sentence(const GemmCost& c, const Architecture& d) {
  const std::string time = number(c.memory / d.clock * 1e3, "ms");
  return c.memory_bound() ? "It is memory-bound: DRAM traffic alone takes " + time + "."
                          : "It is not memory-bound: DRAM traffic alone takes " + time + ".";
}

inline std::string name_of(const GemmDesign& design) { return to_text(design.options).c_str(); }
inline std::string time_of(const GemmCost& cost) { return number(cost.milliseconds, "ms"); }

inline std::string next_sentence(const GemmDesign& next, const GemmChoice& choice) {
  const double ratio = choice.next_cost.milliseconds / choice.cost.milliseconds;
  const std::string other = name_of(next) + ": about " + time_of(choice.next_cost) + ", ";
  char difference[32];
  std::snprintf(difference, sizeof difference, "%.1f %%", 100 * __builtin_fabs(ratio - 1));
  if (ratio * kEqualTimes >= 1 && ratio < 1) return "Equally good is " + other + difference + " less.";
  if (ratio < 1) return "The model would choose " + other + difference + " less.";
  return "The next best is " + other + difference + " more.";
}

inline std::string ground_sentence(const GemmQuestion& q, const GemmDesign& design, const GemmChoice& choice) {
  const std::string name = name_of(design), time = time_of(choice.cost), sizes = sizes_of(q.workload).c_str();
  if (choice.ground == ChoiceGround::asked) {
    return name + " was asked for; the model expects " + time + " for " + sizes + ".";
  }
  if (choice.ground == ChoiceGround::model)
    return "The model chooses " + name + " for " + sizes + ": about " + time + ".";
  const double milliseconds = q.tuned.milliseconds;
  return "The tuning file has " + name + " for " + sizes + " on " + q.tuned.device.c_str() +
         (milliseconds > 0 ? ", measured " + number(milliseconds, "ms") : std::string()) + "; the model expects " +
         time + ".";
}

}  // namespace detail

GANTRY_LINKAGE std::vector<std::string> sentences(const GemmQuestion& question,
                                                  const std::vector<GemmDesign>& candidates, const GemmChoice& choice) {
  if (!choice.ok()) return {};
  const GemmDesign& design = candidates[static_cast<std::size_t>(choice.index)];
  const GemmOptions& options = design.options;
  const int clusters = question.device.resident_clusters(design.cluster_size());
  std::vector<std::string> out{
      detail::ground_sentence(question, design, choice), detail::tiles_sentence(options, choice.cost, clusters),
      detail::step_sentence(options, choice.cost), detail::epilogue_sentence(options, choice.cost),
      detail::memory_sentence(choice.cost, question.device)};
  if (choice.next >= 0) {
    out.push_back(detail::next_sentence(candidates[static_cast<std::size_t>(choice.next)], choice));
  }
  if (choice.ground != ChoiceGround::model) return out;
  if (!question.tuned.name.empty()) {
    out.push_back(std::string("The tuning file names \"") + question.tuned.name.c_str() +
                  "\", which is not among the candidates.");
  }
  if (!question.device.measured) {
    out.push_back(std::string("Nothing was measured on an ") + question.device.name +
                  ": its clock and rates are those of the data sheet, and latencies are an H200's.");
  }
  return out;
}

GANTRY_LINKAGE std::string explanation(const GemmQuestion& question, const std::vector<GemmDesign>& candidates,
                                       const GemmChoice& choice) {
  std::string text;
  for (const std::string& sentence : sentences(question, candidates, choice)) {
    text += text.empty() ? sentence : "\n" + sentence;
  }
  for (const ChoiceReason& reason : choice.reasons) text += describe(reason).c_str();
  return text;
}

}  // namespace gantry
