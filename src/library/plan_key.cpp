#include "plan_key.hpp"

namespace gantry {

PlanKey::PlanKey(const GemmCall& call, const fusion::Graph& graph, const runtime::GemmAddresses& addresses) {
  using Index = detail::GemmOperandIndex;
  constexpr std::uintptr_t kAlignment = 16;
  const auto place = [&](int i) {
    const auto address = reinterpret_cast<std::uintptr_t>(addresses.at[i]);
    return static_cast<std::int64_t>(address == 0 ? kAlignment : address % kAlignment);
  };
  const auto matrix = [&](int i, const auto& x) {
    add(x.stride);
    add(x.batch_stride);
    add(place(i));
  };
  for (const std::int64_t size : {call.m, call.n, call.k, call.batch}) add(size);
  matrix(Index::kA, call.a);
  matrix(Index::kB, call.b);
  matrix(Index::kC, call.c);
  matrix(Index::kD, call.d);
  for (int i = 0; i < graph.argument_count; ++i) {
    const std::int64_t how = static_cast<std::int64_t>(addresses.given[i]) * 2 + (addresses.values[i] == 0 ? 1 : 0);
    add(place(Index::kArguments + i) * 8 + how);
    add(addresses.strides[i]);
    add(addresses.batch_strides[i]);
  }
  for (const GemmScale* scale : {&call.scale_a, &call.scale_b}) {
    add(scale->stride);
    add(scale->k_stride);
    add(scale->batch_stride);
  }
  add((place(Index::kScaleA) * 32 + place(Index::kScaleB)) * 32 + place(Index::kIndex));
  add(call.gather.rows);
  add(call.scatter.rows);
  add(place(Index::kScatter));
  const auto groups = reinterpret_cast<std::uintptr_t>(addresses.groups) % kAlignment;
  const int form = call.groups.gemms != nullptr    ? 3
                   : call.groups.counts != nullptr ? 2
                                                   : (call.groups.offsets != nullptr ? 1 : 0);
  const bool several = call.groups.given() > 1;
  const int dependent = call.dependent ? (*call.dependent ? 2 : 1) : 0;
  add(static_cast<std::int64_t>(groups) * 32 + (several ? 16 : 0) + form * 4 + dependent);
}

void PlanKey::add(std::int64_t word) {
  words_[count_++] = word;
  hash_ = (hash_ ^ static_cast<std::size_t>(word)) * 1099511628211ULL;
  hash_ ^= hash_ >> 29;
}

}  // namespace gantry
