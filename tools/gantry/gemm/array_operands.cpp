// The operands of a pointer array: those of all GEMMs lie one after another in one piece of memory for each matrix and
// argument, and arrays of their addresses beside them.
#include <algorithm>
#include <cstring>

#include <gantry/gemm/pointer_array.hpp>
#include <gantry/gemm/reference.hpp>

#include "gemm/comparison.hpp"

namespace gantry::tool {

namespace {

bool is_vector(const fusion::Argument& a) {
  return a.kind == fusion::ArgumentKind::row || a.kind == fusion::ArgumentKind::column;
}

// The array of an argument's addresses among the operands.
std::string array_name(const std::string& argument) { return "(" + argument + ")"; }

const void* at_part(const std::vector<Operand>& all, const std::vector<void*>& addresses, const std::string& name,
                    std::size_t gemm, std::int64_t* stride = nullptr) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name != name || all[i].parts.empty()) continue;
    const Operand::Part& part = all[i].parts[gemm];
    if (stride != nullptr) *stride = part.stride;
    return static_cast<const std::uint8_t*>(addresses[i]) + bytes_for(all[i].element, part.begin);
  }
  return nullptr;
}

}  // namespace

// `rows`, element and name are set. A and B are M x K and N x K, others M x N; of a vector one line.
void Operands::add_parts(Operand operand, bool of_k) {
  const std::int64_t chunk = 128 / info(operand.element).bits;
  const bool vector = operand.argument >= 0 && is_vector(asked_.graph.arguments[operand.argument]);
  const bool row = vector && asked_.graph.arguments[operand.argument].kind == fusion::ArgumentKind::row;
  std::int64_t all = 0;
  for (const GemmExtents& e : asked_.gemms) {
    const std::int64_t first = operand.name == "B" && of_k ? e.n : e.m, second = of_k ? e.k : e.n;
    Operand::Part part{.begin = all};
    part.length = vector ? (row ? e.n : e.m) : operand.rows ? second : first;
    part.lines = vector ? 1 : operand.rows ? first : second;
    part.stride = std::max<std::int64_t>(1, (part.length + chunk - 1) / chunk) * chunk;
    all += part.stride * part.lines;
    operand.parts.push_back(part);
  }
  operand.length = operand.stride = all;
  all_.push_back(operand);
}

void Operands::add_array() {
  const GemmOptions& o = asked_.options;
  add_parts({.name = "A", .element = o.a, .rows = o.major_a == Major::K}, true);
  add_parts({.name = "B", .element = o.b, .rows = o.major_b == Major::K}, true);
  if (o.c != ElementType::void_) add_parts({.name = "C", .element = o.c, .rows = !is_m_major(o.layout_c)}, false);
  if (asked_.graph.d >= 0) {
    add_parts({.name = "D", .element = o.d, .rows = !is_m_major(o.layout_d), .written = true}, false);
  }
  const auto add_addresses = [&](const std::string& name, std::size_t bytes) {
    add({.name = name, .element = ElementType::u8, .length = asked_.batch * static_cast<std::int64_t>(bytes)});
    all_.back().holds_addresses = true;
  };
  for (int i = 0; i < asked_.graph.argument_count; ++i) {
    const fusion::Argument& a = asked_.graph.arguments[i];
    if (is_number(a)) continue;
    Operand operand{.name = a.name.text, .element = a.element, .rows = a.row_major, .written = is_output(a.kind)};
    operand.argument = i;
    if (a.kind == fusion::ArgumentKind::reduction) {  // one number for each GEMM
      operand.length = 1;
      operand.batches = asked_.batch;
      add(operand);
      continue;
    }
    add_parts(operand, false);
    add_addresses(array_name(operand.name), is_vector(a) ? sizeof(void*) : sizeof(GemmGroupTensor));
  }
  add_addresses(kGroups, sizeof(GemmGroup));
}

std::vector<std::uint8_t> Operands::address_bytes(const Operand& operand, const std::vector<void*>& addresses) const {
  std::vector<std::uint8_t> out(operand.bytes.size());
  const auto write = [&](std::size_t gemm, const auto& value) {
    std::memcpy(out.data() + gemm * sizeof value, &value, sizeof value);
  };
  for (std::size_t g = 0; g < asked_.gemms.size(); ++g) {
    const GemmExtents& e = asked_.gemms[g];
    if (operand.name == kGroups) {
      GemmGroup gemm{.m = static_cast<std::int32_t>(e.m),
                     .n = static_cast<std::int32_t>(e.n),
                     .k = static_cast<std::int32_t>(e.k)};
      gemm.a = at_part(all_, addresses, "A", g, &gemm.stride_a);
      gemm.b = at_part(all_, addresses, "B", g, &gemm.stride_b);
      gemm.c = at_part(all_, addresses, "C", g, &gemm.stride_c);
      gemm.d = const_cast<void*>(at_part(all_, addresses, "D", g, &gemm.stride_d));  // NOLINT: it is written
      write(g, gemm);
      continue;
    }
    for (const Operand& o : all_) {
      if (o.argument < 0 || array_name(o.name) != operand.name) continue;
      std::int64_t stride = 0;
      void* const data = const_cast<void*>(at_part(all_, addresses, o.name, g, &stride));  // NOLINT: inputs stay so
      if (is_vector(asked_.graph.arguments[o.argument])) {
        write(g, data);
      } else {
        write(g, GemmGroupTensor{data, stride});
      }
    }
  }
  return out;
}

GemmCall Operands::call_of_array(const std::vector<void*>& addresses) const {
  GemmCall out{.m = asked_.m, .n = asked_.n, .k = asked_.k, .batch = asked_.batch};
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Operand& o = all_[i];
    if (o.name == kGroups) out.groups.gemms = static_cast<const GemmGroup*>(addresses[i]);
    if (o.argument < 0) continue;
    if (o.parts.empty()) {
      out.arguments.add({o.name.c_str(), addresses[i], kPacked, o.batch_stride});
      continue;
    }
    for (std::size_t j = 0; j < all_.size(); ++j) {
      if (all_[j].name == array_name(o.name)) out.arguments.add({o.name.c_str(), addresses[j]});
    }
  }
  for (const Scalar& scalar : scalars_) out.arguments.add({scalar.name.c_str(), scalar.value});
  return out;
}

// Rows [first, first + count) of one GEMM. `first` is a multiple of 8: packed elements of columns begin at bytes.
void Operands::verify_gemm(std::int64_t gemm, std::int64_t first, std::int64_t count, Verification& out) const {
  const auto g = static_cast<std::size_t>(gemm);
  const GemmExtents& e = asked_.gemms[g];
  GemmReferenceProblem p;
  p.shape = {.m = count, .n = e.n, .batch = 1};
  p.first_row = first;
  p.first_batch = gemm;
  p.k = e.k;
  p.d_element = asked_.options.d;
  p.promote = asked_.options.promotes();
  const auto tensor = [&](const Operand& o, std::int64_t rows) {
    const Operand::Part& part = o.parts[g];
    fusion::ReferenceTensor x{o.element, nullptr, o.rows ? part.stride : 1, o.rows ? 1 : part.stride, 0};
    x.data = o.bytes.data() + bytes_for(o.element, part.begin + rows * x.stride_m);
    return x;
  };
  fusion::FusionArguments args(asked_.graph);
  for (const Operand& o : all_) {
    if (o.holds_addresses) continue;
    if (o.argument < 0) {
      if (o.name == "A") p.a = tensor(o, first);
      if (o.name == "B") p.b = tensor(o, 0);
      if (o.name == "C") p.source = tensor(o, first);
      continue;
    }
    const fusion::Argument& a = asked_.graph.arguments[o.argument];
    auto* const bytes = const_cast<std::uint8_t*>(o.bytes.data());  // NOLINT: inputs stay so
    auto slot = args[o.name.c_str()];
    if (o.parts.empty()) {
      slot = static_cast<void*>(bytes + bytes_for(o.element, gemm * o.batch_stride));
    } else if (fusion::is_tensor(a.kind)) {
      slot.tensor(const_cast<void*>(tensor(o, first).data), o.parts[g].stride);  // NOLINT: inputs stay so
    } else {
      const std::int64_t begin = o.parts[g].begin + (a.kind == fusion::ArgumentKind::column ? first : 0);
      slot = static_cast<void*>(bytes + bytes_for(o.element, begin));
    }
  }
  for (const Scalar& scalar : scalars_) args[scalar.name.c_str()] = scalar.value;
  const fusion::ReferenceResult expected = gemm_reference(asked_.graph, p, args);
  for (const Operand& o : all_) {
    if (!o.written) continue;
    Comparison comparison(out, fmt::format("{} of GEMM {}", o.name, gemm));
    if (o.argument < 0) {
      comparison.compare(expected.d, tensor(o, first), expected.shape, first);
    } else if (!o.parts.empty()) {
      comparison.compare(expected.outputs[o.argument], tensor(o, first), expected.shape, first);
    } else if (count == e.m) {
      const fusion::ReferenceTensor one{o.element, o.bytes.data() + bytes_for(o.element, gemm * o.batch_stride)};
      comparison.compare(expected.outputs[o.argument], one, {.m = 1, .n = 1}, 0);
    }
  }
}

// GEMM by GEMM; where all rows would take long, as many of the first and the last ones of each.
Verification Operands::verify_array(double asked_gemms, double elements) const {
  constexpr std::int64_t kBlock = 8;
  Verification out;
  double all_gemms = 0, all_elements = 0;
  for (const GemmExtents& e : asked_.gemms) {
    const double of_d = static_cast<double>(e.m) * static_cast<double>(e.n);
    all_elements += of_d;
    all_gemms += of_d * static_cast<double>(e.k);
  }
  const double share = std::min(asked_gemms / std::max(all_gemms, 1.0), elements / std::max(all_elements, 1.0));
  for (std::int64_t g = 0; g < asked_.batch; ++g) {
    const GemmExtents& e = asked_.gemms[static_cast<std::size_t>(g)];
    if (e.m == 0 || e.n == 0) continue;
    const auto count =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(e.m) / 2), 1, e.m);
    const std::int64_t last = (e.m - count) / kBlock * kBlock;
    if (share >= 1 || last <= count) {
      verify_gemm(g, 0, e.m, out);
      continue;
    }
    verify_gemm(g, 0, count, out);
    verify_gemm(g, last, std::min(count, e.m - last), out);
    out.part = "the first and the last rows of each GEMM";
  }
  return out;
}

}  // namespace gantry::tool
