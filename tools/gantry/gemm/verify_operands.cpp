// What was written, against the reference: the rows of each group, and the rows that no group has.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include <gantry/gemm/group_check.hpp>
#include <gantry/gemm/reference.hpp>

#include "gemm/comparison.hpp"
#include "gemm/operands.hpp"

namespace gantry::tool {

// A block of rows of D, of a group, or of all batches where that is negative.
struct Operands::Rows {
  std::int64_t first = 0, count = 0;
  std::int64_t group = -1;
  std::int64_t k_first = 0, k = 0;
  bool whole = false;                           // all rows of the group or of the GEMM: reductions can be compared
  std::vector<fusion::Range>* parts = nullptr;  // by argument: reductions over groups, so far
};

namespace {

// Elements of a vector from `begin` on, from the first bit of a byte.
std::vector<std::uint8_t> packed_from(const Operand& o, std::int64_t begin, std::int64_t count) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bytes_for(o.element, count)) + 1);
  for (std::int64_t i = 0; i < count; ++i) {
    store_from_double(o.element, out.data(), i, load_as_double(o.element, o.bytes.data(), begin + i));
  }
  return out;
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
  const fusion::Argument& a = asked_.graph.arguments[o.argument];
  if (fusion::is_tensor(a.kind)) return batch + rows.first * line;
  const bool along_m = a.kind == fusion::ArgumentKind::column ||
                       (a.kind == fusion::ArgumentKind::reduction && a.extent == fusion::Extent::column);
  return batch + (along_m ? rows.first : 0);
}

std::vector<std::uint8_t> Operands::by_index(const Operand& matrix, const char* name, const Rows& rows) const {
  const Operand& index = *find(name);
  const auto row_bytes = static_cast<std::size_t>(bytes_for(matrix.element, matrix.length));
  const std::int64_t batches = rows.group < 0 ? asked_.batch : 1;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(batches * rows.count) * row_bytes);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      std::int32_t row = 0;
      const std::int64_t at = batch * asked_.m + rows.first + i;
      std::memcpy(&row, index.bytes.data() + static_cast<std::size_t>(at) * sizeof row, sizeof row);
      if (row < 0 || row >= matrix.lines) continue;
      std::memcpy(out.data() + static_cast<std::size_t>(batch * rows.count + i) * row_bytes,
                  matrix.bytes.data() + bytes_for(matrix.element, batch * matrix.batch_stride + row * matrix.stride),
                  row_bytes);
    }
  }
  return out;
}

// Of the rows of A that an index names, block by block of K; 1 for those that are not there.
std::vector<float> Operands::scales_by_index(const GemmScale& scales, const Rows& rows) const {
  const std::vector<std::int32_t> index = indices(kIndex);
  const std::int64_t blocks = scale_blocks(asked_.k), batches = rows.group < 0 ? asked_.batch : 1;
  std::vector<float> out(static_cast<std::size_t>(batches * rows.count * blocks), 1.0F);
  for (std::int64_t i = 0; i < batches * rows.count; ++i) {
    const std::int64_t batch = i / rows.count, at = batch * asked_.m + rows.first + i % rows.count;
    const std::int32_t row = index[static_cast<std::size_t>(at)];
    if (row < 0 || row >= asked_.gather_rows) continue;
    for (std::int64_t k = 0; k < blocks; ++k) {
      out[static_cast<std::size_t>(i * blocks + k)] =
          scales.data[batch * scales.batch_stride + row * scales.stride + k * scales.k_stride];
    }
  }
  return out;
}

// What the reference takes of a block of rows, and copies of what it cannot read in place.
struct Operands::Block {
  const Rows& rows;
  GemmReferenceProblem problem{};
  std::vector<void*> addresses{};  // by operand
  std::deque<std::vector<std::uint8_t>> copies{};
  std::deque<std::vector<float>> scales{};
};

void Operands::verify_rows(const Rows& rows, Verification& out) const {
  Block block{.rows = rows};
  GemmReferenceProblem& p = block.problem;
  p.shape = {.m = rows.count, .n = asked_.n, .batch = rows.group < 0 ? asked_.batch : 1};
  p.first_row = rows.first;
  p.first_batch = asked_.along_k() ? std::max<std::int64_t>(rows.group, 0) : 0;
  p.k = rows.k;
  p.d_element = asked_.options.d;
  p.gate = asked_.options.gate;
  p.promote = asked_.options.promotes();
  p.mode_a = asked_.options.scale_a;
  p.mode_b = asked_.options.scale_b;
  for (const Operand& o : all_) {
    if (o.scale) {
      take_scales(o, block);
    } else if (o.argument < 0) {
      take_matrix(o, block);
    }
    take_address(o, block);
  }
  const fusion::FusionArguments args = arguments(block.addresses);
  const fusion::ReferenceResult expected = gemm_reference(asked_.graph, p, args);
  for (const Operand& o : all_) {
    if (!o.written) continue;
    const bool matrix = o.argument < 0;
    if (matrix || asked_.graph.arguments[o.argument].kind != fusion::ArgumentKind::reduction) {
      compare_rows(o, rows, expected, out);
    } else if (rows.whole && is_of_all_groups(o)) {
      gantry::detail::combine(expected.outputs[o.argument], fusion::reduction_of(asked_.graph, o.argument),
                              rows.parts[o.argument]);
    } else if (rows.whole) {
      const fusion::ResolvedArguments values = args.resolved(expected.shape);
      Comparison(out, o.name)
          .compare(expected.outputs[o.argument], detail::output_tensor(asked_.graph, values, o.argument),
                   detail::output_shape(asked_.graph, values, o.argument, expected.shape), 0);
    }
  }
}

fusion::ReferenceTensor Operands::tensor_of(const Operand& o, const Rows& rows) const {
  fusion::ReferenceTensor tensor = o.tensor();
  tensor.data = o.bytes.data() + bytes_for(o.element, begin_of(o, rows));
  return tensor;
}

void Operands::take_matrix(const Operand& o, Block& block) const {
  if (o.name == "A" && asked_.options.gather_a) {
    const std::vector<std::uint8_t>& found = block.copies.emplace_back(by_index(o, kIndex, block.rows));
    block.problem.a = {o.element, found.data(), o.length, 1, block.rows.count * o.length};
  } else if (o.name == "A") {
    block.problem.a = tensor_of(o, block.rows);
  } else if (o.name == "B") {
    block.problem.b = tensor_of(o, block.rows);
  } else if (o.name == "C") {
    block.problem.source = tensor_of(o, block.rows);
  }
}

void Operands::take_scales(const Operand& o, Block& block) const {
  const Rows& rows = block.rows;
  GemmScale scale = o.scales(o.bytes.data());
  if (o.name == "scale_b") {
    if (rows.group > 0) scale.data += rows.group * scale.batch_stride;
    block.problem.scale_b = scale;
    return;
  }
  if (asked_.options.gather_a) {
    const std::vector<float>& found = block.scales.emplace_back(scales_by_index(scale, rows));
    const std::int64_t blocks = scale_blocks(asked_.k);
    scale = {found.data(), blocks, 1, rows.count * blocks};
  } else {
    scale.data += rows.first * scale.stride;  // each row has its own
  }
  block.problem.scale_a = scale;
}

void Operands::take_address(const Operand& o, Block& block) const {
  // None is given to the reference: A was gathered, D will be, and an index is no argument.
  const bool is_index = o.name == kIndex || o.name == kScatter;
  const bool apart = o.argument < 0 &&
                     (is_index || (asked_.options.gather_a && o.name == "A") || (asked_.scatters() && o.name == "D"));
  const std::int64_t begin = o.scale || apart ? 0 : begin_of(o, block.rows);
  if (begin * info(o.element).bits % 8 == 0) {
    block.addresses.push_back(const_cast<std::uint8_t*>(o.bytes.data()) + bytes_for(o.element, begin));
  } else {  // a column vector of packed elements, whose rows begin inside of a byte
    block.addresses.push_back(block.copies.emplace_back(packed_from(o, begin, block.rows.count)).data());
  }
}

// D, or a tensor that the epilogue writes.
void Operands::compare_rows(const Operand& o, const Rows& rows, const fusion::ReferenceResult& expected,
                            Verification& out) const {
  Comparison comparison(out, o.name);
  fusion::ProblemShape shape = expected.shape;
  if (o.argument >= 0) {
    shape.n = fusion::columns_of(asked_.graph.arguments[o.argument], shape.n);
    comparison.compare(expected.outputs[o.argument], tensor_of(o, rows), shape, rows.first);
  } else if (asked_.scatters()) {
    const std::vector<std::uint8_t> found = by_index(o, kScatter, rows);
    comparison.compare(expected.d, {o.element, found.data(), o.length, 1, rows.count * o.length}, shape, rows.first);
  } else {
    comparison.compare(expected.d, tensor_of(o, rows), shape, rows.first);
  }
}

// A reduction to which every group brings a part.
bool Operands::is_of_all_groups(const Operand& o) const {
  if (asked_.options.groups == GemmGrouping::none || o.argument < 0) return false;
  const fusion::Argument& a = asked_.graph.arguments[o.argument];
  if (a.kind != fusion::ArgumentKind::reduction || o.batches > 1) return false;
  return asked_.batch > 1 && (asked_.along_k() || a.extent == fusion::Extent::scalar);
}

Verification Operands::verify() const {
  // About a second's worth.
  constexpr double kBuiltIn = 1e9, kElements = 2e6;
  if (asked_.is_array()) return verify_array(kBuiltIn, kElements);
  Verification out = asked_.options.groups != GemmGrouping::none ? verify_groups(kBuiltIn, kElements)
                                                                 : verify_matrix(kBuiltIn, kElements);
  if (asked_.along_m() || (asked_.scatters() && !asked_.along_k())) verify_others(out);
  return out;
}

Verification Operands::verify_matrix(double asked_gemms, double elements) const {
  constexpr std::int64_t kBlock = 128;  // rows begin at whole bytes in every element type
  Verification out;
  const auto row = static_cast<double>(asked_.n) * static_cast<double>(asked_.batch);
  const double affordable =
      std::min(asked_gemms / std::max(1.0, row * static_cast<double>(asked_.k)), elements / std::max(1.0, row));
  if (static_cast<double>(asked_.m) <= std::max(affordable, 2.0)) {
    verify_rows({.count = asked_.m, .k = asked_.k, .whole = true}, out);
    return out;
  }
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(affordable / 2));
  const std::int64_t last = std::max(count, (asked_.m - count) / kBlock * kBlock);
  verify_rows({.count = count, .k = asked_.k}, out);
  verify_rows({.first = last, .count = std::min(count, asked_.m - last), .k = asked_.k}, out);
  out.part = fmt::format("rows 0 to {} and {} to {}", count - 1, last, last + std::min(count, asked_.m - last) - 1);
  return out;
}

// Group by group; where all rows would take long, as many of the first and the last ones of each.
Verification Operands::verify_groups(double asked_gemms, double elements) const {
  Verification out;
  const bool along_m = asked_.along_m();
  double all = 0;
  for (const std::int64_t size : asked_.groups) all += static_cast<double>(along_m ? size : asked_.m);
  const double row = static_cast<double>(std::max<std::int64_t>(asked_.n, 1));
  const double k = static_cast<double>(std::max<std::int64_t>(asked_.k, 1)) /
                   static_cast<double>(along_m ? 1 : std::max<std::int64_t>(asked_.batch, 1));
  const double affordable = std::min(asked_gemms / (row * std::max(k, 1.0)), elements / row);
  const double share = all > 0 ? std::min(1.0, affordable / all) : 1;
  std::vector<fusion::Range> parts[fusion::kMaxArguments];
  for (std::int64_t g = 0; g < asked_.batch; ++g) {
    const std::int64_t size = asked_.groups[static_cast<std::size_t>(g)];
    const std::int64_t begin = along_m ? first_line(g) : 0, count = along_m ? size : asked_.m;
    Rows rows{.first = begin, .count = count, .group = g, .k_first = along_m ? 0 : first_line(g)};
    rows.k = along_m ? asked_.k : size;
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

std::vector<bool> Operands::written_rows(const Operand& o, std::int64_t batch) const {
  const bool by_index = o.argument < 0 && asked_.scatters();
  std::vector<bool> out(static_cast<std::size_t>(by_index ? asked_.scatter_rows : asked_.m));
  const std::vector<std::int32_t> index = by_index ? indices(kScatter) : std::vector<std::int32_t>();
  for (const GroupSpan& span : spans_) {
    for (std::int64_t row = span.begin; row < span.begin + span.count; ++row) {
      const std::int64_t to = by_index ? index[static_cast<std::size_t>(batch * asked_.m + row)] : row;
      if (to >= 0 && to < static_cast<std::int64_t>(out.size())) out[static_cast<std::size_t>(to)] = true;
    }
  }
  return out;
}

void Operands::verify_others(Verification& out) const {
  for (const Operand& o : all_) {
    if (!o.written || (o.argument >= 0 && !fusion::is_tensor(asked_.graph.arguments[o.argument].kind))) continue;
    for (std::int64_t batch = 0; batch < o.batches; ++batch) {
      const std::vector<bool> written = written_rows(o, batch);
      for (std::size_t row = 0; row < written.size(); ++row) {
        if (!written[row]) verify_other_row(o, static_cast<std::int64_t>(row), batch, out);
      }
    }
  }
}

void Operands::verify_other_row(const Operand& o, std::int64_t m, std::int64_t batch, Verification& out) const {
  const std::uint8_t before = poison_of(o);
  const int bits = info(o.element).bits;
  const std::int64_t columns = o.rows ? o.length : o.lines;
  for (std::int64_t n = 0; n < columns; ++n) {
    // Elements of less than a byte lie in rows that begin at one: what else is in the byte is not written either.
    const auto* const first = o.bytes.data() + o.tensor().index(m, n, batch) * bits / 8;
    const auto* const last = first + std::max(bits / 8, 1);
    if (std::all_of(first, last, [&](std::uint8_t byte) { return byte == before; })) continue;
    if (out.wrong++ == 0) {
      const bool scattered = o.argument < 0 && asked_.scatters();
      out.first_wrong = fmt::format("{} at row {}, column {} was written, and {}", o.name, m, n,
                                    scattered ? "no row is scattered there" : "no group has that row");
    }
  }
}

}  // namespace gantry::tool
