#include "gemm/operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <gantry/epilogue/fusion/masks.hpp>
#include <gantry/gemm/gather_check.hpp>
#include <gantry/runtime/runtime_rules.hpp>

#include "option_rules.hpp"

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

namespace {

std::vector<GroupSpan> spans_of(const AskedGemm& asked) {
  if (asked.options.groups == GemmGrouping::none) return {{0, asked.m}};
  std::vector<GroupSpan> out;
  std::int64_t begin = 0;
  for (std::size_t g = 0; g < asked.groups.size(); ++g) {
    if (!asked.offsets.empty()) begin = asked.offsets[g];
    out.push_back({begin, asked.groups[g]});
    begin += asked.capacity > 0 ? asked.capacity : asked.groups[g];
  }
  return out;
}

}  // namespace

Operands::Operands(const AskedGemm& asked, Inputs inputs)
    : asked_(asked), spans_(spans_of(asked)), inputs_(inputs), scalars_(asked.scalars) {
  if (asked.is_array()) {
    add_array();
    return;
  }
  add_matrices();
  add_arguments();
  add_groups();
  add_index();
}

Operands::Operands(const AskedGemm& asked, Inputs inputs, std::uint64_t seed) : Operands(asked, inputs) {
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

Status Operands::problems_of(const AskedGemm& asked) {
  const Operands operands(asked, Inputs::eighths);
  // Any addresses do: nothing is looked at.
  const std::vector<void*> addresses(operands.all_.size(), reinterpret_cast<void*>(16));  // NOLINT
  const ArgumentReasons reasons = operands.arguments(addresses).problems({.m = asked.m,
                                                                          .n = asked.columns_of_d(),
                                                                          .batch = asked.batch,
                                                                          .groups_of_rows = asked.along_m(),
                                                                          .pointer_array = asked.is_array()});
  Status out;
  for (const ArgumentReason& reason : reasons) refuse(out, reason.operand.c_str(), reason);
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

void Operands::check_memory(Status& out) const {
  double all = 0;  // a number of 64 bits may not hold what was asked for
  for (const Operand& o : all_) {
    all += static_cast<double>(o.stride) * static_cast<double>(std::max<std::int64_t>(o.lines, 1)) *
           static_cast<double>(std::max<std::int64_t>(o.batches, 1)) * info(o.element).bits / 8;
  }
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double most = 0.9 * memory;
  if (all <= most) return;
  refuse(out, OptionRule::memory, {},
         fmt::format("the operands take {:.3g} GB, and this machine has {:.3g} GB of memory; up to {:.3g} work",
                     all / 1e9, memory / 1e9, most / 1e9));
}

void Operands::allocate() {
  for (Operand& o : all_) {
    const std::int64_t elements = o.stride * std::max<std::int64_t>(o.lines, 1) * std::max<std::int64_t>(o.batches, 1);
    o.bytes.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes_for(o.element, elements), 1)));
  }
}

void Operands::add_matrices() {
  const GemmOptions& o = asked_.options;
  const auto matrix = [&](const char* name, ElementType element, bool rows, std::int64_t m, std::int64_t n) {
    if (element == ElementType::void_) return;
    Operand operand{.name = name, .element = element, .rows = rows};
    operand.length = rows ? n : m;
    operand.lines = rows ? m : n;
    operand.written = operand.name == "D";
    if (operand.written && asked_.scatters()) operand.lines = asked_.rows_of_d();
    const bool input = operand.name == "A" || operand.name == "B";
    const bool of_b = operand.name == "B" || operand.name == "scale_b";
    const bool shared = asked_.along_m() ? !of_b : asked_.along_k() && input;
    operand.batches = shared ? 1 : asked_.batch;
    add(operand);
  };
  matrix("A", o.a, o.major_a == Major::K, asked_.rows_of_a(), asked_.k);
  matrix("B", o.b, o.major_b == Major::K, asked_.n, asked_.k);
  matrix("C", o.c, !is_m_major(o.layout_c), asked_.m, asked_.columns_of_d());
  if (asked_.graph.d >= 0) matrix("D", o.d, !is_m_major(o.layout_d), asked_.m, asked_.columns_of_d());
  const auto scales = [&](const char* name, ScaleMode mode, std::int64_t rows) {
    if (mode == ScaleMode::none) return;
    matrix(name, ElementType::f32, mode == ScaleMode::block, scale_rows(mode, rows), scale_blocks(asked_.k));
    all_.back().scale = true;
  };
  scales("scale_a", o.scale_a, asked_.rows_of_a());
  scales("scale_b", o.scale_b, asked_.n);
}

bool Operands::is_number(const fusion::Argument& a) const {
  if (a.kind == fusion::ArgumentKind::scalar) return true;
  return fusion::takes_number(a) &&
         std::any_of(scalars_.begin(), scalars_.end(), [&](const Scalar& s) { return s.name == a.name.text; });
}

void Operands::add_arguments() {
  for (int i = 0; i < asked_.graph.argument_count; ++i) {
    const fusion::Argument& a = asked_.graph.arguments[i];
    if (is_number(a)) continue;
    Operand operand{.name = a.name.text, .element = a.element, .rows = a.row_major, .written = is_output(a.kind)};
    operand.argument = i;
    const bool tensor = fusion::is_matrix(a);
    const bool of_row = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool of_column = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    if (tensor) {
      const fusion::MatrixExtents of = fusion::extents_of(a, asked_.m, asked_.columns_of_d());
      operand.length = a.row_major ? of.columns : of.rows;
      operand.lines = a.row_major ? of.rows : of.columns;
      operand.batches = asked_.along_m() ? 1 : asked_.batch;
    } else {
      operand.rows = true;
      operand.length = of_row ? asked_.columns_of_d() : of_column ? asked_.m : 1;
      if (asked_.along_m() && of_row) operand.batches = asked_.batch;
    }
    add(operand);
  }
}

// Where groups begin, or how many rows they have; on the device as the matrices are.
void Operands::add_groups() {
  if (asked_.options.groups == GemmGrouping::none) return;
  const std::int64_t count = asked_.batch + (asked_.capacity > 0 ? 0 : 1);
  add({.name = kGroups, .element = ElementType::s32, .length = count});
}

void Operands::add_index() {
  const std::int64_t batches = asked_.along_m() ? 1 : asked_.batch;
  const auto index = [&](const char* name) {
    add({.name = name, .element = ElementType::s32, .length = asked_.m, .batches = batches});
  };
  if (asked_.options.gather_a) index(kIndex);
  if (asked_.scatters()) index(kScatter);
}

// Any rows, in any order, some of them several times.
void Operands::write_index(std::uint64_t seed) {
  for (Operand& o : all_) {
    if (o.name != kIndex) continue;
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < o.length * o.batches; ++i) {
      const auto rows = static_cast<std::uint64_t>(std::max<std::int64_t>(asked_.gather_rows, 1));
      const auto row = static_cast<std::int32_t>(random() % rows);  // of no rows: row 0, which does not exist
      std::memcpy(o.bytes.data() + static_cast<std::size_t>(i) * sizeof row, &row, sizeof row);
    }
  }
  // Rows of D: each once at most.
  for (Operand& o : all_) {
    if (o.name != kScatter) continue;
    std::mt19937_64 random(seed + 1);
    std::vector<std::int32_t> rows(static_cast<std::size_t>(asked_.scatter_rows));
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
    for (std::int64_t g = 0; g < asked_.batch + (asked_.capacity > 0 ? 0 : 1); ++g) {
      const auto at = static_cast<std::size_t>(g);
      const std::int64_t value = asked_.capacity > 0       ? asked_.groups[at]
                                 : !asked_.offsets.empty() ? asked_.offsets[at]
                                 : g < asked_.batch        ? first_line(g)
                                                           : spans_.back().begin + spans_.back().count;
      numbers.push_back(static_cast<std::int32_t>(value));
    }
    std::memcpy(o.bytes.data(), numbers.data(), numbers.size() * sizeof(std::int32_t));
  }
}

Status Operands::wrong_on_device() const {
  std::vector<StatusReason> found;
  const auto add = [&found](const auto& one, std::int64_t at) {
    found.push_back({.rule = entry_of(one.rule).name, .actual = at, .sentence = describe(one).c_str()});
  };
  const Operand* const groups = find(kGroups);
  if (groups != nullptr && !groups->holds_addresses) {  // lines of a file are checked when it is read
    const std::vector<std::int32_t> numbers = indices(kGroups);
    const GroupedLines lines{asked_.options.groups, asked_.along_m() ? asked_.m : asked_.k};
    for (const GroupFinding& one : asked_.capacity > 0 ? check_counts(numbers.data(), asked_.batch, asked_.capacity)
                                                       : check_offsets(numbers.data(), asked_.batch, lines)) {
      add(one, one.group);
    }
  }
  const auto check = [&](const char* name, IndexedMatrix of) {
    const std::vector<std::int32_t> index = indices(name);
    const std::int64_t batches = asked_.along_m() ? 1 : asked_.batch;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      of.batch = batches > 1 ? batch : -1;
      for (const IndexFinding& one : check_index(index.data() + batch * asked_.m, spans_, of)) add(one, one.row);
    }
  };
  const GemmOptions& o = asked_.options;
  if (o.gather_a) check(kIndex, {.operand = 'A', .rows = asked_.gather_rows});
  if (asked_.scatters()) check(kScatter, {.operand = 'D', .rows = asked_.scatter_rows, .scatter = o.scatter_d});
  constexpr std::size_t kMostNamed = 16;
  const std::size_t all = found.size();
  found.resize(std::min(all, kMostNamed));
  if (all > kMostNamed) {
    found.push_back({.rule = to_text(runtime::RuntimeRule::findings_left_out),
                     .actual = static_cast<std::int64_t>(all - kMostNamed),
                     .sentence = fmt::format("{} more are wrong", all - kMostNamed)});
  }
  return Status(std::move(found));
}

std::vector<std::int32_t> Operands::indices(const char* name) const {
  const Operand& operand = *find(name);
  std::vector<std::int32_t> out(static_cast<std::size_t>(operand.length * operand.batches));
  std::memcpy(out.data(), operand.bytes.data(), out.size() * sizeof(std::int32_t));
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
    if (operand.written) std::fill(operand.bytes.begin(), operand.bytes.end(), poison_of(operand));
  }
}

std::uint8_t Operands::poison_of(const Operand& operand) const {
  // What is added to begins as zeros.
  const RowScatter scatter = asked_.options.scatter_d;
  const bool adds =
      asked_.options.split == SplitMode::reduce_add || scatter == RowScatter::add || scatter == RowScatter::ordered;
  return operand.argument < 0 && adds ? 0x00 : 0xA5;
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
  GemmCall out{.m = asked_.m, .n = asked_.n, .k = asked_.k, .batch = asked_.batch};
  if (asked_.is_array()) return call_of_array(addresses);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument >= 0) {
      const bool tensor = fusion::is_matrix(asked_.graph.arguments[o.argument]);
      const bool batched = tensor || o.batches > 1;
      out.arguments.add(
          {o.name.c_str(), addresses[i], tensor ? o.stride : kPacked, batched ? o.batch_stride : kPacked});
      continue;
    }
    if (o.scale) {
      (o.name == "scale_a" ? out.scale_a : out.scale_b) = o.scales(addresses[i]);
    } else if (o.name == kGroups) {
      const auto* const numbers = static_cast<const std::int32_t*>(addresses[i]);
      (asked_.capacity > 0 ? out.groups.counts : out.groups.offsets) = numbers;
    } else if (o.name == kIndex) {
      out.gather = {static_cast<const std::int32_t*>(addresses[i]), asked_.gather_rows};
    } else if (o.name == kScatter) {
      out.scatter = {static_cast<const std::int32_t*>(addresses[i]), asked_.scatter_rows};
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
  if (asked_.is_array()) return arguments_of(call_of_array(addresses), asked_.graph);
  fusion::FusionArguments out(asked_.graph);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.argument < 0) continue;
    const bool tensor = fusion::is_matrix(asked_.graph.arguments[o.argument]);
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

// Of the rows that an operand has along M, those that are read or written in a matrix, or on average in each of a
// batch.
double Operands::used_rows(const Operand& o) const {
  std::int64_t used = 0;
  for (const GroupSpan& span : spans_) used += span.count;
  if (asked_.along_k()) return static_cast<double>(asked_.m);
  const bool of_a = o.argument < 0 && (o.name == "A" || o.name == "scale_a");
  if (!of_a || !asked_.options.gather_a) return static_cast<double>(used);
  // Each row once, however many times the index names it.
  const std::vector<std::int32_t> index = indices(kIndex);
  const std::int64_t batches = static_cast<std::int64_t>(index.size()) / std::max<std::int64_t>(asked_.m, 1);
  std::int64_t all = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::vector<bool> named(static_cast<std::size_t>(asked_.gather_rows));
    for (const GroupSpan& span : spans_) {
      for (std::int64_t row = span.begin; row < span.begin + span.count; ++row) {
        const std::int32_t from = index[static_cast<std::size_t>(batch * asked_.m + row)];
        if (from >= 0 && from < asked_.gather_rows) named[static_cast<std::size_t>(from)] = true;
      }
    }
    all += std::count(named.begin(), named.end(), true);
  }
  return static_cast<double>(all) / static_cast<double>(std::max<std::int64_t>(batches, 1));
}

double Operands::traffic() const {
  double bytes = 0;
  const auto empty = static_cast<std::int64_t>(std::count(asked_.groups.begin(), asked_.groups.end(), 0));
  for (const Operand& o : all_) {
    if (o.holds_addresses) continue;
    const double all = static_cast<double>(bytes_for(o.element, o.length)) * static_cast<double>(o.lines);
    const std::int64_t rows = rows_along_m(o);
    // An empty group reads no weights.
    const bool of_groups = asked_.along_m() && rows == 0 && o.batches > 1;
    const double part = rows == 0 ? 1 : used_rows(o) / static_cast<double>(rows);
    bytes += all * part * static_cast<double>(o.batches - (of_groups ? empty : 0));
  }
  return bytes;
}

// How many rows an operand has that are rows of A or of D; 0: it has none.
std::int64_t Operands::rows_along_m(const Operand& o) const {
  if (!o.parts.empty() || o.name == kGroups) return 0;
  const std::int64_t along = o.rows ? o.lines : o.length;
  if (o.name == kIndex || o.name == kScatter) return o.length;
  if (o.argument < 0) return o.name == "B" || o.name == "scale_b" ? 0 : along;
  const fusion::Argument& a = asked_.graph.arguments[o.argument];
  if (fusion::is_tensor(a.kind)) return along;
  if (fusion::is_partial(a)) return 0;
  const bool column = a.kind == fusion::ArgumentKind::column ||
                      (a.kind == fusion::ArgumentKind::reduction && a.extent == fusion::Extent::column);
  return column ? o.length : 0;
}

}  // namespace gantry::tool
