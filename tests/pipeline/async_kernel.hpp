// Stages filled by threads: two warps write the words of a tile with its number added, two warps write them out, each
// thread a word that another one wrote.
#pragma once

#include "moves.hpp"

namespace gantry::test {

enum class FillFlaw : std::uint8_t { none, commits_unwritten, releases_unread };

template <int Stages, FillFlaw flaw = FillFlaw::none>
struct AsyncKernel {
  using Params = MoveParams;
  using Pipeline = PipelineAsync<Stages>;
  using State = typename Pipeline::State;
  static constexpr std::uint32_t kThreads = 2 * kWords;

  struct Storage {
    std::uint32_t tile[Stages][kWords];
    typename Pipeline::SharedStorage pipeline;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const bool producer = arch::thread_rank() < kWords;
    if (arch::thread_rank() == 0) {
      arch::name(s.tile, sizeof s.tile, "tile");
      Pipeline::init(s.pipeline, pipeline_params(PipelineRole::none), "rows");
    }
    publish_barriers();
    if (producer) {
      arch::name_role("producer");
      produce(p, s);
    } else {
      arch::name_role("consumer");
      consume(p, s);
    }
  }

 private:
  GANTRY_HD static constexpr typename Pipeline::Params pipeline_params(PipelineRole role) {
    return {.role = role, .producer_arrivals = kWords, .consumer_arrivals = kWords};
  }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline, pipeline_params(PipelineRole::producer));
    State write = make_producer_start_state<Stages>();
    const std::uint32_t word = arch::thread_rank();
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++write) {
      const auto number = static_cast<std::uint32_t>(i);
      const std::uint32_t value = arch::ld(arch::space_global, p.from + number * kWords + word) + number;
      const ProducerToken token = pipeline.producer_try_acquire(write);
      pipeline.producer_acquire(write, token);
      if (flaw == FillFlaw::commits_unwritten) pipeline.producer_commit(write);
      arch::st(arch::space_shared, &s.tile[write.index()][word], value);
      if (flaw != FillFlaw::commits_unwritten) pipeline.producer_commit(write);
    }
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline, pipeline_params(PipelineRole::consumer));
    State read = make_consumer_start_state<Stages>();
    const std::uint32_t word = 2 * kWords - 1 - arch::thread_rank();
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++read) {
      const ConsumerToken token = pipeline.consumer_try_wait(read);
      pipeline.consumer_wait(read, token);
      if (flaw == FillFlaw::releases_unread) pipeline.consumer_release(read);
      const std::uint32_t value = arch::ld(arch::space_shared, &s.tile[read.index()][word]);
      if (flaw != FillFlaw::releases_unread) pipeline.consumer_release(read);
      arch::st(arch::space_global, p.to + static_cast<std::uint32_t>(i) * kWords + word, value);
    }
  }
};

}  // namespace gantry::test
