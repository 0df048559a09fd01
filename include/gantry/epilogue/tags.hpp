// The names an epilogue is built from: its schedule, the layouts of C and D in global memory, and whose rules decide
// what is left open.
//
// Each schedule stands once, in the table below, under the name that CUTLASS gives it.
//
// Example:
//     using namespace gantry;
//     static_assert(info(EpilogueSchedule::tma_warp_specialized_cooperative).tile_warpgroups == 2);
//     static_assert(parse_layout_tag("ColumnMajor*").tag == per_group(kColumnMajor));
#pragma once

#include <cstdint>

#include <gantry/rules/text.hpp>

// X(id, CUTLASS's name, collective, pointer array, warpgroups that share a CTA tile, warpgroups that have tensor maps
// of D of their own).
#define GANTRY_EPILOGUE_SCHEDULES(X)                                                                      \
  X(automatic, "EpilogueScheduleAuto", unset, false, 1, 1)                                                \
  X(tma_warp_specialized, "TmaWarpSpecialized", tma, false, 1, 1)                                         \
  X(tma_warp_specialized_cooperative, "TmaWarpSpecializedCooperative", tma, false, 2, 1)                  \
  X(ptr_array_tma_warp_specialized, "PtrArrayTmaWarpSpecialized", tma, true, 1, 1)                        \
  X(ptr_array_tma_warp_specialized_cooperative, "PtrArrayTmaWarpSpecializedCooperative", tma, true, 2, 2) \
  X(ptr_array_tma_warp_specialized_pingpong, "PtrArrayTmaWarpSpecializedPingpong", tma, true, 1, 2)       \
  X(no_smem_warp_specialized, "NoSmemWarpSpecialized", no_smem, false, 1, 1)                              \
  X(ptr_array_no_smem_warp_specialized, "PtrArrayNoSmemWarpSpecialized", no_smem, true, 1, 1)             \
  X(ptr_array_no_smem_warp_specialized_transposed, "PtrArrayNoSmemWarpSpecializedTransposed", no_smem, true, 1, 1)

namespace gantry {

enum class EpilogueSchedule : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_EPILOGUE_SCHEDULES(GANTRY_X)
#undef GANTRY_X
};

inline constexpr int kEpilogueScheduleCount = 0
#define GANTRY_X(...) +1
    GANTRY_EPILOGUE_SCHEDULES(GANTRY_X);
#undef GANTRY_X

// How C and D travel: by TMA through shared memory, or between registers and global memory.
enum class EpilogueCollective : std::uint8_t { unset, tma, no_smem };

struct EpilogueScheduleInfo {
  const char* name;
  EpilogueCollective collective;
  bool pointer_array;
  int tile_warpgroups;  // share one CTA tile
  int map_warpgroups;   // each with a tensor map of D of its own; read where there are pointer arrays
};

GANTRY_HD constexpr EpilogueScheduleInfo info(EpilogueSchedule schedule) noexcept {
  switch (schedule) {
#define GANTRY_X(id, name, collective, pointer_array, tile_groups, map_groups) \
  case EpilogueSchedule::id:                                                   \
    return {name, EpilogueCollective::collective, pointer_array, tile_groups, map_groups};
    GANTRY_EPILOGUE_SCHEDULES(GANTRY_X)
#undef GANTRY_X
  }
  return {"unknown", EpilogueCollective::unset, false, 1, 1};
}

GANTRY_HD constexpr const char* to_text(EpilogueSchedule schedule) noexcept { return info(schedule).name; }

// Whose rules decide what is left open. gantry: tuned, the default. cutlass_compatible: as CUTLASS 4 decides, down to
// the sizes of its storage.
enum class PolicyFlavour : std::uint8_t { gantry, cutlass_compatible };

// A decision that is left to the flavour, or made by the caller.
enum class Choice : std::uint8_t { automatic, no, yes };

// ---- Layouts of C and D

enum class LayoutKind : std::uint8_t { row_major, column_major, tensor_nwc, tensor_nhwc, tensor_ndhwc };

// C or D in global memory. Of the tensors of a convolution, rows are pixels and columns are channels.
struct LayoutTag {
  LayoutKind kind = LayoutKind::row_major;
  bool per_group = false;  // every group of a pointer array has strides of its own

  GANTRY_HD friend constexpr bool operator==(LayoutTag, LayoutTag) noexcept = default;
};

inline constexpr LayoutTag kRowMajor{LayoutKind::row_major};
inline constexpr LayoutTag kColumnMajor{LayoutKind::column_major};
inline constexpr LayoutTag kTensorNWC{LayoutKind::tensor_nwc};
inline constexpr LayoutTag kTensorNHWC{LayoutKind::tensor_nhwc};
inline constexpr LayoutTag kTensorNDHWC{LayoutKind::tensor_ndhwc};

GANTRY_HD constexpr LayoutTag per_group(LayoutTag tag) noexcept { return {tag.kind, true}; }

// Rows are contiguous for column-major matrices only.
GANTRY_HD constexpr bool is_m_major(LayoutTag tag) noexcept { return tag.kind == LayoutKind::column_major; }
GANTRY_HD constexpr bool is_im2col(LayoutTag tag) noexcept { return tag.kind >= LayoutKind::tensor_nwc; }

// W; W and H; W, H and D. 0 for a matrix.
GANTRY_HD constexpr int spatial_rank(LayoutTag tag) noexcept {
  return is_im2col(tag) ? 1 + static_cast<int>(tag.kind) - static_cast<int>(LayoutKind::tensor_nwc) : 0;
}

GANTRY_HD constexpr const char* to_text(LayoutKind kind) noexcept {
  switch (kind) {
    case LayoutKind::row_major:
      return "RowMajor";
    case LayoutKind::column_major:
      return "ColumnMajor";
    case LayoutKind::tensor_nwc:
      return "TensorNWC";
    case LayoutKind::tensor_nhwc:
      return "TensorNHWC";
    case LayoutKind::tensor_ndhwc:
      return "TensorNDHWC";
  }
  return "unknown";
}

using LayoutTagText = Text<24>;

// As it is read: the name, and '*' after it where every group has strides of its own.
GANTRY_HD constexpr LayoutTagText to_text(LayoutTag tag) {
  LayoutTagText out(to_text(tag.kind));
  if (tag.per_group) out.append('*');
  return out;
}

// ---- Reading names

namespace detail {

// Equal, whatever the case, up to an end of `text`; '-' and '_' do not count.
GANTRY_HD constexpr bool same_word(const char* text, const char* end, const char* name) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  while (true) {
    while (text != end && (*text == '-' || *text == '_')) ++text;
    while (*name == '-' || *name == '_') ++name;
    if (text == end || *name == '\0') return text == end && *name == '\0';
    if (lower(*text++) != lower(*name++)) return false;
  }
}

GANTRY_HD constexpr const char* end_of(const char* text) noexcept {
  while (*text != '\0') ++text;
  return text;
}

}  // namespace detail

struct ParsedLayoutTag {
  bool ok = false;
  LayoutTag tag{};
};

// Reads `RowMajor`, `row`, `column`, `col`, `TensorNHWC`, `NHWC` and their kin, with or without '*'.
GANTRY_HD constexpr ParsedLayoutTag parse_layout_tag(const char* text) noexcept {
  struct Name {
    const char* word;
    LayoutKind kind;
  };
  constexpr Name kNames[] = {{"RowMajor", LayoutKind::row_major},       {"row", LayoutKind::row_major},
                             {"ColumnMajor", LayoutKind::column_major}, {"column", LayoutKind::column_major},
                             {"col", LayoutKind::column_major},         {"TensorNWC", LayoutKind::tensor_nwc},
                             {"NWC", LayoutKind::tensor_nwc},           {"TensorNHWC", LayoutKind::tensor_nhwc},
                             {"NHWC", LayoutKind::tensor_nhwc},         {"TensorNDHWC", LayoutKind::tensor_ndhwc},
                             {"NDHWC", LayoutKind::tensor_ndhwc}};
  const char* end = detail::end_of(text);
  const bool star = end != text && end[-1] == '*';
  if (star) --end;
  for (const Name& name : kNames) {
    if (detail::same_word(text, end, name.word)) return {true, {name.kind, star}};
  }
  return {};
}

// CUTLASS's names, and short ones.
struct EpilogueScheduleName {
  const char* word;
  EpilogueSchedule schedule;
};
inline constexpr EpilogueScheduleName kEpilogueScheduleNames[] = {
#define GANTRY_X(id, name, ...) {name, EpilogueSchedule::id},
    GANTRY_EPILOGUE_SCHEDULES(GANTRY_X)
#undef GANTRY_X
        {"auto", EpilogueSchedule::automatic},
    {"tma", EpilogueSchedule::tma_warp_specialized},
    {"cooperative", EpilogueSchedule::tma_warp_specialized_cooperative},
    {"no_smem", EpilogueSchedule::no_smem_warp_specialized}};

struct ParsedSchedule {
  bool ok = false;
  EpilogueSchedule schedule = EpilogueSchedule::automatic;
};

// Reads a schedule by CUTLASS's name or by ours, which is the same but for '_' and case; `auto`, `automatic`, `tma`,
// `cooperative` and `no_smem` for short.
GANTRY_HD constexpr ParsedSchedule parse_epilogue_schedule(const char* text) noexcept {
  for (const EpilogueScheduleName& name : kEpilogueScheduleNames) {
    if (detail::same_word(text, detail::end_of(text), name.word)) return {true, name.schedule};
  }
  return {detail::same_word(text, detail::end_of(text), "automatic"), EpilogueSchedule::automatic};
}

}  // namespace gantry
