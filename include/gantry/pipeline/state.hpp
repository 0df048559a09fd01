// The state of a pipeline: a stage index and the phase parity of its current lap.
//
// Invariant: `index() < Stages`, and the phase flips each time the index wraps. A state runs on across the tiles of a
// persistent kernel and is never reset.
//
// Example:
//     gantry::PipelineState<4> read = gantry::make_consumer_start_state<4>();
//     read.advance(5);  // stage 1 of the second lap
//     ++read;
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

template <int Stages>
class PipelineState {
 public:
  static_assert(Stages >= 1, "a pipeline has at least one stage");

  constexpr PipelineState() noexcept = default;
  GANTRY_HD constexpr PipelineState(int index, std::uint32_t phase, std::uint32_t count) noexcept
      : index_(index), phase_(phase), count_(count) {}

  GANTRY_HD constexpr int index() const noexcept { return index_; }
  GANTRY_HD constexpr std::uint32_t phase() const noexcept { return phase_; }
  GANTRY_HD constexpr std::uint32_t count() const noexcept { return count_; }

  GANTRY_HD constexpr PipelineState& operator++() noexcept {
    ++count_;
    if (++index_ == Stages) {
      index_ = 0;
      phase_ ^= 1;
    }
    return *this;
  }

  // As if stepped `n` times. Requires n >= 0.
  GANTRY_HD constexpr PipelineState& advance(int n) noexcept {
    const int moved = index_ + n;
    phase_ ^= static_cast<std::uint32_t>(moved / Stages) & 1;
    index_ = moved % Stages;
    count_ += static_cast<std::uint32_t>(n);
    return *this;
  }

  friend GANTRY_HD constexpr bool operator==(const PipelineState&, const PipelineState&) noexcept = default;

 private:
  int index_ = 0;
  std::uint32_t phase_ = 0;
  std::uint32_t count_ = 0;
};

template <int Stages>
GANTRY_HD constexpr PipelineState<Stages> make_consumer_start_state() noexcept {
  return {0, 0, 0};
}

// A producer starts one phase ahead: every stage is empty.
template <int Stages>
GANTRY_HD constexpr PipelineState<Stages> make_producer_start_state() noexcept {
  return {0, 1, 0};
}

// The same for a pipeline with the member type `State`.
template <class Pipeline>
GANTRY_HD constexpr typename Pipeline::State make_consumer_start_state() noexcept {
  return make_consumer_start_state<Pipeline::kStages>();
}

template <class Pipeline>
GANTRY_HD constexpr typename Pipeline::State make_producer_start_state() noexcept {
  return make_producer_start_state<Pipeline::kStages>();
}

}  // namespace gantry
