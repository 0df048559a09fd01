// What happened when, as a Chrome trace: one process for each CTA, one track for each warp, one for copies, one for
// barriers. Time is counted in steps of the scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::sim {

class Trace {
 public:
  static constexpr std::uint32_t kCopies = 1000, kBarriers = 1001;  // tracks beside the warps'

  void span(std::uint32_t cta, std::uint32_t track, std::string name, std::uint64_t from, std::uint64_t to);
  void instant(std::uint32_t cta, std::uint32_t track, std::string name, std::uint64_t at);
  void name_track(std::uint32_t cta, std::uint32_t track, std::string name);

  // Throws std::runtime_error, with a sentence, where the file cannot be written.
  void write(const std::string& file) const;

 private:
  struct Event {
    char kind;
    std::uint32_t cta, track;
    std::string name;
    std::uint64_t from, to;
  };
  std::vector<Event> events_;
};

}  // namespace gantry::sim
