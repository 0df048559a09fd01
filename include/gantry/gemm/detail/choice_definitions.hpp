// What choice.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstdio>

#include <gantry/gemm/choice.hpp>

namespace gantry {

GANTRY_LINKAGE std::string GemmChoice::explanation() const {
  std::string text;
  for (const std::string& sentence : why) text += text.empty() ? sentence : "\n" + sentence;
  for (const ChoiceReason& reason : reasons) text += describe(reason).c_str();
  return text;
}

namespace detail {

GANTRY_LINKAGE std::string name_of(const GemmOptions& options) { return to_text(options).c_str(); }

inline std::string range_text(std::int64_t least, std::int64_t most) {
  return least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
}

// ", of 0 to 70 rows", ", of M 1 to 64, N 512, K 128"; empty where nothing is expected.
inline std::string expected_text(const GemmWorkload& w) {
  struct Range {
    std::int64_t least = INT64_MAX, most = 0;
    void take(std::int64_t x) {
      if (x < least) least = x;
      if (x > most) most = x;
    }
    std::string text() const { return range_text(least, most); }
  };
  Range m, n, k, rows;
  if (w.groups == GemmGrouping::pointer_array) {
    for (const GemmExtents& e : w.expected.gemms) m.take(e.m), n.take(e.n), k.take(e.k);
    return w.expected.gemms.empty() ? "" : ", of M " + m.text() + ", N " + n.text() + ", K " + k.text();
  }
  for (const std::int64_t one : w.expected.rows) rows.take(one);
  return w.expected.rows.empty() ? "" : ", of " + rows.text() + (w.groups == GemmGrouping::along_k ? " of K" : " rows");
}

GANTRY_LINKAGE std::string sizes_of(const GemmWorkload& w) {
  const std::string text = std::to_string(w.m) + " x " + std::to_string(w.n) + " x " + std::to_string(w.k);
  const std::string many = std::to_string(w.batch);
  if (w.groups == GemmGrouping::none) return w.batch == 1 ? text : text + ", batch of " + many;
  const char* const along = w.groups == GemmGrouping::along_m ? " along M" : " along K";
  const std::string groups = w.groups == GemmGrouping::pointer_array
                                 ? "a pointer array of " + many
                                 : many + (w.batch == 1 ? " group" : " groups") + along;
  return text + " on average, " + groups + expected_text(w);
}

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
  const std::string cost = "the reduction costs " + rounded(c.handover) + " cycles";
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

// Words of one text that are words of the other.
inline int shared_words(const std::string& one, const std::string& other) {
  const std::string words = " " + other + " ";
  int out = 0;
  for (std::size_t at = 0; at < one.size();) {
    const std::size_t space = one.find(' ', at), end = space == std::string::npos ? one.size() : space;
    if (end > at && words.find(" " + one.substr(at, end - at) + " ") != std::string::npos) ++out;
    at = end + 1;
  }
  return out;
}

inline bool computes(const GemmOptions& o, const GemmWorkload& w) {
  return o.a == w.a && o.b == w.b && o.c == w.c && o.d == w.d && o.major_a == w.major_a && o.major_b == w.major_b;
}

// True if the scheduler can number the K tiles of all output tiles.
inline bool counts(const GemmOptions& o, const GemmWorkload& w) {
  return tile_steps({w.m, w.n, w.k, w.batch}, o.tile.m, o.tile.n, o.tile.k) <= kMostTileSteps;
}

// Times whose ratio is less are equal, as far as the model can tell.
inline constexpr double kEqualTimes = 1.0005;

GANTRY_LINKAGE GemmRanking rank_candidates(const GemmQuestion& q, const std::vector<const GemmDesign*>& candidates) {
  const auto comes_before = [](const GemmCost& x, const GemmCost& y) {
    return x.ranks_last() == y.ranks_last() ? x.cycles <= y.cycles : y.ranks_last();
  };
  GemmRanking out;
  const auto cost = [&](int i) -> const GemmCost& { return out.costs[static_cast<std::size_t>(i)]; };
  out.costs.resize(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const GemmDesign& design = *candidates[i];
    if (!computes(design.options, q.workload)) continue;
    if (!counts(design.options, q.workload)) {
      out.too_large = true;
      continue;
    }
    out.costs[i] = estimate(q.workload, design, q.epilogue, q.device, q.workspace);
    auto at = out.order.begin();
    while (at != out.order.end() && comes_before(cost(*at), out.costs[i])) ++at;
    out.order.insert(at, static_cast<int>(i));
  }
  auto first = out.order.begin();
  for (auto at = first; at != out.order.end() && cost(*at).cycles <= kEqualTimes * cost(out.order[0]).cycles; ++at) {
    if (cost(*at).ranks_last() == cost(out.order[0]).ranks_last() && *at < *first) first = at;
  }
  if (first == out.order.end()) return out;
  const int moved = *first;
  out.order.erase(first);
  out.order.insert(out.order.begin(), moved);
  return out;
}

class Choosing {
 public:
  Choosing(const GemmQuestion& question, const std::vector<GemmDesign>& candidates)
      : q_(question), candidates_(candidates) {}

  GemmChoice choose() {
    const GemmWorkload& w = q_.workload;
    if (w.m <= 0 || w.n <= 0 || w.batch <= 0 || w.k < 0) return refused(ChoiceRule::nothing_to_compute);
    std::vector<const GemmDesign*> designs;
    for (const GemmDesign& design : candidates_) designs.push_back(&design);
    ranking_ = rank_candidates(q_, designs);
    if (ranking_.order.empty())
      return refused(ranking_.too_large ? ChoiceRule::too_many_k_tiles : ChoiceRule::no_candidate);
    if (!q_.asked.empty()) {
      const int asked = find(q_.asked);
      if (asked < 0) return refused(ChoiceRule::not_a_candidate);
      return made(asked,
                  name(asked) + " was asked for; the model expects " + time(asked) + " for " + sizes_of(w) + ".");
    }
    std::string note;
    if (const TuningEntry* entry = q_.tuned) {
      const int tuned = find(entry->configuration);
      if (tuned >= 0) {
        const std::string measured =
            entry->milliseconds > 0 ? ", measured " + number(entry->milliseconds, "ms") : std::string();
        return made(tuned, "The tuning file has " + name(tuned) + " for " + sizes_of(w) + " on " + entry->device +
                               measured + "; the model expects " + time(tuned) + ".");
      }
      note = "The tuning file names \"" + entry->configuration + "\", which is not among the candidates.";
    }
    const int best = ranking_.order[0];
    GemmChoice choice =
        made(best, "The model chooses " + name(best) + " for " + sizes_of(w) + ": about " + time(best) + ".");
    if (!note.empty()) choice.why.push_back(note);
    if (!q_.device.measured) {
      choice.why.push_back(std::string("Nothing was measured on an ") + q_.device.name +
                           ": its clock and rates are those of the data sheet, and latencies are an H200's.");
    }
    return choice;
  }

 private:
  const GemmOptions& options(int i) const { return candidates_[static_cast<std::size_t>(i)].options; }
  const GemmCost& cost(int i) const { return ranking_.costs[static_cast<std::size_t>(i)]; }
  std::string name(int i) const { return name_of(options(i)); }
  std::string time(int i) const { return number(cost(i).milliseconds, "ms"); }
  int find(const std::string& wanted) const {
    for (const int i : ranking_.order) {
      if (name(i) == wanted) return i;
    }
    return -1;
  }
  // Of the candidates that compute the GEMM, the fastest of those whose names share most words with what was asked for.
  std::string nearest_name() const {
    std::string nearest;
    int most = -1;
    for (const int i : ranking_.order) {
      const int shared = shared_words(q_.asked, name(i));
      if (shared <= most) continue;
      most = shared;
      nearest = name(i);
    }
    return nearest;
  }

  GemmChoice refused(ChoiceRule rule) const {
    const GemmWorkload& w = q_.workload;
    const bool by_name = rule == ChoiceRule::not_a_candidate;
    GemmChoice none;
    none.reasons.add({.rule = rule,
                      .sizes = sizes_of(w).c_str(),
                      .a = w.a,
                      .b = w.b,
                      .c = w.c,
                      .d = w.d,
                      .major_a = w.major_a,
                      .major_b = w.major_b,
                      .configuration = q_.asked.c_str(),
                      .other = by_name ? nearest_name().c_str() : "",
                      .actual = static_cast<std::int64_t>(by_name ? ranking_.order.size() : candidates_.size())});
    return none;
  }

  GemmChoice made(int index, const std::string& first) const {
    GemmChoice choice;
    choice.index = index;
    choice.cost = cost(index);
    for (const int i : ranking_.order) {
      if (i == index || cost(i).ranks_last()) continue;
      choice.next = i;
      break;
    }
    const int size = candidates_[static_cast<std::size_t>(index)].cluster_size();
    choice.why = {first, tiles_sentence(options(index), cost(index), q_.device.resident_clusters(size)),
                  step_sentence(options(index), cost(index)), epilogue_sentence(options(index), cost(index)),
                  memory_sentence(cost(index), q_.device)};
    if (choice.next >= 0) choice.why.push_back(comparison(choice));
    return choice;
  }

  std::string comparison(const GemmChoice& choice) const {
    const double ratio = cost(choice.next).milliseconds / choice.cost.milliseconds;
    const std::string other = name(choice.next) + ": about " + time(choice.next) + ", ";
    char difference[32];
    std::snprintf(difference, sizeof difference, "%.1f %%", 100 * __builtin_fabs(ratio - 1));
    if (ratio * kEqualTimes >= 1 && ratio < 1) return "Equally good is " + other + difference + " less.";
    if (ratio < 1) return "The model would choose " + other + difference + " less.";
    return "The next best is " + other + difference + " more.";
  }

  const GemmQuestion& q_;
  const std::vector<GemmDesign>& candidates_;
  GemmRanking ranking_;
};

}  // namespace detail

GANTRY_LINKAGE GemmChoice choose(const GemmQuestion& question, const std::vector<GemmDesign>& candidates) {
  return detail::Choosing(question, candidates).choose();
}

}  // namespace gantry
