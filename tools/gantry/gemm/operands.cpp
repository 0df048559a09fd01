#include "gemm/operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <gantry/epilogue/fusion/masks.hpp>
#include <gantry/gemm/group_check.hpp>
#include <gantry/gemm/reference.hpp>

#include "gemm/comparison.hpp"

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

// A block of rows of D, of a group, or of all batches where that is negative.
struct Operands::Rows {
  std::int64_t first = 0, count = 0;
  std::int64_t group = -1;
  std::int64_t k_first = 0, k = 0;
  bool whole = false;                           // all rows of the group or of the GEMM: reductions can be compared
  std::vector<fusion::Range>* parts = nullptr;  // by argument: reductions over groups, so far
};

Operands::Operands(const Product& product) : product_(product), scalars_(product.scalars) {
  if (product.is_array()) {
    add_array();
    return;
  }
  add_matrices();
  add_arguments();
  add_groups();
  add_index();
}

Operands::Operands(const Product& product, Inputs inputs, std::uint64_t seed) : Operands(product) {
  inputs_ = inputs;
  allocate();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].scale) {
      fill_scales(all_[i], seed * 64 + i);
    } else if (!all_[i].written && !all_[i].holds_addresses) {
      fill(all_[i], seed * 64 + i);
    }
  }
  write_groups();
  write_index(seed);
  poison();
}

std::vector<std::string> Operands::problems_of(const Product& product) {
  const Operands operands(product);
  // Any addresses do: nothing is looked at.
  const std::vector<void*> addresses(operands.all_.size(), reinterpret_cast<void*>(16));  // NOLINT
  const ArgumentReasons reasons = operands.arguments(addresses).problems({.m = product.m,
                                                                          .n = product.columns_of_d(),
                                                                          .batch = product.batch,
                                                                          .groups_of_rows = product.along_m(),
                                                                          .pointer_array = product.is_array()});
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
    operand.written = operand.name == "D";
    if (operand.written && product_.scatters()) operand.lines = product_.rows_of_d();
    const bool input = operand.name == "A" || operand.name == "B";
    const bool of_b = operand.name == "B" || operand.name == "scale_b";
    const bool shared = product_.along_m() ? !of_b : product_.along_k() && input;
    operand.batches = shared ? 1 : product_.batch;
    add(operand);
  };
  matrix("A", o.a, o.major_a == Major::K, product_.rows_of_a(), product_.k);
  matrix("B", o.b, o.major_b == Major::K, product_.n, product_.k);
  matrix("C", o.c, !is_m_major(o.layout_c), product_.m, product_.columns_of_d());
  if (product_.graph.d >= 0) matrix("D", o.d, !is_m_major(o.layout_d), product_.m, product_.columns_of_d());
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
      const std::int64_t columns = fusion::columns_of(a, product_.columns_of_d());
      operand.length = a.row_major ? columns : product_.m;
      operand.lines = a.row_major ? product_.m : columns;
      operand.batches = product_.along_m() ? 1 : product_.batch;
    } else {
      operand.rows = true;
      operand.length = of_row ? product_.columns_of_d() : of_column ? product_.m : 1;
      if (product_.along_m() && of_row) operand.batches = product_.batch;
    }
    add(operand);
  }
}

// Where groups begin, or how many rows they have; on the device as the matrices are.
void Operands::add_groups() {
  if (product_.options.groups == GemmGrouping::none) return;
  const std::int64_t count = product_.batch + (product_.capacity > 0 ? 0 : 1);
  add({.name = kGroups, .element = ElementType::s32, .length = count});
}

void Operands::add_index() {
  const std::int64_t batches = product_.along_m() ? 1 : product_.batch;
  const auto index = [&](const char* name) {
    add({.name = name, .element = ElementType::s32, .length = product_.m, .batches = batches});
  };
  if (product_.options.gather_a) index(kIndex);
  if (product_.scatters()) index(kScatter);
}

// Any rows, in any order, some of them several times.
void Operands::write_index(std::uint64_t seed) {
  for (Operand& o : all_) {
    if (o.name != kIndex) continue;
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < o.length * o.batches; ++i) {
      const auto rows = static_cast<std::uint64_t>(std::max<std::int64_t>(product_.gather_rows, 1));
      const auto row = static_cast<std::int32_t>(random() % rows);  // of no rows: row 0, which does not exist
      std::memcpy(o.bytes.data() + static_cast<std::size_t>(i) * sizeof row, &row, sizeof row);
    }
  }
  // Rows of D: each once at most.
  for (Operand& o : all_) {
    if (o.name != kScatter) continue;
    std::mt19937_64 random(seed + 1);
    std::vector<std::int32_t> rows(static_cast<std::size_t>(product_.scatter_rows));
    for (std::int64_t batch = 0; batch < o.batches; ++batch) {
      std::iota(rows.begin(), rows.end(), 0);
      std::shuffle(rows.begin(), rows.end(), random);
      std::memcpy(o.bytes.data() + static_cast<std::size_t>(batch * o.length) * sizeof(std::int32_t), rows.data(),
                  static_cast<std::size_t>(o.length) * sizeof(std::int32_t));
    }
  }
}

void Operands::write_groups() {
  for (Operand& o : all_) {
    if (o.name != kGroups || o.holds_addresses) continue;
    std::vector<std::int32_t> numbers;
    for (std::int64_t g = 0; g < product_.batch + (product_.capacity > 0 ? 0 : 1); ++g) {
      const std::int64_t value = product_.capacity > 0 ? product_.groups[static_cast<std::size_t>(g)] : first_line(g);
      numbers.push_back(static_cast<std::int32_t>(value));
    }
    std::memcpy(o.bytes.data(), numbers.data(), numbers.size() * sizeof(std::int32_t));
  }
}

std::int64_t Operands::first_line(std::int64_t group) const {
  if (product_.capacity > 0) return group * product_.capacity;
  if (!product_.offsets.empty()) return product_.offsets[static_cast<std::size_t>(group)];
  std::int64_t out = 0;
  for (std::int64_t g = 0; g < group; ++g) out += product_.groups[static_cast<std::size_t>(g)];
  return out;
}

std::vector<std::string> Operands::wrong_groups() const {
  std::vector<std::string> out;
  const Operand* const groups = find(kGroups);
  if (groups == nullptr || groups->holds_addresses) return out;  // lines of a file are checked when it is read
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(groups->length));
  std::memcpy(numbers.data(), groups->bytes.data(), numbers.size() * sizeof(std::int32_t));
  const GroupedLines lines{product_.options.groups, product_.along_m() ? product_.m : product_.k};
  for (const GroupFinding& found : product_.capacity > 0
                                       ? check_counts(numbers.data(), product_.batch, product_.capacity)
                                       : check_offsets(numbers.data(), product_.batch, lines)) {
    out.push_back(found.sentence);
  }
  return out;
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
    const bool adds = product_.options.split == SplitMode::reduce_add || product_.options.scatter_d == RowScatter::add;
    const bool added_to = operand.argument < 0 && adds;
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
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].holds_addresses) all_[i].bytes = address_bytes(all_[i], out);
    out[i] = all_[i].bytes.data();
  }
  return out;
}

GemmCall Operands::call(const std::vector<void*>& addresses) const {
  GemmCall out{.m = product_.m, .n = product_.n, .k = product_.k, .batch = product_.batch};
  if (product_.is_array()) return call_of_array(addresses);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument >= 0) {
      const bool tensor = fusion::is_tensor(product_.graph.arguments[o.argument].kind);
      const bool batched = tensor || o.batches > 1;
      out.arguments.add(
          {o.name.c_str(), addresses[i], tensor ? o.stride : kPacked, batched ? o.batch_stride : kPacked});
      continue;
    }
    if (o.scale) {
      (o.name == "scale_a" ? out.scale_a : out.scale_b) = o.scales(addresses[i]);
    } else if (o.name == kGroups) {
      const auto* const numbers = static_cast<const std::int32_t*>(addresses[i]);
      (product_.capacity > 0 ? out.groups.counts : out.groups.offsets) = numbers;
    } else if (o.name == kIndex) {
      out.gather = {static_cast<const std::int32_t*>(addresses[i]), product_.gather_rows};
    } else if (o.name == kScatter) {
      out.scatter = {static_cast<const std::int32_t*>(addresses[i]), product_.scatter_rows};
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
  if (product_.is_array()) return arguments_of(call_of_array(addresses), product_.graph);
  fusion::FusionArguments out(product_.graph);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument < 0) continue;
    const bool tensor = fusion::is_tensor(product_.graph.arguments[o.argument].kind);
    if (tensor) {
      out[o.name.c_str()].tensor(addresses[i], o.stride, o.batch_stride);
    } else if (o.batches > 1) {
      out[o.name.c_str()].batched(addresses[i], o.batch_stride);
    } else {
      out[o.name.c_str()] = addresses[i];
    }
  }
  for (const Scalar& scalar : scalars_) out[scalar.name.c_str()] = scalar.value;
  return out;
}

namespace {

// Elements of a vector from `begin` on, from the first bit of a byte.
std::vector<std::uint8_t> packed_from(const Operand& o, std::int64_t begin, std::int64_t count) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bytes_for(o.element, count)) + 1);
  for (std::int64_t i = 0; i < count; ++i) {
    store_from_double(o.element, out.data(), i, load_as_double(o.element, o.bytes.data(), begin + i));
  }
  return out;
}

// What another group brings to the results of a reduction.
fusion::Range combined(const fusion::Range& x, const fusion::Range& y, fusion::Reduction reduction) {
  using fusion::Function;
  using fusion::Reduction;
  if (reduction == Reduction::max || reduction == Reduction::amax) return apply(Function::max, x, y);
  if (reduction == Reduction::min) return apply(Function::min, x, y);
  if (reduction == Reduction::mul) return apply(Function::multiply, x, y);
  if (reduction == Reduction::add) return apply(Function::add, x, y);
  const auto sum = [](double a, double b) {
    const double larger = std::max(a, b);
    return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
  };
  const double lost = 0x1p-20 + 0x1p-22 * std::max(std::fabs(x.value), std::fabs(y.value));
  return {sum(x.value, y.value), sum(x.lower, y.lower) - lost, sum(x.upper, y.upper) + lost};
}

void combine(const std::vector<fusion::Range>& more, fusion::Reduction reduction, std::vector<fusion::Range>& out) {
  if (out.empty()) out.assign(more.size(), fusion::exactly(fusion::identity(reduction)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = combined(out[i], more[i], reduction);
}

}  // namespace

// Elements from the first of an operand to the first of what a block reads or writes: its rows, its group's matrix, its
// group's rows of K.
std::int64_t Operands::begin_of(const Operand& o, const Rows& rows) const {
  const std::int64_t line = o.rows ? o.stride : 1, across = o.rows ? 1 : o.stride;  // to the next row, or column
  const bool matrix = o.argument < 0;
  const std::int64_t batch = rows.group < 0 || o.batches <= 1 ? 0 : rows.group * o.batch_stride;
  if (matrix && o.name == "A") return batch + rows.first * line + rows.k_first * across;
  if (matrix && o.name == "B") return batch + rows.k_first * across;
  if (matrix) return batch + rows.first * line;
  const fusion::Argument& a = product_.graph.arguments[o.argument];
  if (fusion::is_tensor(a.kind)) return batch + rows.first * line;
  const bool along_m = a.kind == fusion::ArgumentKind::column ||
                       (a.kind == fusion::ArgumentKind::reduction && a.extent == fusion::Extent::column);
  return batch + (along_m ? rows.first : 0);
}

std::vector<std::uint8_t> Operands::by_index(const Operand& a, const char* name, const Rows& rows) const {
  const Operand& index = *find(name);
  const auto row_bytes = static_cast<std::size_t>(bytes_for(a.element, a.length));
  const std::int64_t batches = rows.group < 0 ? product_.batch : 1;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(batches * rows.count) * row_bytes);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      std::int32_t row = 0;
      const std::int64_t at = batch * product_.m + rows.first + i;
      std::memcpy(&row, index.bytes.data() + static_cast<std::size_t>(at) * sizeof row, sizeof row);
      if (row < 0 || row >= a.lines) continue;
      std::memcpy(out.data() + static_cast<std::size_t>(batch * rows.count + i) * row_bytes,
                  a.bytes.data() + bytes_for(a.element, batch * a.batch_stride + row * a.stride), row_bytes);
    }
  }
  return out;
}

void Operands::verify_rows(const Rows& rows, Verification& out) const {
  GemmReferenceProblem p;
  p.shape = {.m = rows.count, .n = product_.n, .batch = rows.group < 0 ? product_.batch : 1};
  p.first_row = rows.first;
  p.first_batch = product_.along_k() ? std::max<std::int64_t>(rows.group, 0) : 0;
  p.k = rows.k;
  p.d_element = product_.options.d;
  p.gate = product_.options.gate;
  p.promote = product_.options.promotes();
  p.mode_a = product_.options.scale_a;
  p.mode_b = product_.options.scale_b;
  const auto from = [&](const Operand& o) {
    fusion::ReferenceTensor tensor = o.tensor();
    tensor.data = o.bytes.data() + bytes_for(o.element, begin_of(o, rows));
    return tensor;
  };
  std::vector<void*> addresses;
  std::deque<std::vector<std::uint8_t>> copies;
  for (const Operand& o : all_) {
    if (o.name == "A" && o.argument < 0 && product_.options.gather_a) {
      const std::vector<std::uint8_t>& found = copies.emplace_back(by_index(o, kIndex, rows));
      p.a = {o.element, found.data(), o.length, 1, rows.count * o.length};
    } else if (o.name == "A" && o.argument < 0) {
      p.a = from(o);
    }
    if (o.name == "B" && o.argument < 0) p.b = from(o);
    if (o.name == "C" && o.argument < 0) p.source = from(o);
    if (o.scale && o.name == "scale_b") {
      p.scale_b = o.scales(o.bytes.data());
      if (rows.group > 0) p.scale_b.data += rows.group * p.scale_b.batch_stride;
    }
    if (o.scale && o.name == "scale_a") {
      p.scale_a = o.scales(o.bytes.data());
      p.scale_a.data += rows.first * p.scale_a.stride;  // each row has its own
    }
    // None is given to the reference: A was gathered, D will be, and an index is no argument.
    const bool is_index = o.name == kIndex || o.name == kScatter;
    const bool apart = o.argument < 0 && (is_index || (product_.options.gather_a && o.name == "A") ||
                                          (product_.scatters() && o.name == "D"));
    const std::int64_t begin = o.scale || apart ? 0 : begin_of(o, rows);
    if (begin * info(o.element).bits % 8 == 0) {
      addresses.push_back(const_cast<std::uint8_t*>(o.bytes.data()) + bytes_for(o.element, begin));
    } else {  // a column vector of packed elements, whose rows begin inside of a byte
      addresses.push_back(copies.emplace_back(packed_from(o, begin, rows.count)).data());
    }
  }
  const fusion::FusionArguments args = arguments(addresses);
  const fusion::ReferenceResult expected = gemm_reference(product_.graph, p, args);
  for (const Operand& o : all_) {
    if (!o.written) continue;
    Comparison comparison(out, o.name);
    const bool matrix = o.argument < 0;
    if (matrix && product_.scatters()) {
      const std::vector<std::uint8_t>& found = copies.emplace_back(by_index(o, kScatter, rows));
      comparison.compare(expected.d, {o.element, found.data(), o.length, 1, rows.count * o.length}, expected.shape,
                         rows.first);
    } else if (matrix || product_.graph.arguments[o.argument].kind != fusion::ArgumentKind::reduction) {
      fusion::ProblemShape shape = expected.shape;
      if (!matrix) shape.n = fusion::columns_of(product_.graph.arguments[o.argument], shape.n);
      comparison.compare(matrix ? expected.d : expected.outputs[o.argument], from(o), shape, rows.first);
    } else if (rows.whole && is_of_all_groups(o)) {
      combine(expected.outputs[o.argument], fusion::reduction_of(product_.graph, o.argument), rows.parts[o.argument]);
    } else if (rows.whole) {
      const fusion::ResolvedArguments values = args.resolved(expected.shape);
      comparison.compare(expected.outputs[o.argument], detail::output_tensor(product_.graph, values, o.argument),
                         detail::output_shape(product_.graph, values, o.argument, expected.shape), 0);
    }
  }
}

// A reduction to which every group brings a part.
bool Operands::is_of_all_groups(const Operand& o) const {
  if (product_.options.groups == GemmGrouping::none || o.argument < 0) return false;
  const fusion::Argument& a = product_.graph.arguments[o.argument];
  if (a.kind != fusion::ArgumentKind::reduction || o.batches > 1) return false;
  return product_.batch > 1 && (product_.along_k() || a.extent == fusion::Extent::scalar);
}

Verification Operands::verify() const {
  // About a second's worth.
  constexpr double kProducts = 1e9, kElements = 2e6;
  if (product_.is_array()) return verify_array(kProducts, kElements);
  if (product_.options.groups != GemmGrouping::none) return verify_groups(kProducts, kElements);
  constexpr std::int64_t kBlock = 128;  // rows begin at whole bytes in every element type
  Verification out;
  const auto row = static_cast<double>(product_.n) * static_cast<double>(product_.batch);
  const double affordable =
      std::min(kProducts / std::max(1.0, row * static_cast<double>(product_.k)), kElements / std::max(1.0, row));
  if (static_cast<double>(product_.m) <= std::max(affordable, 2.0)) {
    verify_rows({.count = product_.m, .k = product_.k, .whole = true}, out);
    return out;
  }
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(affordable / 2));
  const std::int64_t last = std::max(count, (product_.m - count) / kBlock * kBlock);
  verify_rows({.count = count, .k = product_.k}, out);
  verify_rows({.first = last, .count = std::min(count, product_.m - last), .k = product_.k}, out);
  out.part = fmt::format("rows 0 to {} and {} to {}", count - 1, last, last + std::min(count, product_.m - last) - 1);
  return out;
}

// Group by group; where all rows would take long, as many of the first and the last ones of each.
Verification Operands::verify_groups(double products, double elements) const {
  Verification out;
  const bool along_m = product_.along_m();
  double all = 0;
  for (const std::int64_t size : product_.groups) all += static_cast<double>(along_m ? size : product_.m);
  const double row = static_cast<double>(std::max<std::int64_t>(product_.n, 1));
  const double k = static_cast<double>(std::max<std::int64_t>(product_.k, 1)) /
                   static_cast<double>(along_m ? 1 : std::max<std::int64_t>(product_.batch, 1));
  const double affordable = std::min(products / (row * std::max(k, 1.0)), elements / row);
  const double share = all > 0 ? std::min(1.0, affordable / all) : 1;
  std::vector<fusion::Range> parts[fusion::kMaxArguments];
  for (std::int64_t g = 0; g < product_.batch; ++g) {
    const std::int64_t size = product_.groups[static_cast<std::size_t>(g)];
    const std::int64_t begin = along_m ? first_line(g) : 0, count = along_m ? size : product_.m;
    Rows rows{.first = begin, .count = count, .group = g, .k_first = along_m ? 0 : first_line(g)};
    rows.k = along_m ? product_.k : size;
    rows.whole = share == 1;
    rows.parts = parts;
    if (count == 0) continue;
    if (rows.whole) {
      verify_rows(rows, out);
      continue;
    }
    rows.count = std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(count) / 2), 1, count);
    verify_rows(rows, out);
    rows.first = begin + count - rows.count;
    verify_rows(rows, out);
  }
  for (const Operand& o : all_) {
    if (share < 1 || !o.written || !is_of_all_groups(o) || parts[o.argument].empty()) continue;
    const auto count = static_cast<std::int64_t>(parts[o.argument].size());
    fusion::ReferenceTensor results{o.element, o.bytes.data(), 0, 1, 0};
    Comparison(out, o.name).compare(parts[o.argument], results, {.m = 1, .n = count}, 0);
  }
  if (share < 1) out.part = "the first and the last rows of each group";
  return out;
}

double Operands::traffic() const {
  double bytes = 0;
  const auto empty = static_cast<std::int64_t>(std::count(product_.groups.begin(), product_.groups.end(), 0));
  for (const Operand& o : all_) {
    if (o.holds_addresses) continue;
    const bool weights = product_.along_m() && o.argument < 0 && o.name == "B";  // an empty group reads none
    bytes += static_cast<double>(bytes_for(o.element, o.length)) * static_cast<double>(o.lines) *
             static_cast<double>(o.batches - (weights ? empty : 0));
  }
  return bytes;
}

}  // namespace gantry::tool
