// Loads whose bytes differ from stage to stage, as an epilogue's do: a warp loads tiles; two warps add the tile's
// number to each word and write it. Tile i comes as two copies, as one, or not at all, by i % 3; of one that does not
// come the number alone is written.
#pragma once

#include "moves.hpp"

namespace gantry::test {

enum class LoadFlaw : std::uint8_t {
  none,
  bytes_too_many,
  bytes_too_few,
  never_releases,
  releases_unread,
  counts_too_few,
  no_tail
};

// Who signals: the elected lane commits and every consumer releases, or every lane commits and one lane of each warp
// releases for it.
enum class Signals : std::uint8_t { elected_producer_all_consumers, all_producers_one_consumer_a_warp };

template <int Stages, LoadFlaw flaw = LoadFlaw::none, Signals signals = Signals::elected_producer_all_consumers>
struct TransactionKernel {
  using Params = MoveParams;
  using Pipeline = PipelineTransactionAsync<Stages>;
  using State = typename Pipeline::State;
  static constexpr int kThreads = 32 + kWords;
  static constexpr bool kEveryLaneCommits = signals == Signals::all_producers_one_consumer_a_warp;
  static constexpr bool kWarpsRelease = signals == Signals::all_producers_one_consumer_a_warp;

  struct Storage {
    alignas(128) std::uint32_t tile[Stages][kWords];
    typename Pipeline::SharedStorage pipeline;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const bool producer = arch::warp_rank() == 0;
    const bool elected = arch::elect_sync();
    if (arch::thread_rank() == 0) {
      arch::name(s.tile, sizeof s.tile, "tile");
      Pipeline::init(s.pipeline, pipeline_params(PipelineRole::none), "epilogue load");
    }
    publish_barriers();
    if (producer) {
      arch::name_role("producer");
      produce(p, s, elected);
    } else {
      arch::name_role("consumer");
      consume(p, s);
    }
  }

 private:
  GANTRY_INLINE static typename Pipeline::Params pipeline_params(PipelineRole role) {
    return {.role = role,
            .transaction_bytes = kBytes,
            .producer_arrivals = kEveryLaneCommits ? 32 : 1,
            .consumer_arrivals = (kWarpsRelease ? kWords / 32 : kWords) - (flaw == LoadFlaw::counts_too_few)};
  }

  GANTRY_INLINE static void produce(const Params& p, Storage& s, bool elected) {
    Pipeline pipeline(s.pipeline,
                      pipeline_params(kEveryLaneCommits || elected ? PipelineRole::producer : PipelineRole::none));
    State write = make_producer_start_state<Stages>();
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++write) {
      const ProducerToken token = pipeline.producer_try_acquire(write);
      pipeline.producer_acquire(write, token);
      std::uint64_t* full = pipeline.producer_get_barrier(write);
      std::uint32_t* tile = s.tile[write.index()];
      const std::uint32_t* from = p.from + static_cast<std::uint32_t>(i) * kWords;
      if (elected && i % 3 == 0) {
        load(tile, from, kBytes / 2, full);
        load(tile + kWords / 2, from + kWords / 2, kBytes / 2, full);
        pipeline.producer_expect_transaction(write, kBytes / 2);
        pipeline.producer_expect_transaction(write, kBytes / 2 + kSurplus);
      } else if (elected && i % 6 == 1) {
        load(tile, from, kBytes, full);
        pipeline.producer_expect_transaction(write);
      } else if (elected && i % 6 == 4) {
        load(tile, from, kBytes, full);
        pipeline.producer_commit(write, kBytes);
        continue;
      }
      pipeline.producer_commit(write);
    }
    if (flaw != LoadFlaw::no_tail) pipeline.producer_tail(write);
  }

  static constexpr std::uint32_t kSurplus =
      flaw == LoadFlaw::bytes_too_many ? 16u : (flaw == LoadFlaw::bytes_too_few ? 0u - 16u : 0u);

  GANTRY_INLINE static void load(std::uint32_t* tile, const std::uint32_t* from, std::uint32_t bytes,
                                 std::uint64_t* full, Site site = Site::here()) {
    arch::cp_async_bulk(arch::space_cluster, arch::space_global, tile, from, bytes, full, site);
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s) {
    const bool releases = !kWarpsRelease || arch::lane_rank() == 0;
    Pipeline pipeline(s.pipeline, pipeline_params(releases ? PipelineRole::consumer : PipelineRole::none));
    State read = make_consumer_start_state<Stages>();
    const std::uint32_t word = arch::thread_rank() - 32;
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++read) {
      const auto number = static_cast<std::uint32_t>(i);
      const ConsumerToken token = pipeline.consumer_try_wait(read);
      pipeline.consumer_wait(read, token);
      if (flaw == LoadFlaw::releases_unread) pipeline.consumer_release(read);
      const std::uint32_t value = i % 3 == 2 ? 0 : arch::ld(arch::space_shared, &s.tile[read.index()][word]);
      arch::fence_proxy_async(arch::space_shared);
      if constexpr (kWarpsRelease) arch::syncwarp();
      if (flaw != LoadFlaw::releases_unread && (flaw != LoadFlaw::never_releases || word != 5)) {
        pipeline.consumer_release(read);
      }
      arch::st(arch::space_global, p.to + number * kWords + word, value + number);
    }
  }
};

}  // namespace gantry::test
