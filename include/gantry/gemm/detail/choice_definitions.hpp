// What choice.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/gemm/choice.hpp>

namespace gantry {

namespace detail {

struct SizeRange {
  std::int64_t least = INT64_MAX, most = 0;

  void take(std::int64_t x) {
    if (x < least) least = x;
    if (x > most) most = x;
  }
  void append_to(Text<192>& out, const char* before, const char* after) const {
    out.append(before).append(least);
    if (least != most) out.append(" to ").append(most);
    out.append(after);
  }
};

// ", of 0 to 70 rows", ", of M 1 to 64, N 512, K 128"; nothing where nothing is expected.
inline void append_expected(Text<192>& out, const GemmWorkload& w) {
  if (w.groups == GemmGrouping::pointer_array) {
    SizeRange m, n, k;
    for (const GemmExtents& e : w.expected.gemms) m.take(e.m), n.take(e.n), k.take(e.k);
    if (w.expected.gemms.empty()) return;
    m.append_to(out, ", of M ", "");
    n.append_to(out, ", N ", "");
    k.append_to(out, ", K ", "");
    return;
  }
  SizeRange rows;
  for (const std::int64_t one : w.expected.rows) rows.take(one);
  if (!w.expected.rows.empty()) rows.append_to(out, ", of ", w.groups == GemmGrouping::along_k ? " of K" : " rows");
}

GANTRY_LINKAGE Text<192> sizes_of(const GemmWorkload& w) {
  Text<192> out;
  out.append(w.m).append(" x ").append(w.n).append(" x ").append(w.k);
  if (w.groups == GemmGrouping::none) return w.batch == 1 ? out : out.append(", batch of ").append(w.batch);
  out.append(" on average, ");
  if (w.groups == GemmGrouping::pointer_array) {
    out.append("a pointer array of ").append(w.batch);
  } else {
    out.append(w.batch).append(w.batch == 1 ? " group" : " groups");
    out.append(w.groups == GemmGrouping::along_m ? " along M" : " along K");
  }
  append_expected(out, w);
  return out;
}

// Words of one text that are words of the other.
inline int shared_words(const char* one, const char* other) {
  const auto length = [](const char* word) {
    int n = 0;
    while (word[n] != '\0' && word[n] != ' ') ++n;
    return n;
  };
  const auto next = [&length](const char* word) {
    const char* const end = word + length(word);
    return *end == ' ' ? end + 1 : end;
  };
  const auto is_in_other = [&](const char* word, int n) {
    for (const char* at = other; *at != '\0'; at = next(at)) {
      int same = 0;
      while (same < n && at[same] == word[same]) ++same;
      if (same == n && length(at) == n) return true;
    }
    return false;
  };
  int out = 0;
  for (; *one != '\0'; one = next(one)) {
    if (const int n = length(one); n > 0 && is_in_other(one, n)) ++out;
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
      return asked < 0 ? refused(ChoiceRule::not_a_candidate) : made(asked, ChoiceGround::asked);
    }
    const int tuned = q_.tuned.name.empty() ? -1 : find(q_.tuned.name);
    return tuned >= 0 ? made(tuned, ChoiceGround::tuning_file) : made(ranking_.order[0], ChoiceGround::model);
  }

 private:
  const GemmCost& cost(int i) const { return ranking_.costs[static_cast<std::size_t>(i)]; }
  GemmName name(int i) const { return to_text(candidates_[static_cast<std::size_t>(i)].options); }
  int find(const GemmName& wanted) const {
    for (const int i : ranking_.order) {
      if (name(i) == wanted.c_str()) return i;
    }
    return -1;
  }
  // Of the candidates that compute the GEMM, the fastest of those whose names share most words with what was asked for.
  GemmName nearest_name() const {
    GemmName nearest;
    int most = -1;
    for (const int i : ranking_.order) {
      const int shared = shared_words(q_.asked.c_str(), name(i).c_str());
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
                      .sizes = sizes_of(w),
                      .a = w.a,
                      .b = w.b,
                      .c = w.c,
                      .d = w.d,
                      .major_a = w.major_a,
                      .major_b = w.major_b,
                      .configuration = q_.asked,
                      .other = by_name ? nearest_name() : GemmName{},
                      .actual = static_cast<std::int64_t>(by_name ? ranking_.order.size() : candidates_.size())});
    return none;
  }

  GemmChoice made(int index, ChoiceGround ground) const {
    GemmChoice choice;
    choice.index = index;
    choice.cost = cost(index);
    choice.ground = ground;
    for (const int i : ranking_.order) {
      if (i == index || cost(i).ranks_last()) continue;
      choice.next = i;
      choice.next_cost = cost(i);
      break;
    }
    return choice;
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
