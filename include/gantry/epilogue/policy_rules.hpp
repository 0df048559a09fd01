// Why an epilogue cannot be built as it was asked for: the rules as data, and the sentences they give.
//
// The rules of tensor maps and of planning are in tma/; a reason of theirs is quoted. A reason names what was asked,
// the rule, the actual value and the nearest value that works.
//
// Example:
//     using namespace gantry;
//     constexpr EpilogueReason r{.rule = EpilogueRule::alignment, .operand = EpilogueSide::c,
//                                .element = ElementType::f16, .actual = 1, .nearest = 8, .first = 2};
//     static_assert(describe(r) == "C is aligned to 1 element of f16, which is 2 bytes: TMA takes rows of whole 16 bytes; "
//                                  "the nearest alignment that works is 8");
#pragma once

#include <gantry/epilogue/tags.hpp>
#include <gantry/tma/plan_rules.hpp>

// X(id, weight, sentence). {actual}, {nearest}, {first} and {second} are the numbers of a reason; {operand} is C or D,
// {mode} M or N, {element} and {nearest element} are element types, {schedule} and {nearest schedule} schedules, {tma}
// what planning the copy answered. {s} is the plural's, of {actual}.
#define GANTRY_EPILOGUE_RULES(X)                                                                                       \
  X(cta_tile_extent, refused,                                                                                          \
    "the CTA tile has extent {actual} along {mode}: extents are at least 1 and at most {first}; the nearest value "    \
    "that works is {nearest}")                                                                                         \
  X(mma_rows, refused,                                                                                                 \
    "the CTA tile has {actual} row{s}: whole MMAs of 64 rows fill it, for each warp group that shares it, so its "     \
    "rows are a multiple of {first}; the nearest value that works is {nearest}")                                       \
  X(warp_groups, refused,                                                                                              \
    "{actual} warp group{s} share a CTA tile: there are 1 to {first}; the nearest number that works is {nearest}")     \
  X(epi_tile_rows, refused,                                                                                            \
    "the epilogue tile has {actual} row{s}: under {schedule} it has {first}; the nearest value that works is "         \
    "{nearest}")                                                                                                       \
  X(epi_tile_mma_rows, refused,                                                                                        \
    "the epilogue tile has {actual} row{s}: whole MMAs of 64 rows fill it, for each warp group that shares it, so "    \
    "its rows are a multiple of {first}; the nearest value that works is {nearest}")                                   \
  X(epi_tile_columns, refused,                                                                                         \
    "the epilogue tile has {actual} column{s}: a tile that is chosen has a multiple of {first}; the nearest value "    \
    "that works is {nearest}")                                                                                         \
  X(epi_tile_divides, refused,                                                                                         \
    "the epilogue tile has extent {actual} along {mode} and the CTA tile {first}: whole epilogue tiles fill the CTA "  \
    "tile; the nearest value that works is {nearest}")                                                                 \
  X(accumulator_columns, refused,                                                                                      \
    "the epilogue tile has {actual} column{s}: accumulators come in matrices of 8 columns, so the columns are a "      \
    "multiple of 8; the nearest value that works is {nearest}")                                                        \
  X(tile_threads, refused,                                                                                             \
    "the epilogue tile has {actual} element{s} for {first} threads: each has the same number, at least one; the "      \
    "nearest number that works is {nearest}")                                                                          \
  X(fragment_size, refused,                                                                                            \
    "FragmentSize is {actual}: it divides the {first} values that a thread has of an epilogue tile; the nearest "      \
    "value that works is {nearest}")                                                                                   \
  X(smem_row, refused,                                                                                                 \
    "the epilogue tile has {actual} element{s} of {element} along {mode}, where {operand} is contiguous: rows in "     \
    "shared memory are whole 16 bytes, {first} elements; the nearest value that works is {nearest}")                   \
  X(smem_element, refused,                                                                                             \
    "{operand} has elements of {element}, {actual} bits: shared memory holds elements whose width divides 128 bits; "  \
    "the nearest type that works is {nearest element}")                                                                \
  X(alignment, refused,                                                                                                \
    "{operand} is aligned to {actual} element{s} of {element}, which is {first} bytes: TMA takes rows of whole 16 "    \
    "bytes; the nearest alignment that works is {nearest}")                                                            \
  X(d_without_element, refused,                                                                                        \
    "D is void and no auxiliary output gives its element: the tile in shared memory must have one; the nearest type "  \
    "that works is {nearest element}")                                                                                 \
  X(element_missing, refused,                                                                                          \
    "the {operand} element is {element}: values are computed in a type; the nearest type that works is {nearest "      \
    "element}")                                                                                                        \
  X(stages, refused,                                                                                                   \
    "{operand} has {actual} stage{s}: there are 1 to {first}; the nearest number that works is {nearest}")             \
  X(reuse_needs_both, refused,                                                                                         \
    "D is to reuse the buffers of C, and {operand} is void: both must exist; without reuse this works")                \
  X(reuse_stages, refused,                                                                                             \
    "D is to reuse the {first} buffers of C for {actual} stage{s} of its own: StagesD is at most StagesC; the "        \
    "nearest StagesD that works is {nearest}")                                                                         \
  X(reuse_space, refused,                                                                                              \
    "D is to reuse the buffers of C, and one stage of D takes {actual} byte{s} and one of C {first}: they must take "  \
    "the same space; without reuse this works")                                                                        \
  X(deadlock, refused,                                                                                                 \
    "stores are delayed and D reuses the buffers of C, with StagesC = {actual} and StagesD = {first}: the load warp "  \
    "would wait for a buffer that is released only after a store that waits for this load, so StagesC must be "        \
    "greater than StagesD; the nearest StagesC that works is {nearest}")                                               \
  X(per_group_strides, refused,                                                                                        \
    "{operand} has strides for every group, and {schedule} takes one tensor; the nearest schedule that works is "      \
    "{nearest schedule}")                                                                                              \
  X(per_group_im2col, refused,                                                                                         \
    "{operand} is the tensor of a convolution with strides for every group: pointer arrays hold matrices; without "    \
    "'*' this works")                                                                                                  \
  X(im2col_needs_tma, refused,                                                                                         \
    "{operand} is the tensor of a convolution, and {schedule} writes matrices; the nearest schedule that works is "    \
    "{nearest schedule}")                                                                                              \
  X(fusion_storage, refused,                                                                                           \
    "the fusion asks for {actual} byte{s} of shared memory aligned to {first}: sizes are not negative and alignments " \
    "are powers of two; the nearest alignment that works is {nearest}")                                                \
  X(tma_plan, refused, "{operand} cannot be copied by TMA: {tma}")                                                     \
  X(shared_memory, hopper,                                                                                             \
    "the epilogue takes {actual} byte{s} of shared memory: a block has at most {first}; fewer stages or a smaller "    \
    "epilogue tile would fit, {nearest} stages of C and D together at this size")

namespace gantry {

enum class EpilogueRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_EPILOGUE_RULES(GANTRY_X)
#undef GANTRY_X
};

// refused: there is no such epilogue. hopper: its values stand, and the machine has no room for it.
enum class EpilogueWeight : std::uint8_t { refused, hopper };

struct EpilogueRuleEntry {
  const char* name;
  EpilogueWeight weight;
  const char* text;
};

GANTRY_HD constexpr EpilogueRuleEntry entry_of(EpilogueRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, weight, text) \
  case EpilogueRule::id:           \
    return {#id, EpilogueWeight::weight, text};
    GANTRY_EPILOGUE_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return {"unknown", EpilogueWeight::refused, "unknown rule"};
}

// What a reason is about.
enum class EpilogueSide : std::uint8_t { c, d, accumulator, compute };
enum class TileMode : std::uint8_t { m, n };

struct EpilogueReason {
  EpilogueRule rule = EpilogueRule::cta_tile_extent;
  EpilogueSide operand = EpilogueSide::c;
  TileMode mode = TileMode::m;
  ElementType element = ElementType::void_;
  EpilogueSchedule schedule = EpilogueSchedule::automatic;
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  TmaReason tma{};

  GANTRY_HD constexpr EpilogueWeight weight() const noexcept { return entry_of(rule).weight; }
};

// Every reason found, in the order in which decisions are made.
class EpilogueReasons {
 public:
  static constexpr int kCapacity = 16;

  GANTRY_HD constexpr void add(const EpilogueReason& reason) noexcept {
    if (size_ < kCapacity) entries_[size_++] = reason;
  }
  GANTRY_HD constexpr int size() const noexcept { return size_; }
  GANTRY_HD constexpr bool empty() const noexcept { return size_ == 0; }
  GANTRY_HD constexpr const EpilogueReason& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const EpilogueReason* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const EpilogueReason* end() const noexcept { return entries_ + size_; }
  GANTRY_HD constexpr bool has(EpilogueRule rule) const noexcept {
    for (const EpilogueReason& r : *this) {
      if (r.rule == rule) return true;
    }
    return false;
  }
  GANTRY_HD constexpr bool has(EpilogueWeight weight) const noexcept {
    for (const EpilogueReason& r : *this) {
      if (r.weight() == weight) return true;
    }
    return false;
  }

 private:
  EpilogueReason entries_[kCapacity] = {};
  int size_ = 0;
};

GANTRY_HD constexpr const char* to_text(EpilogueSide side) noexcept {
  switch (side) {
    case EpilogueSide::c:
      return "C";
    case EpilogueSide::d:
      return "D";
    case EpilogueSide::accumulator:
      return "accumulator";
    case EpilogueSide::compute:
      return "compute";
  }
  return "unknown";
}

using EpilogueSentence = Text<640>;

namespace detail {

GANTRY_HD constexpr void append_placeholder(EpilogueSentence& out, const char* name, const EpilogueReason& r) {
  if (starts_with(name, "actual"))
    out.append(r.actual);
  else if (starts_with(name, "nearest element"))
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  else if (starts_with(name, "nearest schedule"))
    out.append(to_text(static_cast<EpilogueSchedule>(r.nearest)));
  else if (starts_with(name, "nearest"))
    out.append(r.nearest);
  else if (starts_with(name, "first"))
    out.append(r.first);
  else if (starts_with(name, "second"))
    out.append(r.second);
  else if (starts_with(name, "s}"))
    out.append(r.actual == 1 ? "" : "s");
  else if (starts_with(name, "operand"))
    out.append(to_text(r.operand));
  else if (starts_with(name, "mode"))
    out.append(r.mode == TileMode::m ? 'M' : 'N');
  else if (starts_with(name, "element"))
    out.append(to_text(r.element));
  else if (starts_with(name, "schedule"))
    out.append(to_text(r.schedule));
  else
    out.append(describe(r.tma));
}

}  // namespace detail

GANTRY_HD constexpr EpilogueSentence describe(const EpilogueReason& reason) {
  EpilogueSentence out;
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
