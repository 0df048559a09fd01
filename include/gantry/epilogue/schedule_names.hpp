// Schedules by the names of CUTLASS, written as text or as CUTLASS's tag types. An unknown name is refused with the
// nearest one: as a value where it is text, by a static assertion where it is a type.
//
// A tag is known by its own name: its namespace and the library that it comes from do not matter.
//
// Example at namespace scope:
//     namespace cutlass::epilogue {
//     struct PtrArrayTmaWarpSpecializedCooperative {};
//     }
//     constexpr gantry::CollectiveBuilder arrays{
//         .schedule = gantry::epilogue_schedule_of<cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative>()};
//     static_assert(arrays.schedule == gantry::EpilogueSchedule::ptr_array_tma_warp_specialized_cooperative);
//     static_assert(gantry::no_epilogue_schedule("PtrArayTmaWarpSpecialized").nearest_schedule ==
//                   gantry::EpilogueSchedule::ptr_array_tma_warp_specialized);
//     static_assert(gantry::no_epilogue_schedule("cooprative").nearest_name == "cooperative");
#pragma once

#include <gantry/epilogue/builder_options.hpp>
#include <gantry/numeric/element_name.hpp>
#include <gantry/rules/static_check.hpp>

namespace gantry {

enum class ScheduleNameRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/epilogue/detail/schedule_name_rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(ScheduleNameRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(ScheduleNameRule, __VA_ARGS__)
#include <gantry/epilogue/detail/schedule_name_rule_table.hpp>
  }
  return {};
}

using ScheduleName = Text<64>;

// `Schedule`: an enumeration of schedules, whose to_text() gives the name.
template <class Schedule>
struct ScheduleNameReason {
  ScheduleNameRule rule = ScheduleNameRule::epilogue_schedule;
  ScheduleName name{};
  Schedule nearest_schedule{};
  ScheduleName nearest_name{};  // one of its names: the nearest to what was written
};

// The words of a reason.
template <class Schedule>
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const ScheduleNameReason<Schedule>& r) {
  if (word == "name") {
    out.append(r.name);
  } else if (word == "operand") {
    out.append(r.nearest_name);
  } else {
    return false;
  }
  return true;
}
template <class Schedule>
GANTRY_HD constexpr Schedule operand_of(const ScheduleNameReason<Schedule>& r) noexcept {
  return r.nearest_schedule;
}

namespace detail {

// The first `most` characters of a name, without those that do not count.
constexpr ScheduleName plain_name(const char* text, int most = ScheduleName::kCapacity) {
  ScheduleName out;
  for (; *text != '\0' && out.size() < most; ++text) {
    if (*text != '_' && *text != '-') out.append(*text);
  }
  return out;
}

// How many edits turn a text into a name; a text of four letters and more may be the beginning of one.
constexpr int name_distance(const char* text, const char* name) {
  constexpr int kShortest = 4, kAbbreviated = 2;
  const ScheduleName asked = plain_name(text), whole = plain_name(name);
  const int distance = edit_distance(asked.c_str(), whole.c_str());
  if (asked.size() < kShortest || asked.size() >= whole.size()) return distance;
  const int begins = kAbbreviated + edit_distance(asked.c_str(), plain_name(name, asked.size()).c_str());
  return begins < distance ? begins : distance;
}

// Finds the name that is the nearest to reason.name; of names as near the first.
template <class Schedule>
struct NearestName {
  ScheduleNameReason<Schedule> reason{};
  int distance = -1;

  constexpr void consider(const char* name, Schedule schedule) {
    const int apart = name_distance(reason.name.c_str(), name);
    if (distance >= 0 && apart >= distance) return;
    distance = apart;
    reason.nearest_schedule = schedule;
    reason.nearest_name = ScheduleName(name);
  }
};

// The name of a type without its namespaces and template arguments, as compilers write it into the names of functions:
// "... [with Tag = cutlass::gemm::KernelTmaWarpSpecialized; ...]", "... [Tag = ...]".
template <class Tag>
constexpr ScheduleName type_name() {
  const char* at = __PRETTY_FUNCTION__;
  const char* const end = end_of(at);
  while (at != end && *at != '[') ++at;
  while (at != end && *at != '=') ++at;
  if (at != end) ++at;
  const char* first = at;
  for (; at != end && *at != ']' && *at != ';' && *at != '<'; ++at) {
    if (*at == ':' || *at == ' ') first = at + 1;
  }
  ScheduleName out;
  for (; first != at; ++first) out.append(*first);
  return out;
}

}  // namespace detail

// Requires a text that is no epilogue schedule.
constexpr ScheduleNameReason<EpilogueSchedule> no_epilogue_schedule(const char* text) {
  detail::NearestName<EpilogueSchedule> nearest{{ScheduleNameRule::epilogue_schedule, ScheduleName(text)}};
  for (const EpilogueScheduleName& name : kEpilogueScheduleNames) nearest.consider(name.word, name.schedule);
  return nearest.reason;
}

// Of CUTLASS's tag type.
template <class Tag>
constexpr EpilogueSchedule epilogue_schedule_of() {
  constexpr ScheduleName kName = detail::type_name<Tag>();
  constexpr ParsedSchedule kRead = parse_epilogue_schedule(kName.c_str());
  GANTRY_RULE_STATIC_CHECK(kRead.ok, no_epilogue_schedule(kName.c_str()));
  return kRead.schedule;
}

}  // namespace gantry

#define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::ScheduleNameRule, id, rule)
#include <gantry/epilogue/detail/schedule_name_rule_table.hpp>
