// What explanations of plans are made of: objections, steps, fields of the tensor map, and advice.
//
// Host code: explanations are text, and text is std::string.
//
// Example:
//     gantry::TmaDescriptorParams map{.data_type = gantry::TmaDataType::bf16, .rank = 2, .dims = {8192, 4096},
//                                     .strides = {16384}, .box = {64, 128}};
//     const std::vector<gantry::TmaFieldText> fields = gantry::explain_fields(map);
//     // fields[3].name == "dims", fields[3].value == "(8192, 4096)"
#pragma once

#include <string>
#include <vector>

#include <gantry/tma/detail/explain_text.hpp>
#include <gantry/tma/operations.hpp>
#include <gantry/tma/rules.hpp>

namespace gantry {

// Why a plan does not run: the name of the rule, and a sentence with the value that breaks it and the nearest that does
// not.
struct TmaObjection {
  std::string rule;
  bool on_hopper_only = false;  // the plan stands by itself, and Hopper does not run it
  std::string sentence;
};

// A value on the way to the plan: its name in the code, what it is in plain words, and the value.
struct TmaStepText {
  std::string name;
  std::string what;
  std::string value;
};

// An argument of the tensor map: its name here, its value, and what the value means.
struct TmaFieldText {
  std::string name;
  std::string value;
  std::string meaning;
};

// What a good engineer would say of a plan that runs. A warning costs time or memory; a note is something to know.
enum class TmaAdviceLevel : std::uint8_t { warning, note };

GANTRY_HD constexpr const char* to_text(TmaAdviceLevel level) noexcept {
  return level == TmaAdviceLevel::warning ? "warning" : "note";
}

struct TmaAdvice {
  std::string name;  // a short name that stays the same, for programs
  TmaAdviceLevel level = TmaAdviceLevel::note;
  std::string what;
  std::string why;
  std::string change;
};

// The opcode of the instruction that runs an operation on a map of some rank.
inline std::string ptx_name(TmaOp op, int rank) {
  const std::string dims = '.' + std::to_string(rank) + 'd';
  const std::string mode = is_im2col(op) ? (writes_global(op) ? ".im2col_no_offs" : ".im2col") : ".tile";
  if (is_prefetch(op)) return "cp.async.bulk.prefetch.tensor" + dims + ".L2.global" + mode;
  if (is_reduce(op)) {
    const std::string name = to_text(op);
    return "cp.reduce.async.bulk.tensor" + dims + ".global.shared::cta." + name.substr(name.find('_') + 1) + mode +
           ".bulk_group";
  }
  if (is_store(op)) return "cp.async.bulk.tensor" + dims + ".global.shared::cta" + mode + ".bulk_group";
  return "cp.async.bulk.tensor" + dims + ".shared::cluster.global" + mode + ".mbarrier::complete_tx::bytes" +
         (is_multicast(op) ? ".multicast::cluster" : "");
}

// Bytes of one row of the box, which is contiguous in global memory, and of the whole box. Of packed types too, which
// have no whole bytes of their own.
GANTRY_HD constexpr std::int64_t inner_bytes(const TmaDescriptorParams& p) noexcept {
  if (p.interleave != TmaInterleave::none) {
    return static_cast<std::int64_t>(slice_bytes(p) * (p.mode == TmaMode::im2col ? 1 : box_positions(p, 0)));
  }
  const std::uint64_t elements = p.mode == TmaMode::im2col ? p.channels_per_pixel : box_positions(p, 0);
  return static_cast<std::int64_t>(elements * static_cast<std::uint64_t>(element_bits(p.data_type)) / 8);
}
GANTRY_HD constexpr std::int64_t box_bytes(const TmaDescriptorParams& p) noexcept {
  if (p.interleave != TmaInterleave::none) return static_cast<std::int64_t>(transaction_bytes(p));
  std::uint64_t rows = p.mode == TmaMode::im2col ? p.pixels_per_column : 1;
  for (int i = 1; p.mode == TmaMode::tiled && i < clamped_rank(p); ++i) rows *= box_positions(p, i);
  return inner_bytes(p) * static_cast<std::int64_t>(rows);
}

// Which extents and strides of a map are known: of one that is not bound to a tensor yet, those of static leaves.
struct TmaKnownDims {
  bool dims[kTmaMaxRank] = {true, true, true, true, true};
  bool strides[kTmaMaxRank - 1] = {true, true, true, true};
};

namespace tma_detail {

// "(64, ?)"; "?" where nothing is known.
inline std::string known_list(const std::uint64_t* values, const bool* known, int n) {
  std::string out = "(";
  bool any = n == 0;
  for (int i = 0; i < n; ++i) {
    out.append(i > 0 ? ", " : "").append(known[i] ? number(values[i]) : "?");
    any = any || known[i];
  }
  return any ? out + ')' : "?";
}

inline bool all_known(const bool* known, int n) {
  for (int i = 0; i < n; ++i) {
    if (!known[i]) return false;
  }
  return true;
}

}  // namespace tma_detail

// The arguments of the tensor map, in the order of the driver's encoder.
inline std::vector<TmaFieldText> explain_fields(const TmaDescriptorParams& p, const TmaKnownDims& known = {}) {
  using tma_detail::hexadecimal;
  using tma_detail::list_of;
  using tma_detail::number;
  const int rank = clamped_rank(p);
  const bool im2col = p.mode == TmaMode::im2col;
  std::vector<TmaFieldText> out;
  out.push_back({"data_type", to_text(p.data_type), driver_name(p.data_type)});
  out.push_back(
      {"rank", number(p.rank), im2col ? "dimensions: channels, pixels along each axis, images" : "dimensions"});
  out.push_back(
      {"address", hexadecimal(p.address), p.address == 0 ? "not given yet" : "of the tensor's first element"});
  const auto later = [](bool all) { return all ? "" : "; known when a tensor is bound"; };
  const int strided = rank > 0 ? rank - 1 : 0;
  out.push_back({"dims", tma_detail::known_list(p.dims, known.dims, rank),
                 std::string("elements, innermost first") + later(tma_detail::all_known(known.dims, rank))});
  out.push_back({"strides", tma_detail::known_list(p.strides, known.strides, strided),
                 std::string("bytes, of dimension 1 and up") + later(tma_detail::all_known(known.strides, strided))});
  if (im2col) {
    out.push_back({"lower_corner", list_of(p.lower_corner, spatial_rank(p)), "first pixel of the box along W, H, D"});
    out.push_back(
        {"upper_corner", list_of(p.upper_corner, spatial_rank(p)), "last pixel of the box, from the tensor's last"});
    out.push_back({"channels_per_pixel", number(p.channels_per_pixel), number(inner_bytes(p)) + " bytes in a row"});
    out.push_back({"pixels_per_column", number(p.pixels_per_column), "rows"});
  } else {
    out.push_back({"box", list_of(p.box, rank),
                   "elements of one instruction: " + number(inner_bytes(p)) + " bytes in a row, " +
                       number(box_bytes(p)) + " in all"});
  }
  out.push_back(
      {"element_strides", list_of(p.element_strides, rank), im2col ? "steps of the convolution" : "every element"});
  out.push_back({"interleave", to_text(p.interleave), "of channels in global memory"});
  out.push_back({"swizzle", to_text(p.swizzle), driver_name(p.swizzle)});
  out.push_back({"l2_promotion", to_text(p.l2_promotion), "granularity of L2 fetches"});
  out.push_back({"fill", to_text(p.fill), "for elements outside of the tensor"});
  return out;
}

}  // namespace gantry
