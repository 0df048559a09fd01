// The name of a plan: two calls with the same key can run the same plan.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planned_gemm.hpp"

namespace gantry {

// What a plan depends on: sizes, strides, addresses modulo 16, what is given and how, and which numbers are 0.
class PlanKey {
 public:
  PlanKey(const GemmCall& call, const fusion::Graph& graph, const runtime::GemmAddresses& addresses);

  std::size_t hash() const { return hash_; }
  friend bool operator==(const PlanKey& x, const PlanKey& y) {
    return x.hash_ == y.hash_ && x.count_ == y.count_ && std::equal(x.words_, x.words_ + x.count_, y.words_);
  }

 private:
  void add(std::int64_t word);

  static constexpr int kMost = 8 + 4 * 3 + 7 + fusion::kMaxArguments * 3;
  std::int64_t words_[kMost] = {};
  int count_ = 0;
  std::size_t hash_ = 14695981039346656037ULL;
};

}  // namespace gantry
