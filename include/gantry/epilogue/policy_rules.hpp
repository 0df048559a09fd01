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

#include <gantry/epilogue/subtiles.hpp>
#include <gantry/epilogue/tags.hpp>
#include <gantry/tma/plan_rules.hpp>

namespace gantry {

enum class EpilogueRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/epilogue/detail/rule_table.hpp>
};

// refused: there is no such epilogue. hopper: its values are valid, but it does not fit into an SM. unsupported: its
// values are valid, as CUTLASS has them, but no collective here runs it.
GANTRY_HD constexpr RuleEntry<> entry_of(EpilogueRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(EpilogueRule, __VA_ARGS__)
#include <gantry/epilogue/detail/rule_table.hpp>
  }
  return {};
}

// Runs as a number of a reason.
GANTRY_HD constexpr std::int64_t packed_runs(const TileRuns& runs) noexcept {
  return std::int64_t{runs.stride} << 32 | std::int64_t{runs.count} << 16 | runs.extent;
}
GANTRY_HD constexpr TileRuns unpacked_runs(std::int64_t packed) noexcept {
  return {static_cast<int>(packed & 0xFFFF), static_cast<int>(packed >> 16 & 0xFFFF), static_cast<int>(packed >> 32)};
}
// As CuTe writes it: 64:1, (32,2):(1,64).
GANTRY_HD constexpr void append_runs(Sentence& out, const TileRuns& runs) {
  if (runs.count == 1) {
    out.append(runs.extent).append(":1");
  } else {
    out.append('(').append(runs.extent).append(',').append(runs.count).append("):(1,").append(runs.stride).append(')');
  }
}

// What a reason is about.
enum class EpilogueSide : std::uint8_t { c, d, accumulator, compute, auxiliary };
enum class TileMode : std::uint8_t { m, n };
enum class EpilogueSetting : std::uint8_t {
  epi_tile,
  stages_c,
  stages_d,
  fragment_size,
  reuse_smem_c,
  delay_tma_store
};

// Small, since policies and designs hold a list of them. A reason of a TMA plan is quoted by its rule and modes, and
// has its numbers here.
struct EpilogueReason {
  EpilogueRule rule = EpilogueRule::cta_tile_extent;
  EpilogueSide operand = EpilogueSide::c;
  TileMode mode = TileMode::m;
  ElementType element = ElementType::void_;
  EpilogueSchedule schedule = EpilogueSchedule::automatic;
  EpilogueSetting setting = EpilogueSetting::epi_tile;
  TmaPlanRule tma_rule = TmaPlanRule::gmem_invalid;
  BasisPath tma_mode{}, tma_other{};
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;

  GANTRY_HD constexpr RuleWeight weight() const noexcept { return entry_of(rule).weight; }
};

// In the order in which decisions are made.
using EpilogueReasons = Reasons<EpilogueReason>;

GANTRY_HD constexpr EpilogueReason quoted(EpilogueSide operand, const TmaReason& r) noexcept {
  return {.rule = EpilogueRule::tma_plan,
          .operand = operand,
          .tma_rule = r.rule,
          .tma_mode = r.mode,
          .tma_other = r.other,
          .actual = r.actual,
          .nearest = r.nearest,
          .first = r.first,
          .second = r.second};
}

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
    case EpilogueSide::auxiliary:
      return "an auxiliary tensor";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(EpilogueSetting setting) noexcept {
  switch (setting) {
    case EpilogueSetting::epi_tile:
      return "epi_tile";
    case EpilogueSetting::stages_c:
      return "stages_c";
    case EpilogueSetting::stages_d:
      return "stages_d";
    case EpilogueSetting::fragment_size:
      return "fragment_size";
    case EpilogueSetting::reuse_smem_c:
      return "reuse_smem_c";
    case EpilogueSetting::delay_tma_store:
      return "delay_tma_store";
  }
  return "unknown";
}

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const EpilogueReason& r) {
  if (word == "operand") {
    out.append(to_text(r.operand));
  } else if (word == "mode") {
    out.append(r.mode == TileMode::m ? 'M' : 'N');
  } else if (word == "runs") {
    append_runs(out, unpacked_runs(r.actual));
  } else if (word == "nearest runs") {
    append_runs(out, unpacked_runs(r.nearest));
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "nearest element") {
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  } else if (word == "schedule") {
    out.append(to_text(r.schedule));
  } else if (word == "nearest schedule") {
    out.append(to_text(static_cast<EpilogueSchedule>(r.nearest)));
  } else if (word == "setting") {
    out.append(to_text(r.setting));
  } else if (word == "tma") {
    out.append(describe(TmaReason{.rule = r.tma_rule,
                                  .mode = r.tma_mode,
                                  .other = r.tma_other,
                                  .actual = r.actual,
                                  .nearest = r.nearest,
                                  .first = r.first,
                                  .second = r.second}));
  } else {
    return false;
  }
  return true;
}

// What a static assertion shows as the operand.
GANTRY_HD constexpr EpilogueSide operand_of(const EpilogueReason& r) noexcept { return r.operand; }

}  // namespace gantry
