// Why a TMA copy cannot be planned, or would not do on Hopper what its layouts say: the rules of planning as data.
//
// The rules of the tensor map itself are in `tma/violation.hpp`; these are the ones that come before it, when layouts
// become a box. A reason names the operand, the actual value and the nearest value that works.
//
// Example:
//     using namespace gantry;
//     constexpr TmaReason r{.rule = TmaPlanRule::stride_negative, .actual = -64, .nearest = 64};
//     static_assert(describe(r) ==
//                   "global mode 0 has stride -64: the strides of a tensor map are not negative; "
//                   "the nearest value that works is 64");
#pragma once

#include <gantry/tma/operands.hpp>
#include <gantry/tma/violation.hpp>

// X(id, weight, sentence). {actual}, {nearest}, {first} and {second} are the numbers of a reason, {mode} and {other}
// its modes, {fault} what a layout operation answered, {element} and {nearest element} types.
#define GANTRY_TMA_PLAN_RULES(X)                                                                                       \
  X(gmem_invalid, refused, "the global tensor has no valid layout: {fault}")                                           \
  X(smem_invalid, refused, "the shared memory has no valid layout: {fault}")                                           \
  X(element_without_format, refused,                                                                                   \
    "elements of type {element} have no form in a tensor map; the nearest type that works is {nearest element}")       \
  X(recast_width, refused,                                                                                             \
    "values of {actual} bits cannot be moved as TMA elements of {first} bits: one width must divide the other; the "   \
    "nearest width that works is {nearest}")                                                                           \
  X(recast_stride, refused,                                                                                            \
    "global mode {mode} has stride {actual}, and a TMA element holds {first} values: a stride is a whole number of "   \
    "TMA elements; the nearest value that works is {nearest}")                                                         \
  X(recast_extent, refused,                                                                                            \
    "an extent of {actual} values along the contiguous global mode is no whole number of TMA elements, which hold "    \
    "{first} values; the nearest value that works is {nearest}")                                                       \
  X(recast_needs_unit_stride, refused,                                                                                 \
    "values can be moved as {first} smaller TMA elements each only along a mode whose stride is 1 at compile time, "   \
    "and the global tensor has none: write its contiguous stride as _{nearest}")                                       \
  X(tiler_rank, refused,                                                                                               \
    "the tiler has {actual} modes and the global tensor {first}: a tiler has at most as many; the nearest value that " \
    "works is {nearest}")                                                                                              \
  X(tile_invalid, refused, "the tile cannot be taken out of the global shape: {fault}")                                \
  X(tile_dynamic, refused,                                                                                             \
    "the extent {actual} of the tile along global mode {mode} is a run-time value: a box is fixed when the kernel is " \
    "compiled, so tile extents and the modes a tile spans whole must be static; the nearest value that works is "      \
    "_{nearest}")                                                                                                      \
  X(smem_dynamic, refused,                                                                                             \
    "the extent {actual} of the shared layout is a run-time value: shared tiles have static extents; the nearest "     \
    "value that works is _{nearest}")                                                                                  \
  X(size_mismatch, refused,                                                                                            \
    "the shared layout has {actual} elements and the tile {first}: one copy fills the layout with the tile, so both "  \
    "have the same size; the nearest value that works is {nearest}")                                                   \
  X(smem_without_unit_stride, refused,                                                                                 \
    "the smallest static stride of the shared layout is {actual}: a box is dense, so some mode must have the static "  \
    "stride 1; the nearest value that works is _{nearest}")                                                            \
  X(shared_stride_negative, refused,                                                                                   \
    "a mode of the shared layout has stride {actual}: a box fills shared memory upwards, so its strides are not "      \
    "negative; the nearest value that works is {nearest}")                                                             \
  X(shared_overlaps, refused,                                                                                          \
    "a mode of stride {actual} of the shared layout steps inside the {first} elements that other modes reach over: "   \
    "elements of the tile would overwrite one another; the nearest value that works is {nearest}")                     \
  X(tile_steps_over_mode, refused,                                                                                     \
    "neighbours in shared memory are {actual} apart along global mode {mode}: a box takes neighbouring elements, so "  \
    "the tile must not step over the mode that runs along shared memory; the nearest step that works is {nearest}")    \
  X(major_mismatch, refused,                                                                                           \
    "shared memory runs along global mode {mode}, whose stride is {actual}: it must run along the mode of stride 1, "  \
    "which is mode {other}")                                                                                           \
  X(gmem_without_unit_stride, refused,                                                                                 \
    "shared memory runs along global mode {mode}, whose stride is {actual}: the innermost dimension of a tensor map "  \
    "is contiguous, and no global mode has stride 1; the nearest value that works is {nearest}")                       \
  X(stride_negative, refused,                                                                                          \
    "global mode {mode} has stride {actual}: the strides of a tensor map are not negative; the nearest value that "    \
    "works is {nearest}")                                                                                              \
  X(swizzle_without_format, refused,                                                                                   \
    "Sw<{actual},{first},{second}> on bytes is no swizzle of a tensor map: those are Sw<0..3,4,3>, Sw<2,5,2> and "     \
    "Sw<2,6,*>; the nearest that works is Sw<{nearest},4,3>")                                                          \
  X(operand_rank, refused,                                                                                             \
    "the tile and the cluster of a matrix product are (M,N,K), and one of them has {actual} modes; the nearest "       \
    "number that works is {nearest}")                                                                                  \
  X(merged_in_last_dimension, refused,                                                                                 \
    "box dimension {first} would hold a group of merged modes beside others: from the fifth dimension on modes are "   \
    "one group, and a mode of it is a single global mode; the nearest number of merged modes that works is {nearest}") \
  X(multicast_count, refused,                                                                                          \
    "{actual} CTAs are to share the copy: their number is known when it is planned, and at least 1; the nearest "      \
    "number that works is {nearest}")                                                                                  \
  X(multicast_needs_operation, refused,                                                                                \
    "{actual} CTAs share the copy, and the operation is no multicast load; the nearest number that works is "          \
    "{nearest}")                                                                                                       \
  X(multicast_not_dividing, refused,                                                                                   \
    "{actual} CTAs share extent {first} of box dimension {second}: one must divide the other; the nearest number of "  \
    "CTAs that works is {nearest}")                                                                                    \
  X(multicast_too_wide, refused,                                                                                       \
    "{actual} CTAs share a box of {first} elements: each takes at least one; the nearest number of CTAs that works "   \
    "is {nearest}")                                                                                                    \
  X(tile_not_reproduced, refused,                                                                                      \
    "global mode {mode} shares TMA dimension {first} with other modes: the tile steps {actual} elements along it "     \
    "where the box would step {second}, so the box would move other elements; the nearest tile extent along it that "  \
    "works is {nearest}")                                                                                              \
  X(tile_leaves_mode, refused,                                                                                         \
    "global mode {mode} of extent {actual} shares TMA dimension {first} with others, and a tile extent of {second} "   \
    "does not divide it: its last tile would run into elements of the other modes; the nearest extent that works is "  \
    "{nearest}")                                                                                                       \
  X(mode_without_coordinate, refused,                                                                                  \
    "global mode {mode} of extent {actual} has no TMA coordinate, since its extent is a static 1 or its stride a "     \
    "static 0, and a tile extent of {first} does not divide it: what lies outside would not be filled; the nearest "   \
    "tile extent that works is {nearest}")                                                                             \
  X(coordinate_step_too_large, refused,                                                                                \
    "one step along global mode {mode} is {actual} TMA coordinates: coordinates are signed 32-bit integers; the "      \
    "nearest value that works is {nearest}")                                                                           \
  X(bind_mismatch, refused,                                                                                            \
    "the plan was made for another global tensor: static leaves and nesting must be the same, and mode {mode} "        \
    "differs, {actual} where the plan has {nearest}")                                                                  \
  X(multicast_beyond_cluster, hopper,                                                                                  \
    "{actual} CTAs share the copy, and a multicast reaches at most {first}; the nearest number that works is "         \
    "{nearest}")                                                                                                       \
  X(shared_step_misaligned, hopper,                                                                                    \
    "the tile takes several instructions, and one starts {actual} bytes into the shared tile: the shared address of "  \
    "a tensor copy is a multiple of 128 bytes; the nearest value that works is {nearest}")                             \
  X(rows_padded, hopper,                                                                                               \
    "the innermost box extent spans {actual} bytes and the swizzle {first}: Hopper spaces rows by the span, so the "   \
    "tile would not lie as the shared layout says; the nearest inner extent in bytes that works is {nearest}")

namespace gantry {

enum class TmaPlanRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_TMA_PLAN_RULES(GANTRY_X)
#undef GANTRY_X
};

// refused: there is no such plan, or its box is not the tile. hopper: the plan stands, and this machine does not run
// it.
enum class TmaPlanWeight : std::uint8_t { refused, hopper };

struct TmaPlanRuleEntry {
  const char* name;
  TmaPlanWeight weight;
  const char* text;
};

GANTRY_HD constexpr TmaPlanRuleEntry entry_of(TmaPlanRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, weight, text) \
  case TmaPlanRule::id:            \
    return {#id, TmaPlanWeight::weight, text};
    GANTRY_TMA_PLAN_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return {"unknown", TmaPlanWeight::refused, "unknown rule"};
}

struct TmaReason {
  TmaPlanRule rule = TmaPlanRule::gmem_invalid;
  BasisPath mode{};   // a mode of the global tensor
  BasisPath other{};  // another one
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  Fault fault{};

  GANTRY_HD constexpr TmaPlanWeight weight() const noexcept { return entry_of(rule).weight; }
};

// The reasons found, in the order of the steps. A step that cannot be done leaves out those after it, so few are
// possible.
class TmaReasons {
 public:
  static constexpr int kCapacity = 16;

  GANTRY_HD constexpr void add(const TmaReason& reason) noexcept {
    if (size_ < kCapacity) entries_[size_++] = reason;
  }
  // Forgets all but the first n.
  GANTRY_HD constexpr void truncate(int n) noexcept { size_ = n < size_ ? n : size_; }
  GANTRY_HD constexpr int size() const noexcept { return size_; }
  GANTRY_HD constexpr bool empty() const noexcept { return size_ == 0; }
  GANTRY_HD constexpr const TmaReason& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const TmaReason* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const TmaReason* end() const noexcept { return entries_ + size_; }
  GANTRY_HD constexpr bool has(TmaPlanRule rule) const noexcept {
    for (const TmaReason& r : *this) {
      if (r.rule == rule) return true;
    }
    return false;
  }
  GANTRY_HD constexpr bool has(TmaPlanWeight weight) const noexcept {
    for (const TmaReason& r : *this) {
      if (r.weight() == weight) return true;
    }
    return false;
  }

 private:
  TmaReason entries_[kCapacity];
  int size_ = 0;
};

using TmaPlanSentence = Text<512>;

namespace detail {

// Outermost mode first: mode 0 of mode 2 is "2.0".
GANTRY_HD constexpr void append_mode(TmaPlanSentence& out, BasisPath path) {
  if (path.empty()) out.append('0');
  for (int level = 0; level < path.depth(); ++level) {
    if (level > 0) out.append('.');
    out.append(path[level]);
  }
}

GANTRY_HD constexpr bool starts_with(const char* text, const char* word) {
  while (*word != '\0' && *text == *word) ++text, ++word;
  return *word == '\0';
}

GANTRY_HD constexpr void append_placeholder(TmaPlanSentence& out, const char* name, const TmaReason& r) {
  if (starts_with(name, "actual"))
    out.append(r.actual);
  else if (starts_with(name, "nearest element"))
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  else if (starts_with(name, "nearest"))
    out.append(r.nearest);
  else if (starts_with(name, "first"))
    out.append(r.first);
  else if (starts_with(name, "second"))
    out.append(r.second);
  else if (starts_with(name, "mode"))
    append_mode(out, r.mode);
  else if (starts_with(name, "other"))
    append_mode(out, r.other);
  else if (starts_with(name, "element"))
    out.append(to_text(static_cast<ElementType>(r.actual)));
  else
    out.append(describe(r.fault));
}

}  // namespace detail

GANTRY_HD constexpr TmaPlanSentence describe(const TmaReason& reason) {
  TmaPlanSentence out;
  for (const char* s = entry_of(reason.rule).text; *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    detail::append_placeholder(out, s + 1, reason);
    while (*s != '}') ++s;
  }
  return out;
}

}  // namespace gantry
