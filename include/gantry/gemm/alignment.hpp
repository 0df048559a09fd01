// Which of C, D and the auxiliary tensors of a call TMA can address, as the alignments of a request: those that it
// cannot are aligned to one element, and a design for that request has threads read and write them.
//
// TMA takes addresses, strides and batch strides of whole 16 bytes. It writes whole chunks of 16 bytes, so lines that
// are written end with one.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const GemmCall call{.m = 4096, .n = 50257, .k = 4096};  // D is packed: rows of 100514 bytes
//     const GemmOptions options = with_alignments({}, fusion::graph("d = acc"), call);  // options.align_d == 1
#pragma once

#include <cstring>

#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/gemm/call.hpp>
#include <gantry/gemm/options.hpp>
#include <gantry/tma/alignment.hpp>

namespace gantry {

namespace detail {

// A tensor of M x N: its lines, and where it begins.
struct TensorLines {
  ElementType element = ElementType::void_;
  bool rows = true;  // are contiguous
  bool written = false;
  const void* data = nullptr;
  std::int64_t stride = kPacked, batch_stride = kPacked;
};

inline bool tma_addresses(const TensorLines& x, const GemmExtents& e) {
  const int bits = element_bits(x.element);
  if (bits == 0) return true;
  const std::int64_t contiguous = x.rows ? e.n : e.m, lines = x.rows ? e.m : e.n;
  const GemmMatrix<const void> y =
      GemmMatrix<const void>(x.data, x.stride, x.batch_stride).with_strides(contiguous, lines);
  return is_tma_aligned(y.data) && (lines <= 1 || is_tma_aligned(y.stride, bits)) &&
         (e.batch <= 1 || is_tma_aligned(y.batch_stride, bits)) && (!x.written || is_tma_aligned(contiguous, bits));
}

inline const GemmCallArgument* argument_of(const GemmCall& call, const char* name) {
  for (int i = 0; i < call.arguments.count(); ++i) {
    if (call.arguments[i].name != nullptr && std::strcmp(call.arguments[i].name, name) == 0) return &call.arguments[i];
  }
  return nullptr;
}

}  // namespace detail

// The options with alignments of one element for what TMA cannot address. What they say already is kept. D that TMA
// adds to stays as it is: there is no other way to add.
inline GemmOptions with_alignments(GemmOptions o, const fusion::Graph& graph, const GemmCall& call) {
  GemmExtents e = call.extents();
  if (graph.gated()) e.n /= 2;  // of D, C and auxiliary tensors
  const bool along_m = o.groups == GemmGrouping::along_m;
  if (e.nothing_to_do() || o.groups == GemmGrouping::pointer_array) return o;
  if (along_m) e.batch = 1;  // groups of rows share C, D and auxiliary tensors
  const ElementType c = o.c == ElementType::void_ && graph.uses_source() ? o.d : o.c;
  const bool c_fits =
      detail::tma_addresses({c, !is_m_major(o.layout_c), false, call.c.data, call.c.stride, call.c.batch_stride}, e);
  const bool d_fits =
      detail::tma_addresses({o.d, !is_m_major(o.layout_d), true, call.d.data, call.d.stride, call.d.batch_stride}, e);
  if (o.align_c == 0 && !c_fits) o.align_c = 1;
  const bool slots = o.scatter_d == RowScatter::ordered;  // are what the kernel stores
  if (o.align_d == 0 && graph.d >= 0 && !d_fits && !slots && o.split != SplitMode::reduce_add) o.align_d = 1;
  for (int i = 0; o.align_aux == 0 && i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (!fusion::is_auxiliary(a) || fusion::is_mask(a) || fusion::is_by_block(a)) continue;
    detail::TensorLines x{a.element, a.row_major, fusion::is_output(a.kind)};
    if (const GemmCallArgument* given = detail::argument_of(call, a.name.text)) {
      x.data = given->data;
      x.stride = given->stride;
      x.batch_stride = given->batch_stride;
    }
    if (!detail::tma_addresses(x, e)) o.align_aux = 1;
  }
  return o;
}

// Designs for these two requests address the same tensors by TMA.
inline bool same_access(const GemmOptions& x, const GemmOptions& y) {
  return direct_c(x) == direct_c(y) && direct_d(x) == direct_d(y) && x.align_aux == y.align_aux;
}

}  // namespace gantry
