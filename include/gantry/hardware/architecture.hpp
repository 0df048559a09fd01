// What the hardware is, as one value: the limits of sm_90a, and a chip's clocks, rates, latencies and power.
//
// Every rule, layout of shared memory, tile schedule and cost estimate reads its numbers here, and so does the
// simulated SM. A limit or a latency that is written anywhere else is a copy. Limits are those of sm_90a and the same
// for every chip; the figures of a chip are measured (kH200), or taken from its data sheet (`measured` is false), where
// the latencies are the H200's. At run time the host replaces what the driver reports: SMs, clock, L2 and, where
// nothing was measured, DRAM.
//
// Example:
//     using namespace gantry;
//     static_assert(kSm90.shared_bytes_per_block == 227 * 1024);
//     static_assert(kH200.resident_clusters(2) == 66 && kH200.resident_clusters(4) == 30);
//     constexpr Architecture half = [] {
//       Architecture arch = kH200;
//       arch.sms = 66;
//       return arch;
//     }();
//     static_assert(half.resident_clusters(2) == 33);
//     static_assert(architecture_named("NVIDIA H100 PCIe").sms == 114);
#pragma once

#include <gantry/config.hpp>

namespace gantry {

// What compute capability 9.0a allows.
struct Sm90Limits {
  int shared_bytes_per_block = 232448;  // that a CTA may ask for: 227 KiB
  int shared_bytes_per_sm = 233472;     // 228 KiB: one more is the system's
  int registers_per_block = 65536;
  int registers_per_thread = 256;  // at launch and after setmaxnreg; a multiple of 8
  int threads_per_block = 1024;
  int threads_per_sm = 2048;
  int blocks_per_sm = 32;
  int named_barriers = 16;
  int portable_cluster = 8;     // CTAs of a cluster on every chip
  int largest_cluster = 16;     // where the device allows it
  int parameter_bytes = 32764;  // of a kernel, since CUDA 12.1
  int wgmma_columns = 256;      // of one instruction, in steps of 8
  int wgmma_column_step = 8;
  int swizzle_bytes = 128;              // the widest swizzle: a row of a K tile
  int useful_stage_bytes = 192 * 1024;  // of a main loop's stages: more of them do not help

  // CTAs of a launch that one SM holds at the same time, as far as threads and shared memory allow; at least one.
  GANTRY_HD constexpr int resident_blocks(int threads, int shared_bytes) const {
    const int reserved = shared_bytes_per_sm - shared_bytes_per_block;
    const int by_threads = threads_per_sm / ((threads + 31) / 32 * 32);
    const int by_memory = shared_bytes_per_sm / (shared_bytes + reserved);
    const int both = by_threads < by_memory ? by_threads : by_memory;
    return both < 1 ? 1 : both < blocks_per_sm ? both : blocks_per_sm;
  }
};
inline constexpr Sm90Limits kSm90{};

// Latencies and overheads of a GEMM's parts, in SM cycles unless a name says otherwise. Fitted to 1,065 times measured
// on an H200 (tests/data/gemm_times.txt), short GEMMs as dependent launches.
struct GemmLatencies {
  double launch = 4631;                   // start, first loads, last store
  double tile = 483.1;                    // between two tiles of a cooperative kernel
  double overlapped_tile = 1363;          // the same, where the store of D overlaps the next tile
  double pingpong_turn = 160.9;           // the same, where warpgroups alternate
  double k_step = 7.12;                   // between two K tiles
  double stage_refill = 1944;             // from a released stage to a full one
  double promoted_block = 100;            // FP8: of a warpgroup from one block of K that it promotes to the next
  double promoted_sum = 9.2;              // the same, for each accumulator of a thread
  double promoted_sum_of_column = 26;     // where each column of B has its own scales
  double smem_read_share = 0.8035;        // of wgmma's shared-memory reads that compete with TMA's writes
  double epilogue_elements = 16.97;       // per cycle, of one warpgroup
  double heavy_epilogue = 3.914;          // factor for special functions
  double spilling_epilogue = 2;           // factor where registers spill
  double epilogue_byte = 0.05055;         // for each further byte of an element, of one warpgroup
  double epilogue_byte_of_three = 1.554;  // factor for that where three warpgroups alternate
  double subtile = 208.6;                 // barriers of one epilogue subtile
  double subtile_with_loads = 1.212;      // factor for that where more than D moves
  double split_latency = 4103;            // split-K: from leaving partial accumulators to finding them
  double split_add = 694.7;               // split-K: to load and add one CTA's partial accumulators, at least
  double split_rate = 53.75;              // bytes per cycle of partial accumulators that leave or arrive
  double cluster_latency = 385;           // the same within a cluster, through distributed shared memory
  double cluster_rate = 180;              // bytes per cycle of accumulators that reach the CTA that adds them
  double uneven_split_steps = 21.61;      // K tiles that reading at several places in K costs
  double hot_load = 0.18;                 // share of the time, of loads that all SMs make at once
  double load_outside = 1.089;            // added share, of loads of rows outside of the matrix
  double memory_outside = 0.5;            // the same, of B's time in DRAM beside rows of A that are not there
  double wide_stream = 1.05;              // factor of memory where swapped operands read the weights by 128 rows
  double load_across_lines = 1.099;       // factor where rows do not begin at L2 lines
  double load_across_sectors = 1.45;      // and where they do not begin at its sectors either
  double store_across_lines = 1.342;      // the same, for stored rows
  double store_across_sectors = 2.66;     // added, for each sector's share of a stored row
  double overlap_sharpness = 14.61;       // of the soft maximum of two times that overlap
  double streaming_sharpness = 1.82;      // the same, where swapped operands are read once
  double few_rows_sharpness = 2.1;        // and where few rows are not swapped
};

// Thresholds of the tile schedule and of staging, as measured (docs/measurements).
struct GemmThresholds {
  int uneven_split_steps = 48;           // K tiles that stream-K must save each cluster before it pays
  int short_k_steps = 4;                 // K tiles of a short K: D decides the raster
  int row_steps = 512;                   // K tiles of a whole row of tiles that L2 holds beside D
  int overlapped_store_k = 256;          // K from which an overlapped store pays
  int few_rows = 64;                     // M up to which the weights bound a GEMM; of groups, operands are swapped
  double dependent_milliseconds = 0.15;  // GEMMs shorter than this gain from a dependent launch
};

// Share of the power limit drawn by: an idle chip, tensor cores at full rate, DRAM at full rate.
struct PowerShares {
  double idle = 0.7061, tensor_cores = 0.5148, dram = 0.3539;
};

struct Architecture {
  const char* name = "H200";
  bool measured = true;  // false: figures of the data sheet, latencies of the H200
  Sm90Limits limits{};

  int sms = 132;
  // SMs come in GPCs, which clusters of four do not fill: one SM in so many holds none; 0: clusters fill all. An H200
  // holds 120 CTAs of such clusters.
  int stranded_one_in = 11;
  double clock = 1.98e9;        // Hz, where power does not hold it back
  double dram_rate = 4.377e12;  // bytes per second that a GEMM reaches
  double dram_peak = 4.8e12;    // of the data sheet
  double l2_rate = 53.12;       // bytes per cycle and SM
  double l2_bytes = 50 << 20;
  double shared_rate = 128;  // bytes per cycle and SM
  double mma_rate = 2048;    // multiply-adds of 16-bit elements per cycle and SM
  double mma_peak = 989e12;  // operations per second of the data sheet, 16-bit elements, dense
  GemmLatencies latency{};
  GemmThresholds threshold{};
  PowerShares power{};

  // Clusters of so many CTAs, `blocks` to an SM, that the chip holds at the same time.
  GANTRY_HD constexpr int resident_clusters(int size, int blocks = 1) const {
    const int stranded = size > 2 && stranded_one_in > 0 ? (sms + stranded_one_in - 1) / stranded_one_in : 0;
    const int clusters = (sms - stranded) * blocks / size;
    return clusters > 0 ? clusters : 1;
  }
};

inline constexpr Architecture kH200{};

inline constexpr Architecture kH100Sxm = [] {
  Architecture arch;
  arch.name = "H100 SXM";
  arch.measured = false;
  arch.dram_peak = 3.35e12;
  arch.dram_rate = 3.05e12;  // the share of the peak that an H200 reaches
  return arch;
}();

inline constexpr Architecture kH100Pcie = [] {
  Architecture arch;
  arch.name = "H100 PCIe";
  arch.measured = false;
  arch.sms = 114;
  arch.clock = 1.755e9;
  arch.dram_peak = 2.04e12;
  arch.dram_rate = 1.86e12;  // the share of the peak that an H200 reaches
  arch.mma_peak = 756e12;
  return arch;
}();

// The chip of a device that the driver calls by this name ("NVIDIA H100 PCIe"); an H200 where the name says neither.
constexpr const Architecture& architecture_named(const char* device) {
  const auto contains = [device](const char* word) {
    for (const char* at = device; *at != 0; ++at) {
      int i = 0;
      while (word[i] != 0 && at[i] == word[i]) ++i;
      if (word[i] == 0) return true;
    }
    return false;
  };
  if (contains("PCIe")) return kH100Pcie;
  return contains("H100") ? kH100Sxm : kH200;
}

// The chip of a device by its name, with what the driver reports of it: 0 where it says nothing, and the chip's own
// value stays.
struct ReportedDevice {
  const char* name = "";
  int sms = 0;
  int clock_khz = 0;         // highest
  int memory_clock_khz = 0;  // highest; two transfers a cycle
  int memory_bits = 0;       // width of the memory's bus
  double l2_bytes = 0;
};
constexpr Architecture architecture_of(const ReportedDevice& device) {
  Architecture arch = architecture_named(device.name);
  if (device.sms > 0) arch.sms = device.sms;
  if (device.clock_khz > 0) arch.clock = device.clock_khz * 1e3;
  if (device.l2_bytes > 0) arch.l2_bytes = device.l2_bytes;
  const double peak = 2e3 * device.memory_clock_khz * device.memory_bits / 8;
  if (!arch.measured && peak > 0) {  // the rate that was measured is that of the data sheet's memory
    arch.dram_rate *= peak / arch.dram_peak;
    arch.dram_peak = peak;
  }
  return arch;
}

// Simulated SMs behave as an H200's, but any of them make a cluster.
constexpr Architecture simulated_architecture(int sms) {
  Architecture arch = kH200;
  arch.sms = sms;
  arch.stranded_one_in = 0;
  return arch;
}

}  // namespace gantry
