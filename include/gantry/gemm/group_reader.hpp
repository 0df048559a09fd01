// The rows of groups as a warp reads them, 32 groups at a time: which of them count, by the rules of grouped.hpp.
//
// Whoever asks which rows are a group's asks here: the scheduler of tiles (group_scheduler.hpp), and the kernel that
// adds scattered rows (row_slots.hpp).
//
// Example:
//     const gantry::GroupSchedule groups{.groups = 3, .lines = 205};
//     const gantry::GroupReader reader(groups);  // then, by a whole warp: reader.read_rows(0)
#pragma once

#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/tma/ragged.hpp>

namespace gantry {

class GroupReader {
 public:
  GANTRY_INLINE explicit GroupReader(const GroupSchedule& groups) : p_(groups) {}

  // The lines of group `first` + lane; none where there is no such group.
  GANTRY_INLINE GroupLines read(int first) const {
    const int group = first + static_cast<int>(arch::lane_rank());
    if (group >= p_.groups) return {};
    if (p_.capacity > 0) {
      const int count = arch::ld(arch::space_global, p_.offsets + group);
      const int size = count < 0 ? 0 : count > p_.capacity ? p_.capacity : count;
      return group_lines(p_.lines, group * p_.capacity, group * p_.capacity + size);
    }
    return group_lines(p_.lines, arch::ld(arch::space_global, p_.offsets + group),
                       arch::ld(arch::space_global, p_.offsets + group + 1));
  }

  // Of groups of rows: one that begins before an earlier one ends is empty, so that no two have the same rows. The
  // whole warp, with first = 0, 32, 64, ...
  GANTRY_INLINE GroupLines read_rows(int first) {
    const GroupLines lines = read(first);
    const int lane = static_cast<int>(arch::lane_rank());
    const auto larger = [](int x, int y) { return x > y ? x : y; };
    int reach = lines.size > 0 ? lines.end : 0;  // of this lane's group and those of the lanes before
    GANTRY_UNROLL
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = arch::shfl_up_sync(arch::kFullWarp, reach, distance);
      if (lane >= distance) reach = larger(reach, other);
    }
    const int of_lanes = arch::shfl_up_sync(arch::kFullWarp, reach, 1);
    const int before = lane > 0 ? larger(of_lanes, reached_) : reached_;
    reached_ = larger(reached_, arch::shfl_sync(arch::kFullWarp, reach, 31));
    return lines.first() < before ? group_lines(p_.lines, 0, 0) : lines;
  }

 private:
  const GroupSchedule& p_;
  int reached_ = 0;  // the farthest end of the groups that were passed
};

}  // namespace gantry
