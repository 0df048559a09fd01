#include "gemm/operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <gantry/epilogue/fusion/masks.hpp>
#include <gantry/gemm/reference.hpp>

namespace gantry::tool {

namespace {

// Multiples of 1/8 (whole numbers for integers) accumulate exactly in any order.
double number(Inputs inputs, ElementType element, std::mt19937_64& random) {
  const ElementInfo& e = info(element);
  const std::uint64_t bits = random() >> 11;
  if (inputs == Inputs::zeros) return 0;
  const bool whole = e.kind == ElementKind::signed_integer || e.kind == ElementKind::unsigned_integer;
  if (element == ElementType::u1) return static_cast<double>(bits % 2);
  const bool positive = e.kind == ElementKind::unsigned_integer;
  if (inputs == Inputs::eighths) {
    const double x = static_cast<double>(bits % 16) - (positive ? 0 : 8);
    return whole ? x : x / 8;
  }
  if (inputs == Inputs::special && !whole && bits % 3000 == 0) {
    constexpr double kSpecial[] = {NAN, HUGE_VAL, -HUGE_VAL, -0.0, 1e-40, 60000};
    return kSpecial[bits / 3000 % 6];
  }
  const double unit = static_cast<double>(bits) * 0x1p-53;
  if (whole) return std::floor(unit * 256) - (positive ? 0 : 128);
  return 2 * unit - 1;
}

}  // namespace

// A block of rows of D.
struct Operands::Rows {
  std::int64_t first = 0, count = 0;
};

Operands::Operands(const Product& product) : product_(product), scalars_(product.scalars) {
  add_matrices();
  add_arguments();
}

Operands::Operands(const Product& product, Inputs inputs, std::uint64_t seed) : Operands(product) {
  inputs_ = inputs;
  allocate();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].scale) {
      fill_scales(all_[i], seed * 64 + i);
    } else if (!all_[i].written) {
      fill(all_[i], seed * 64 + i);
    }
  }
  poison();
}

std::vector<std::string> Operands::problems_of(const Product& product) {
  const Operands operands(product);
  // Any addresses do: nothing is looked at.
  const std::vector<void*> addresses(operands.all_.size(), reinterpret_cast<void*>(16));  // NOLINT
  const ArgumentReasons reasons =
      operands.arguments(addresses).problems({.m = product.m, .n = product.n, .batch = product.batch});
  std::vector<std::string> out;
  for (const ArgumentReason& reason : reasons) out.emplace_back(describe(reason).c_str());
  operands.check_memory(out);
  return out;
}

void Operands::add(const Operand& operand) {
  Operand& o = all_.emplace_back(operand);
  // Lines follow each other without a gap; those of packed elements begin at bytes.
  const std::int64_t step = info(o.element).bits < 8 ? 8 : 1;
  o.stride = (o.length + step - 1) / step * step;
  o.batch_stride = o.batches > 1 ? o.stride * o.lines : 0;
}

void Operands::check_memory(std::vector<std::string>& out) const {
  double all = 0;  // a number of 64 bits may not hold what was asked for
  for (const Operand& o : all_) {
    all += static_cast<double>(o.stride) * static_cast<double>(std::max<std::int64_t>(o.lines, 1)) *
           static_cast<double>(std::max<std::int64_t>(o.batches, 1)) * info(o.element).bits / 8;
  }
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double most = 0.9 * memory;
  if (all <= most) return;
  out.push_back(fmt::format("the operands take {:.3g} GB, and this machine has {:.3g} GB of memory; up to {:.3g} work",
                            all / 1e9, memory / 1e9, most / 1e9));
}

void Operands::allocate() {
  for (Operand& o : all_) {
    const std::int64_t elements = o.stride * std::max<std::int64_t>(o.lines, 1) * std::max<std::int64_t>(o.batches, 1);
    o.bytes.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes_for(o.element, elements), 1)));
  }
}

void Operands::add_matrices() {
  const GemmOptions& o = product_.options;
  const auto matrix = [&](const char* name, ElementType element, bool rows, std::int64_t m, std::int64_t n) {
    if (element == ElementType::void_) return;
    Operand operand{.name = name, .element = element, .rows = rows};
    operand.length = rows ? n : m;
    operand.lines = rows ? m : n;
    operand.batches = product_.batch;
    operand.written = operand.name == "D";
    add(operand);
  };
  matrix("A", o.a, o.major_a == Major::K, product_.m, product_.k);
  matrix("B", o.b, o.major_b == Major::K, product_.n, product_.k);
  matrix("C", o.c, !is_m_major(o.layout_c), product_.m, product_.n);
  if (product_.graph.d >= 0) matrix("D", o.d, !is_m_major(o.layout_d), product_.m, product_.n);
  const auto scales = [&](const char* name, ScaleMode mode, std::int64_t rows) {
    if (mode == ScaleMode::none) return;
    matrix(name, ElementType::f32, mode == ScaleMode::block, scale_rows(mode, rows), scale_blocks(product_.k));
    all_.back().scale = true;
  };
  scales("scale_a", o.scale_a, product_.m);
  scales("scale_b", o.scale_b, product_.n);
}

void Operands::add_arguments() {
  for (int i = 0; i < product_.graph.argument_count; ++i) {
    const fusion::Argument& a = product_.graph.arguments[i];
    if (a.kind == fusion::ArgumentKind::scalar) continue;
    Operand operand{.name = a.name.text, .element = a.element, .rows = a.row_major, .written = is_output(a.kind)};
    operand.argument = i;
    const bool tensor = fusion::is_tensor(a.kind);
    const bool of_row = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool of_column = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    if (tensor) {
      operand.length = a.row_major ? product_.n : product_.m;
      operand.lines = a.row_major ? product_.m : product_.n;
      operand.batches = product_.batch;
    } else {
      operand.rows = true;
      operand.length = of_row ? product_.n : of_column ? product_.m : 1;
    }
    add(operand);
  }
}

const Operand* Operands::find(const std::string& name) const {
  for (const Operand& operand : all_) {
    if (operand.name == name) return &operand;
  }
  return nullptr;
}

// A stretch of random numbers, repeated: large matrices are filled at the speed of memory.
void Operands::fill(Operand& operand, std::uint64_t seed) const {
  constexpr std::int64_t kStretch = 65544;  // no multiple of a power of two above 8, so that lines differ
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> stretch(static_cast<std::size_t>(bytes_for(operand.element, kStretch)));
  for (std::int64_t i = 0; i < kStretch; ++i) {
    store_from_double(operand.element, stretch.data(), i, number(inputs_, operand.element, random));
  }
  for (std::size_t at = 0; at < operand.bytes.size(); at += stretch.size()) {
    std::memcpy(operand.bytes.data() + at, stretch.data(), std::min(stretch.size(), operand.bytes.size() - at));
  }
}

// Positive, and of different sizes.
void Operands::fill_scales(Operand& operand, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at + sizeof(float) <= operand.bytes.size(); at += sizeof(float)) {
    const float scale =
        std::ldexp(1.0F + static_cast<float>(random() % 1024) / 1024, static_cast<int>(random() % 4) - 2);
    std::memcpy(operand.bytes.data() + at, &scale, sizeof scale);
  }
}

void Operands::poison() {
  for (Operand& operand : all_) {
    if (!operand.written) continue;
    // What is added to begins as zeros.
    const bool added_to = operand.argument < 0 && product_.options.split == SplitMode::reduce_add;
    std::fill(operand.bytes.begin(), operand.bytes.end(), static_cast<std::uint8_t>(added_to ? 0x00 : 0xA5));
  }
}

std::vector<void*> Operands::host_addresses() {
  std::vector<void*> out;
  out.reserve(all_.size());
  for (Operand& operand : all_) {
    // Vectors of bytes begin where the allocator likes, which is at multiples of 16.
    out.push_back(operand.bytes.data());
  }
  return out;
}

GemmCall Operands::call(const std::vector<void*>& addresses) const {
  GemmCall out{.m = product_.m, .n = product_.n, .k = product_.k, .batch = product_.batch};
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument >= 0) {
      const bool tensor = fusion::is_tensor(product_.graph.arguments[o.argument].kind);
      out.arguments.add({o.name.c_str(), addresses[i], tensor ? o.stride : kPacked, tensor ? o.batch_stride : kPacked});
      continue;
    }
    if (o.scale) {
      (o.name == "scale_a" ? out.scale_a : out.scale_b) = o.scales(addresses[i]);
    } else if (o.name == "D") {
      out.d = {addresses[i], o.stride, o.batch_stride};
    } else {
      (o.name == "A" ? out.a : o.name == "B" ? out.b : out.c) = {addresses[i], o.stride, o.batch_stride};
    }
  }
  for (const Scalar& scalar : scalars_) out.arguments.add({scalar.name.c_str(), scalar.value});
  return out;
}

fusion::FusionArguments Operands::arguments(const std::vector<void*>& addresses) const {
  fusion::FusionArguments out(product_.graph);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument < 0) continue;
    const bool tensor = fusion::is_tensor(product_.graph.arguments[o.argument].kind);
    if (tensor) {
      out[o.name.c_str()].tensor(addresses[i], o.stride, o.batch_stride);
    } else {
      out[o.name.c_str()] = addresses[i];
    }
  }
  for (const Scalar& scalar : scalars_) out[scalar.name.c_str()] = scalar.value;
  return out;
}

namespace {

// Compares results with what they should be, and remembers the largest error.
class Comparison {
 public:
  Comparison(Verification& out, std::string name) : out_(out), name_(std::move(name)) {}

  void compare(const std::vector<fusion::Range>& expected, const fusion::ReferenceTensor& actual,
               const fusion::ProblemShape& shape, std::int64_t first_row) {
    std::size_t at = 0;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      for (std::int64_t m = 0; m < shape.m; ++m) {
        for (std::int64_t n = 0; n < shape.n; ++n) {
          const double x = load_as_double(actual.element, actual.data, actual.index(m, n, batch));
          one(expected[at++], x, {first_row + m, n, batch});
        }
      }
    }
  }

 private:
  struct Place {
    std::int64_t m, n, batch;
  };

  void one(const fusion::Range& range, double x, const Place& place) {
    ++out_.elements;
    if (!range.holds(x)) {
      if (out_.wrong++ == 0) {
        out_.first_wrong =
            fmt::format("{} at row {}, column {}{} is {:.9g}, and should be {:.9g}, between {:.9g} and {:.9g}", name_,
                        place.m, place.n, place.batch > 0 ? fmt::format(" of batch {}", place.batch) : "", x,
                        range.value, range.lower, range.upper);
      }
      return;
    }
    const double error = std::fabs(x - range.value);
    if (!(error > out_.largest_error) || range.unbounded()) return;
    out_.largest_error = error;
    out_.its_bound = std::max(range.upper - range.value, range.value - range.lower);
  }

  Verification& out_;
  std::string name_;
};

fusion::ReferenceTensor from_row(const Operand& o, std::int64_t first) {
  fusion::ReferenceTensor out = o.tensor();
  const std::int64_t offset = first * out.stride_m;
  out.data = o.bytes.data() + bytes_for(o.element, offset);
  return out;
}

}  // namespace

void Operands::verify_rows(const Rows& rows, Verification& out) const {
  const bool all = rows.count == product_.m;
  GemmReferenceProblem p;
  p.shape = {.m = rows.count, .n = product_.n, .batch = product_.batch};
  p.k = product_.k;
  p.d_element = product_.options.d;
  p.promote = product_.options.promotes();
  p.mode_a = product_.options.scale_a;
  p.mode_b = product_.options.scale_b;
  std::vector<void*> addresses;
  for (const Operand& o : all_) {
    if (o.name == "A" && o.argument < 0) p.a = from_row(o, rows.first);
    if (o.name == "B" && o.argument < 0) p.b = o.tensor();
    if (o.name == "C" && o.argument < 0) p.source = from_row(o, rows.first);
    if (o.scale && o.name == "scale_b") p.scale_b = o.scales(o.bytes.data());
    if (o.scale && o.name == "scale_a") {
      p.scale_a = o.scales(o.bytes.data());
      p.scale_a.data += rows.first * p.scale_a.stride;  // each row has its own
    }
    // Column vectors and tensors begin at the first row.
    const bool by_row = o.argument >= 0 && product_.graph.arguments[o.argument].kind != fusion::ArgumentKind::row &&
                        product_.graph.arguments[o.argument].kind != fusion::ArgumentKind::reduction;
    const bool vector = by_row && product_.graph.arguments[o.argument].kind == fusion::ArgumentKind::column;
    const std::int64_t offset = !by_row ? 0 : vector ? rows.first : rows.first * (o.rows ? o.stride : 1);
    addresses.push_back(const_cast<std::uint8_t*>(o.bytes.data()) + bytes_for(o.element, offset));
  }
  const fusion::FusionArguments args = arguments(addresses);
  const fusion::ReferenceResult expected = gemm_reference(product_.graph, p, args);
  for (const Operand& o : all_) {
    if (!o.written) continue;
    Comparison comparison(out, o.name);
    if (o.argument < 0) {
      comparison.compare(expected.d, from_row(o, rows.first), p.shape, rows.first);
    } else if (product_.graph.arguments[o.argument].kind != fusion::ArgumentKind::reduction) {
      comparison.compare(expected.outputs[o.argument], from_row(o, rows.first), p.shape, rows.first);
    } else if (all) {
      const fusion::ResolvedArguments values = args.resolved(p.shape);
      comparison.compare(expected.outputs[o.argument], detail::output_tensor(product_.graph, values, o.argument),
                         detail::output_shape(product_.graph, values, o.argument, p.shape), 0);
    }
  }
}

Verification Operands::verify() const {
  // About a second's worth.
  constexpr double kProducts = 1e9, kElements = 2e6;
  constexpr std::int64_t kBlock = 128;  // rows begin at whole bytes in every element type
  Verification out;
  const auto row = static_cast<double>(product_.n) * static_cast<double>(product_.batch);
  const double affordable =
      std::min(kProducts / std::max(1.0, row * static_cast<double>(product_.k)), kElements / std::max(1.0, row));
  if (static_cast<double>(product_.m) <= std::max(affordable, 2.0)) {
    verify_rows({0, product_.m}, out);
    return out;
  }
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(affordable / 2));
  const std::int64_t last = std::max(count, (product_.m - count) / kBlock * kBlock);
  verify_rows({0, count}, out);
  verify_rows({last, std::min(count, product_.m - last)}, out);
  out.part = fmt::format("rows 0 to {} and {} to {}", count - 1, last, last + std::min(count, product_.m - last) - 1);
  return out;
}

double Operands::traffic() const {
  double bytes = 0;
  for (const Operand& o : all_) {
    bytes += static_cast<double>(bytes_for(o.element, o.length)) * static_cast<double>(o.lines) *
             static_cast<double>(o.batches);
  }
  return bytes;
}

}  // namespace gantry::tool
