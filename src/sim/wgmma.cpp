// Matrix products of a warpgroup: collected from its threads, executed from descriptors, delivered as fragments.
#include <algorithm>
#include <cstring>
#include <utility>

#include "dot.hpp"
#include "grid.hpp"
#include "poison.hpp"
#include "sparsity.hpp"
#include "wgmma_registers.hpp"

namespace gantry::sim {
namespace {

int element_bits(MmaType type) {
  switch (type) {
    case MmaType::f16:
    case MmaType::bf16:
      return 16;
    case MmaType::tf32:
    case MmaType::f32:
    case MmaType::s32:
      return 32;
    default:
      return 8;
  }
}

// An operand in shared memory, as its descriptor says.
class Operand {
 public:
  Operand(std::uint64_t descriptor, MmaType type, bool transposed)
      : element_(static_cast<std::uint32_t>(element_bits(type)) / 8),
        base_offset_(static_cast<std::uint32_t>(descriptor >> 49 & 7)),
        transposed_(transposed) {
    const auto field = [&](int bit) { return static_cast<std::uint32_t>(descriptor >> bit & 0x3FFF) << 4; };
    start_ = field(0);
    leading_ = field(16);
    stride_ = field(32);
    constexpr std::uint32_t kSpans[] = {16, 128, 64, 32};
    constexpr std::uint32_t kMasks[] = {0, 7, 3, 1};
    span_ = kSpans[descriptor >> 62];
    mask_ = kMasks[descriptor >> 62];
  }

  // The shared address of element (i, k): i along M or N.
  std::uint32_t address(std::uint32_t i, std::uint32_t k) const {
    std::uint32_t at = start_;
    if (!transposed_) {
      const std::uint32_t byte = k * element_;
      at += i / 8 * stride_ + i % 8 * span_;
      at += span_ == 16 ? byte / 16 * leading_ + byte % 16 : byte;
    } else {
      const std::uint32_t byte = i * element_;
      const std::uint32_t group = byte / span_;
      at += byte % span_ + k % 8 * span_;
      at += span_ == 16 ? group * stride_ + k / 8 * leading_ : group * leading_ + k / 8 * stride_;
    }
    return at ^ ((((at >> 7) - base_offset_) & mask_) << 4);
  }

  // Calls `visit(address)` for each 16-byte chunk of an operand of `rows` x `depth` elements.
  template <class Visit>
  void each_chunk(std::uint32_t rows, std::uint32_t depth, Visit visit) const {
    const std::uint32_t per_chunk = 16 / element_;
    if (!transposed_) {
      for (std::uint32_t i = 0; i < rows; ++i) {
        for (std::uint32_t k = 0; k < depth; k += per_chunk) visit(address(i, k) & ~15u);
      }
    } else {
      for (std::uint32_t k = 0; k < depth; ++k) {
        for (std::uint32_t i = 0; i < rows; i += per_chunk) visit(address(i, k) & ~15u);
      }
    }
  }

  std::uint32_t element() const { return element_; }

  // Where the swizzle's pattern begins, unless the descriptor says otherwise: the address bits that it reads are zero.
  bool on_pattern() const { return base_offset_ != 0 || ((start_ >> 7) & mask_) == 0; }
  std::uint32_t span() const { return span_; }
  std::uint32_t pattern_bytes() const { return 128 * (mask_ + 1); }

 private:
  std::uint32_t element_, start_ = 0, leading_ = 0, stride_ = 0, base_offset_, span_ = 0, mask_ = 0;
  bool transposed_;
};

// Of A as it is stored, and of B, which is twice as deep where A is sparse.
std::uint32_t depth_of(const Wgmma& mma) { return static_cast<std::uint32_t>(256 / element_bits(mma.a)); }
std::uint32_t b_depth_of(const Wgmma& mma) { return mma.sparse ? 2 * depth_of(mma) : depth_of(mma); }

std::uint32_t element_at(const Cta& cta, std::uint32_t address, std::uint32_t bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, cta.window + address, bytes);
  return value;
}

// Row-major elements of an operand, each in the low bits of a word.
std::vector<std::uint32_t> gather(const Cta& cta, const Operand& operand, std::uint32_t rows, std::uint32_t depth) {
  std::vector<std::uint32_t> out(std::size_t{rows} * depth);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      out[std::size_t{i} * depth + k] = element_at(cta, operand.address(i, k), operand.element());
    }
  }
  return out;
}

// The same for A in registers: register r of lane l in warp w holds row 16 w + l / 4 + 8 (r % 2), and consecutive
// elements of the k half r / 2.
std::vector<std::uint32_t> gather_registers(const Product& product, std::uint32_t depth) {
  const auto bits = static_cast<std::uint32_t>(element_bits(product.what.a));
  const std::uint32_t per_register = 32 / bits;
  const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  std::vector<std::uint32_t> out(64 * depth);
  for (std::uint32_t t = 0; t < kWarpgroupThreads; ++t) {
    const std::uint32_t lane = t % 32;
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = 16 * (t / 32) + lane / 4 + 8 * (r % 2);
      for (std::uint32_t b = 0; b < per_register; ++b) {
        const std::uint32_t k = depth / 2 * (r / 2) + per_register * (lane % 4) + b;
        out[row * depth + k] = product.a_registers[t][r] >> (bits * b) & mask;
      }
    }
  }
  return out;
}

std::vector<Term> terms(const std::vector<std::uint32_t>& elements, MmaType type, int scale) {
  std::vector<Term> out(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out[i] = decode_term(elements[i], type);
    out[i].significand *= scale;
  }
  return out;
}

std::int64_t integer(std::uint32_t bits, MmaType type) {
  return type == MmaType::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits & 0xFF);
}

// Calls `f(row, column, word, half)` for every accumulator of a thread; half is 0 or 1 where two share a word.
template <class F>
void each_accumulator(const Wgmma& mma, int thread, F f) {
  const int lane = thread % 32;
  const bool packed = mma.d == MmaType::f16;
  for (int j = 0; j < mma.n / 8; ++j) {
    for (int h = 0; h < 2; ++h) {
      for (int b = 0; b < 2; ++b) {
        const int row = 16 * (thread / 32) + lane / 4 + 8 * h;
        const int column = 8 * j + 2 * (lane % 4) + b;
        f(row, column, packed ? 2 * j + h : 4 * j + 2 * h + b, packed ? b : 0);
      }
    }
  }
}

// Which element of a column of B each element of a row of A meets.
class Partners {
 public:
  explicit Partners(const Product& product) : depth_(depth_of(product.what)) {
    if (product.what.sparse) stored_ = stored_columns(product.what, product.metadata).columns;
  }
  bool in_order() const { return stored_.empty(); }
  std::uint32_t operator()(std::uint32_t row, std::uint32_t k) const {
    return in_order() ? k : stored_[row * depth_ + k];
  }

 private:
  std::uint32_t depth_;
  std::vector<std::uint8_t> stored_;
};

void execute_integer(const Product& product, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                     std::uint32_t depth) {
  const Wgmma& mma = product.what;
  const Partners partners(product);
  const std::uint32_t b_depth = b_depth_of(mma);
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int) {
      const auto i = static_cast<std::uint32_t>(row), j = static_cast<std::uint32_t>(column);
      std::int64_t sum = mma.accumulate ? static_cast<std::int32_t>(d[word]) : 0;
      for (std::uint32_t k = 0; k < depth; ++k) {
        sum += integer(a[i * depth + k], mma.a) * integer(b[j * b_depth + partners(i, k)], mma.b);
      }
      if (mma.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[word] = static_cast<std::uint32_t>(sum);
    });
  }
}

void execute_floating(const Product& product, const std::vector<std::uint32_t>& a_bits,
                      const std::vector<std::uint32_t>& b_bits, std::uint32_t depth) {
  const Wgmma& mma = product.what;
  const std::vector<Term> a = terms(a_bits, mma.a, mma.a_scale), b = terms(b_bits, mma.b, mma.b_scale);
  const bool narrow = element_bits(mma.a) == 8;
  const DotFormat format{.product_fraction = fraction_bits(mma.a) + fraction_bits(mma.b),
                         .alignment = narrow ? 13 : 25,
                         .result_fraction = narrow ? 13 : 23};
  const Partners partners(product);
  const std::uint32_t b_depth = b_depth_of(mma);
  const auto k = static_cast<int>(depth);
  Term met[32];  // no product has more in a row
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int half) {
      const Term* row_terms = a.data() + static_cast<std::size_t>(row) * depth;
      const Term* column_terms = b.data() + static_cast<std::size_t>(column) * b_depth;
      if (!partners.in_order()) {
        for (std::uint32_t i = 0; i < depth; ++i) met[i] = column_terms[partners(static_cast<std::uint32_t>(row), i)];
        column_terms = met;
      }
      if (mma.d == MmaType::f32) {
        d[word] = fused_dot(row_terms, column_terms, k, mma.accumulate ? d[word] : 0, format);
        return;
      }
      const auto old = static_cast<std::uint16_t>(mma.accumulate ? d[word] >> (16 * half) : 0);
      const std::uint32_t value = fused_dot_f16(row_terms, column_terms, k, old, format);
      d[word] = (d[word] & ~(0xFFFFu << (16 * half))) | value << (16 * half);
    });
  }
}

// The rows of an operand that hold bytes which nothing has written.
std::vector<bool> unwritten_rows(Cta& cta, const Operand& operand, std::uint32_t rows, std::uint32_t depth) {
  std::vector<bool> out(rows);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      const std::uint32_t address = operand.address(i, k);
      const auto mask = static_cast<std::uint16_t>(((1u << operand.element()) - 1) << address % kChunk);
      if ((mask & ~cta.cells[address / kChunk].initialised) != 0) out[i] = true;
    }
  }
  return out;
}

void poison_results(Cta& cta, const Product& product) {
  const Wgmma& mma = product.what;
  const std::uint32_t depth = depth_of(mma);
  const Operand a(mma.a_descriptor, mma.a, mma.a_transposed), b(mma.b_descriptor, mma.b, mma.b_transposed);
  const std::vector<bool> rows = mma.a_in_registers ? std::vector<bool>(64) : unwritten_rows(cta, a, 64, depth);
  const std::vector<bool> columns = unwritten_rows(cta, b, static_cast<std::uint32_t>(mma.n), b_depth_of(mma));
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int half) {
      if (!rows[static_cast<std::size_t>(row)] && !columns[static_cast<std::size_t>(column)]) return;
      d[word] = mma.d != MmaType::f16
                    ? kPoison
                    : (d[word] & ~(0xFFFFu << (16 * half))) | std::uint32_t{kPoisonHalf} << (16 * half);
    });
  }
  grid().poison().spread(product.site);
}

void execute(Cta& cta, const Product& product) {
  const Wgmma& mma = product.what;
  const std::uint32_t depth = depth_of(mma);
  const std::vector<std::uint32_t> a = mma.a_in_registers
                                           ? gather_registers(product, depth)
                                           : gather(cta, Operand(mma.a_descriptor, mma.a, mma.a_transposed), 64, depth);
  const std::vector<std::uint32_t> b = gather(cta, Operand(mma.b_descriptor, mma.b, mma.b_transposed),
                                              static_cast<std::uint32_t>(mma.n), b_depth_of(mma));
  if (mma.d == MmaType::s32) {
    execute_integer(product, a, b, depth);
  } else {
    execute_floating(product, a, b, depth);
  }
  if (product.unwritten) poison_results(cta, product);
}

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

bool check_operand(Cta& cta, const Operand& operand, std::uint32_t rows, std::uint32_t depth, SiteId site) {
  bool inside = true;
  operand.each_chunk(rows, depth, [&](std::uint32_t address) {
    inside = inside && address >= kSharedBase && address + kChunk <= kSharedBase + cta.shared_bytes;
  });
  if (!operand.on_pattern()) {
    complain(
        "wgmma-descriptor", site,
        "A wgmma descriptor without a base offset starts inside of its swizzle's pattern: the tile lies on a multiple "
        "of " +
            std::to_string(operand.pattern_bytes()) + " bytes.");
  }
  if (!inside) {
    complain("wgmma-descriptor", site,
             "A wgmma descriptor reaches outside of the shared memory of " + grid().cta_text(cta.index) + ".");
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
  if (!check_operand(cta, b, n, b_depth_of(mma), product.site) ||
      (!mma.a_in_registers && !check_operand(cta, a, 64, depth, product.site))) {
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
    complain("wgmma-partial-warpgroup", call.site,
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
             "The threads of a warpgroup issued different products, or gave them different descriptors.");
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
