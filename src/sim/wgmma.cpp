// wgmma: collected from its threads, checked, executed in order, and waited for.
#include <algorithm>
#include <utility>

#include "grid.hpp"
#include "sparsity.hpp"
#include "wgmma_execute.hpp"
#include "wgmma_operand.hpp"
#include "wgmma_registers.hpp"

namespace gantry::sim {
namespace {

// Runs every product of the warpgroup up to `number`, in order.
class ProductAgent final : public Agent {
 public:
  ProductAgent(Cta& cta, Warpgroup& group, std::uint64_t number) : cta_(cta), group_(group), number_(number) {
    ++cta_.in_flight;
  }
  bool step(Random&) override {
    while (group_.executed < number_) {
      execute(cta_, group_.product(group_.executed + 1));
      ++group_.executed;
    }
    while (!group_.products.empty() && group_.first <= group_.executed) {
      group_.products.pop_front();
      ++group_.first;
    }
    for (Thread* thread : std::exchange(group_.waiting, {})) grid().wake(*thread);
    grid().changed();
    --cta_.in_flight;
    return true;
  }

 private:
  Cta& cta_;
  Warpgroup& group_;
  std::uint64_t number_;
};

struct OperandUse {
  const char* name;
  std::uint32_t rows, depth;
};

bool check_operand(Cta& cta, const Operand& operand, const OperandUse& use, SiteId site) {
  bool inside = true;
  std::int64_t outside = 0;  // the first chunk that is not in shared memory
  operand.each_chunk(use.rows, use.depth, [&](std::uint32_t address) {
    const std::int64_t offset = std::int64_t{address} - kSharedBase;
    if (!inside || (offset >= 0 && offset + kChunk <= cta.shared_bytes)) return;
    inside = false;
    outside = offset;
  });
  const auto descriptor = [&] {
    return std::string("The descriptor of ") + use.name + ", which starts at offset " +
           std::to_string(std::int64_t{operand.start()} - kSharedBase) + ",";
  };
  if (!operand.on_pattern()) {
    accuse("wgmma-descriptor", site,
           descriptor() +
               " starts inside of its swizzle's pattern, without a base offset: the tile lies on a multiple of " +
               std::to_string(operand.pattern_bytes()) + " bytes.");
  }
  if (!inside) {
    accuse("wgmma-descriptor", site,
           descriptor() + " reaches offset " + std::to_string(outside) + ", outside of the " +
               std::to_string(cta.shared_bytes) + " bytes of shared memory of " + grid().cta_text(cta.index) + ".");
  }
  return inside;
}

void check_sparse(const Product& product, const Operand& b) {
  const Wgmma& mma = product.what;
  if (!mma.b_transposed && b.span() == 32) {
    complain("wgmma-descriptor", product.site,
             "A sparse wgmma reads 64 bytes of each column of B, and its descriptor says a swizzle of 32 bytes: use 64 "
             "or 128 bytes, or none.");
  }
  if (const std::string problem = stored_columns(mma, product.metadata).problem; !problem.empty()) {
    complain("wgmma-sparse-metadata", product.site, problem);
  }
}

// All 128 threads have come: the product may run from now on.
void make_ready(Cta& cta, Warpgroup& group, Product& product, std::uint64_t number, Epoch epoch) {
  const Wgmma& mma = product.what;
  const std::uint32_t depth = depth_of(mma);
  const Operand b(mma.b_descriptor, mma.b, mma.b_transposed);
  const Operand a(mma.a_descriptor, mma.a, mma.a_transposed);
  const auto n = static_cast<std::uint32_t>(mma.n);
  if (!check_operand(cta, b, {"B", n, b_depth_of(mma)}, product.site) ||
      (!mma.a_in_registers && !check_operand(cta, a, {"A", 64, depth}, product.site))) {
    grid().stop();
  }
  if (mma.sparse) check_sparse(product, b);
  if (grid().checking()) {
    std::vector<const View*> views;
    for (const View& view : product.views) views.push_back(&view);
    Accessor accessor{.record = {.epoch = epoch, .site = product.site, .kind = AccessKind::wgmma},
                      .views = views.data(),
                      .view_count = views.size(),
                      .async = true};
    set_actor(accessor.record, group.actor);
    const auto touch = [&](std::uint32_t address) {
      product.unwritten |= grid().checker().shared(cta, address, kChunk, accessor);
    };
    b.each_chunk(n, b_depth_of(mma), touch);
    if (!mma.a_in_registers) a.each_chunk(64, depth, touch);
  }
  product.views.clear();
  grid().agents().start(std::make_unique<ProductAgent>(cta, group, number), grid().step());
}

bool same_product(const Wgmma& x, const Wgmma& y) {
  return x.n == y.n && x.d == y.d && x.a == y.a && x.b == y.b && x.a_in_registers == y.a_in_registers &&
         (x.a_in_registers || x.a_descriptor == y.a_descriptor) && x.b_descriptor == y.b_descriptor &&
         x.accumulate == y.accumulate && x.sparse == y.sparse && x.selector == y.selector;
}

// Takes the thread's accumulators out of its registers, unless a product in flight already has.
void take_accumulators(Thread& thread, Product& product, const Wgmma& mma, std::uint64_t number) {
  auto& held = thread.wgmma.held;
  const auto found =
      std::find_if(held.begin(), held.end(), [&](const auto& h) { return h.registers == mma.accumulators; });
  if (!product.accumulators) {
    if (found != held.end()) {
      product.accumulators = found->accumulators;
    } else {
      product.accumulators = std::make_shared<Accumulators>();
      product.accumulators->registers = mma.registers;
      product.accumulators->values.resize(static_cast<std::size_t>(kWarpgroupThreads) *
                                          static_cast<std::size_t>(mma.registers));
    }
  }
  product.accumulators->last = std::max(product.accumulators->last, number);
  if (found != held.end()) return;
  std::uint32_t* to = product.accumulators->at(static_cast<int>(thread.rank % kWarpgroupThreads));
  std::copy_n(mma.accumulators, mma.registers, to);
  std::fill_n(mma.accumulators, mma.registers, kPoison);
  held.push_back({mma.accumulators, product.accumulators});
}

}  // namespace

void wgmma(const Wgmma& mma, Site site) {
  const Call call = enter_call(site, Operation::wgmma);
  aligned("wgmma.mma_async", site);
  Thread& thread = self();
  Cta& cta = *thread.cta;
  if (thread.rank / kWarpgroupThreads * kWarpgroupThreads + kWarpgroupThreads > cta.threads.size()) {
    accuse("wgmma-partial-warpgroup", call.site,
           "wgmma was called by a warpgroup of fewer than 128 threads: the CTA has " +
               std::to_string(cta.threads.size()) + ".");
    grid().stop();
  }
  check_fragments(thread, call.site);
  check_fenced(thread, mma, call.site);
  Warpgroup& group = cta.warpgroups[thread.rank / kWarpgroupThreads];
  if (!group.has_actor) {
    group.actor = cta.add_actor(thread.rank);
    group.has_actor = true;
  }
  const std::uint64_t number = ++thread.wgmma.issued;
  if (number > group.last()) {
    group.products.emplace_back();
    group.products.back().what = mma;
    group.products.back().site = call.site;
  }
  Product& product = group.product(number);
  if (!same_product(product.what, mma)) {
    complain("wgmma-not-uniform", call.site,
             grid().checker().describe(thread.view.self) +
                 " issued another wgmma than the threads of its warpgroup before it, or gave it other descriptors.");
  }
  const auto t = thread.rank % kWarpgroupThreads;
  std::copy_n(mma.a_registers, 4, product.a_registers[t].begin());
  product.metadata[t] = mma.metadata;
  take_accumulators(thread, product, mma, number);
  keep_fragments(thread, mma, number, call.site);
  if (grid().checking()) {
    // Two threads of the same knowledge stand for all: each counts what it wrote itself as known, the other does not.
    const auto alike = std::count_if(product.views.begin(), product.views.end(),
                                     [&](const View& v) { return v.base == thread.view.base; });
    if (alike < 2) product.views.push_back(thread.view);
  }
  advance(thread.view);
  if (++product.brought == kWarpgroupThreads) {
    make_ready(cta, group, product, number, thread.wgmma.committed + 1);
  }
}

void wgmma_fence(Site site) {
  const Call call = enter_call(site, Operation::wgmma_fence);
  if (call.dropped()) return;
  aligned("wgmma.fence", site);
  check_fragments(self(), call.site);
  WgmmaThread& wgmma = self().wgmma;
  ++wgmma.fences;
  wgmma.touched.clear();
  wgmma.loaded.clear();
}

void wgmma_commit_group(Site site) {
  const Call call = enter_call(site, Operation::wgmma_commit_group);
  if (call.dropped()) return;
  aligned("wgmma.commit_group", site);
  check_fragments(self(), call.site);
  WgmmaThread& wgmma = self().wgmma;
  ++wgmma.committed;
  wgmma.group_end.push_back(wgmma.issued);
}

void wgmma_wait_group(int allowed, Site site) {
  const Call call = enter_call(site, Operation::wgmma_wait_group);
  if (call.dropped()) return;
  aligned("wgmma.wait_group", site);
  Thread& thread = self();
  WgmmaThread& own = thread.wgmma;
  check_fragments(thread, call.site);
  Warpgroup& group = thread.cta->warpgroups[thread.rank / kWarpgroupThreads];
  if (own.committed <= static_cast<Epoch>(allowed)) return;
  const Epoch target = own.committed - static_cast<Epoch>(allowed);
  const std::uint64_t last = own.group_end[target - 1];
  while (group.executed < last) {
    group.waiting.push_back(&thread);
    grid().block({.site = call.site});
  }
  if (group.finished_group != target) {
    ClockBuilder builder;
    builder.raise(group.actor, {.seen = target});
    group.finished = Published(builder.freeze());
    group.finished_group = target;
  }
  group.finished.acquire(thread.view);
  for (WgmmaThread::Fragment& fragment : own.fragments) {
    if (fragment.product <= last) fragment.in_flight = false;
  }
  const auto t = static_cast<int>(thread.rank % kWarpgroupThreads);
  std::erase_if(own.held, [&](const WgmmaThread::Held& held) {
    if (held.accumulators->last > last) return false;
    std::copy_n(held.accumulators->at(t), held.accumulators->registers, held.registers);
    return true;
  });
}

void wgmma_touch(const void* accumulators, Site) {
  Thread& thread = self();
  auto& touched = thread.wgmma.touched;
  const auto* first = static_cast<const std::uint32_t*>(accumulators);
  if (std::find(touched.begin(), touched.end(), first) == touched.end()) touched.push_back(first);
  for (const auto& held : thread.wgmma.held) {
    if (held.registers == accumulators) {
      grid().findings().add("wgmma-accumulator-early", thread.last_site, 0,
                            grid().checker().describe(thread.view.self) +
                                " used accumulators that a wgmma in flight still owns, after its last operation at " +
                                grid().sites().text(thread.last_site) + ": wgmma.wait_group must come first.");
      return;
    }
  }
}

}  // namespace gantry::sim
