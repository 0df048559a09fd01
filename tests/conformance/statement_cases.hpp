// What an H200 was seen to do, one case for each statement: the same on the simulator, or the rule that it reports
// where the GPU ends the launch.
#pragma once

#include <climits>
#include <cstring>
#include <string>

#include "copy_cases.hpp"
#include "statement_kernels.hpp"

namespace gantry::conformance {

inline Copy matrix_copy(TmaDataType type, TmaSwizzle swizzle = TmaSwizzle::none) {
  const auto element = static_cast<std::uint32_t>(element_bytes(type));
  Copy copy;
  copy.map = {.data_type = type,
              .rank = 2,
              .dims = {256 / element, 64},
              .strides = {256},
              .box = {32 / element, 16},
              .swizzle = swizzle};
  if (swizzle != TmaSwizzle::none) copy.map.box[0] = static_cast<std::uint32_t>(swizzle_span_bytes(swizzle)) / element;
  copy.bytes = 256 * 64;
  return copy;
}

template <class Machine>
class Statements {
 public:
  explicit Statements(Cases<Machine>& cases) : cases_(cases) {}

  void add_all() {
    swizzles();
    bounds();
    fills();
    types();
    stores();
    barriers();
    groups();
    proxies();
  }

  void add_faults() {
    coordinate_faults();
    map_faults();
    destination_faults();
    cases_.push_back({"11: expecting 2^20 bytes ends the launch",
                      [](Machine& m) { say<BarrierSays<BarrierStatement::larger_expect>>(m); },
                      {},
                      {"mbarrier-tx-overflow", kLaunchFailure}});
  }

 private:
  static Bytes data(std::size_t bytes) { return Dice(11).bytes(bytes); }

  void load(const std::string& name, const Copy& copy, std::uint32_t offset = 0, Breaks breaks = {}) {
    cases_.push_back(
        {"11: " + name, [=](Machine& m) { load_and_show(m, copy, data(copy.bytes), offset); }, {}, breaks});
  }
  void store(const std::string& name, const Copy& copy, Breaks breaks = {}) {
    cases_.push_back(
        {"11: " + name,
         [=](Machine& m) { store_and_show(m, copy, Bytes(copy.bytes, 0x55), data(image_bytes(copy.map))); },
         {},
         breaks});
  }
  template <class Kernel>
  static void say(Machine& m) {
    typename Kernel::Params params{};
    params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(32)));
    m.template launch<Kernel>(one_cta<Kernel>("barrier_statement"), params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), 32);
  }

  void swizzles() {
    for (const TmaSwizzle swizzle : {TmaSwizzle::bytes_32, TmaSwizzle::bytes_64, TmaSwizzle::bytes_128}) {
      for (const std::uint32_t k : {0u, 1u, 2u, 3u, 7u}) {
        load(std::string("swizzle ") + to_text(swizzle) + " follows the address at 1024 + 128 * " + std::to_string(k),
             matrix_copy(TmaDataType::bf16, swizzle), 1024 + 128 * k);
      }
      for (std::uint32_t inner = 16; inner < static_cast<std::uint32_t>(swizzle_span_bytes(swizzle)); inner *= 2) {
        Copy copy = matrix_copy(TmaDataType::u8, swizzle);
        copy.map.box[0] = inner;
        load(std::string("rows of ") + std::to_string(inner) + " bytes are spaced by the span of swizzle " +
                 to_text(swizzle),
             copy);
      }
    }
  }

  void bounds() {
    const auto at = [](std::int32_t x, std::int32_t y) {
      Copy copy = matrix_copy(TmaDataType::u16);
      copy.at[0] = x, copy.at[1] = y;
      return copy;
    };
    load("a load partly beyond the tensor is filled", at(120, 56));
    load("a load wholly beyond the tensor is filled", at(4096, 4096));
    load("a load from before the tensor is filled", at(-8, -5));
    load("a load may start at INT_MIN", at(0, INT_MIN));
    load("a load may start at INT_MIN along the row", at(INT_MIN, 0));
    load("a load may start at INT_MAX", at(0, INT_MAX));
    load("a load may reach past INT_MAX along the row", at(INT_MAX - 7, 0));
    Copy steps = at(8, 3);
    steps.map.element_strides[1] = 3;
    load("every third row arrives packed", steps);
    steps.map.element_strides[1] = 1;
    steps.map.element_strides[0] = 2;
    load("a step of dimension 0 is ignored", steps);
    Copy overlap = matrix_copy(TmaDataType::u8);
    overlap.map.strides[0] = 16;
    overlap.at[0] = 16, overlap.at[1] = 40;
    load("rows may overlap", overlap);
    overlap.map.strides[0] = 0;
    load("rows may be one row", overlap);
  }

  void fills() {
    for (const TmaDataType type : kTypes) {
      if (!is_floating(type)) continue;
      Copy copy = matrix_copy(type);
      copy.map.fill = TmaFill::nan;
      copy.at[1] = 60;
      load(std::string("the NaN fill of ") + to_text(type), copy);
    }
  }

  // Patterns on both sides of a tie, subnormals, infinities and NaNs.
  void types() {
    static constexpr std::uint32_t kWords[] = {0x3f801fff, 0x3f801000, 0x3f803000, 0x3f800fff, 0x3f801001,
                                               0x807fffff, 0x00000001, 0x00001000, 0x007fefff, 0x7f7fffff,
                                               0x7f7fefff, 0xff7ff000, 0x7f800000, 0xff800000, 0x7f800001,
                                               0xffc00000, 0x7fffe000, 0x80000000, 0x00800000, 0xbf80f000};
    for (const TmaDataType type : {TmaDataType::f32, TmaDataType::f32_ftz, TmaDataType::tf32, TmaDataType::tf32_ftz}) {
      Copy copy;
      copy.map = {.data_type = type, .rank = 1, .dims = {std::size(kWords)}, .box = {std::size(kWords)}};
      Bytes words(sizeof kWords);
      std::memcpy(words.data(), kWords, sizeof kWords);
      cases_.push_back({std::string("11: what a load makes of ") + to_text(type),
                        [=](Machine& m) { load_and_show(m, copy, words); }});
      Bytes tile(128);
      std::memcpy(tile.data(), kWords, sizeof kWords);
      cases_.push_back({std::string("11: a store keeps the bits of ") + to_text(type),
                        [=](Machine& m) { store_and_show(m, copy, Bytes(sizeof kWords), tile); }});
    }
  }

  void stores() {
    const auto at = [](std::int32_t x, std::int32_t y) {
      Copy copy = matrix_copy(TmaDataType::u32);
      copy.at[0] = x, copy.at[1] = y;
      return copy;
    };
    store("a store drops what lies beyond the tensor", at(60, 55));
    store("a store wholly beyond the tensor writes nothing", at(64, 0));
    store("a store may reach past INT_MAX", at(0, INT_MAX));
    Copy steps = at(4, 1);
    steps.map.element_strides[1] = 2;
    store("a store of every second row", steps);
    for (const TmaDataType type : {TmaDataType::u8, TmaDataType::f16, TmaDataType::f32, TmaDataType::f64}) {
      Copy ragged = matrix_copy(type);
      ragged.map.dims[0] = 1;
      store(std::string("a store writes whole chunks of 16 bytes, ") + to_text(type), ragged);
    }
  }

  void barriers() {
    cases_.push_back({"11: bytes may be credited before they are expected",
                      [](Machine& m) { say<BarrierSays<BarrierStatement::credit_before_expect>>(m); }});
    cases_.push_back({"11: expecting what was credited after the last arrival completes the phase",
                      [](Machine& m) { say<BarrierSays<BarrierStatement::expect_after_the_last_arrival>>(m); }});
    cases_.push_back({"11: a barrier counts 2^20 - 1 bytes",
                      [](Machine& m) { say<BarrierSays<BarrierStatement::largest_expect>>(m); }});
    cases_.push_back({"11: the lowest lane of a mask is elected", [](Machine& m) {
                        Dice dice(4);
                        Elects::Params params{};
                        for (std::uint32_t& mask : params.masks)
                          mask = static_cast<std::uint32_t>(dice.bits() | 1u << dice.between(0, 31));
                        params.masks[0] = 0xFFFFFFFF, params.masks[1] = 0x80000000, params.masks[2] = 0xFFFF0000;
                        params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(sizeof params.masks, 0xFF)));
                        m.template launch<Elects>(one_cta<Elects>("elect"), params);
                        m.result(reinterpret_cast<const std::uint8_t*>(params.out), sizeof params.masks);
                      }});
  }

  void groups() {
    cases_.push_back({"11: wait_group.read returns at once in a thread that did not commit", [](Machine& m) {
                        AnotherThreadWaits::Params params{};
                        params.to = m.buffer(Bytes(AnotherThreadWaits::kRounds * AnotherThreadWaits::kBytes));
                        params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(4)));
                        m.template launch<AnotherThreadWaits>(one_cta<AnotherThreadWaits>("another_thread_waits"),
                                                              params);
                        m.result(reinterpret_cast<const std::uint8_t*>(params.out), 4);
                      }});
  }

  // The simulator reports what the hardware was not seen to show.
  void proxies() {
    cases_.push_back({"11: a fence missing between writes and a copy may not show",
                      [](Machine& m) { leave_out<LeavesOutTheFence<Unfenced::written>>(m); },
                      {},
                      {"proxy-fence-missing"}});
    cases_.push_back({"11: a fence missing between reads and a copy may not show",
                      [](Machine& m) { leave_out<LeavesOutTheFence<Unfenced::read>>(m); },
                      {},
                      {"proxy-fence-missing-after-read"}});
  }
  template <class Kernel>
  static void leave_out(Machine& m) {
    constexpr std::size_t kBytes = Kernel::kBytes + 4 * Kernel::kThreads;  // the tile, and a sum of each thread
    typename Kernel::Params params{};
    params.from = m.buffer(data(Kernel::kBytes));
    params.to = m.buffer(Bytes(kBytes));
    m.template launch<Kernel>(one_cta<Kernel>("leaves_out_the_fence"), params);
    m.result(params.to, kBytes);
  }

  void coordinate_faults() {
    const auto at = [](std::int32_t x, std::int32_t y) {
      Copy copy = matrix_copy(TmaDataType::u16);
      copy.at[0] = x, copy.at[1] = y;
      return copy;
    };
    constexpr Breaks kAlignment{"tensor-coordinate-alignment", kIllegalInstruction};
    load("a load may not start at byte 2", at(1, 0), 0, kAlignment);
    load("a load may not start at byte -8", at(-4, 0), 0, kAlignment);
    load("a load may not start at INT_MAX along the row", at(INT_MAX, 0), 0, kAlignment);
    store("a store may not start at byte 8", at(4, 0), kAlignment);
    constexpr Breaks kNegative{"tensor-store-negative", kIllegalInstruction};
    store("a store may not start before the tensor along the row", at(-8, 0), kNegative);
    store("a store may not start before the tensor along the columns", at(0, -1), kNegative);
    Copy im2col;
    im2col.map = {.mode = TmaMode::im2col,
                  .data_type = TmaDataType::u16,
                  .rank = 4,
                  .dims = {8, 6, 5, 2},
                  .strides = {16, 96, 480},
                  .lower_corner = {-1, -1},
                  .upper_corner = {-1, -1},
                  .channels_per_pixel = 8,
                  .pixels_per_column = 8};
    im2col.bytes = 960;
    im2col.at[1] = -2;
    load("an im2col load may not start left of its box", im2col, 0, {"tensor-im2col-start", kIllegalInstruction});
    im2col.at[1] = 5;
    load("an im2col load may not start right of its box", im2col, 0, {"tensor-im2col-start", kIllegalInstruction});
  }

  // Bytes that are no map, and maps of another kind than the instruction's.
  void map_faults() {
    using Kernel = LoadBox<2>;
    const auto with_map = [this](const char* name, const char* rule, auto make) {
      const auto body = [make](Machine& m) {
        Kernel::Params params{};
        params.map = make(m);
        params.expected_bytes = 512;
        params.image = m.buffer(Bytes(640));
        params.image_bytes = 640;
        m.template launch<Kernel>(one_cta<Kernel>("load_box"), params);
        m.result(params.image, 640);
      };
      cases_.push_back({std::string("11: ") + name, body, {}, {rule, kIllegalInstruction}});
    };
    constexpr const char* kInvalid = "tensor-map-invalid";
    with_map("a map of zeros", kInvalid, [](Machine&) { return TmaDescriptor{}; });
    with_map("a map of ones", kInvalid, [](Machine&) {
      TmaDescriptor map;
      std::memset(&map, 0xFF, sizeof map);
      return map;
    });
    with_map("a map of garbage", kInvalid, [](Machine&) {
      TmaDescriptor map;
      std::memcpy(&map, Dice(5).bytes(sizeof map).data(), sizeof map);
      return map;
    });
    with_map("a map of rank 3 for an instruction of rank 2", "tensor-map-mismatch", [](Machine& m) {
      return m.map({.rank = 3,
                    .address = reinterpret_cast<std::uint64_t>(m.buffer(Bytes(4096))),
                    .dims = {64, 8, 8},
                    .strides = {64, 512},
                    .box = {32, 4, 4}});
    });
    const Copy tiled = matrix_copy(TmaDataType::u16);
    const auto mismatched = [tiled](Machine& m) {
      using Im2col = LoadBox<4, true>;
      Copy copy = tiled;
      copy.map.rank = 4;
      copy.map.dims[2] = copy.map.dims[3] = copy.map.box[2] = copy.map.box[3] = 1;
      copy.map.strides[1] = copy.map.strides[2] = 16384;
      load_and_show<Im2col>(m, copy, data(copy.bytes));
    };
    cases_.push_back(
        {"11: a tiled map for an im2col instruction", mismatched, {}, {"tensor-map-mismatch", kIllegalInstruction}});
    cases_.push_back(
        {"11: a map in shared memory",
         [tiled](Machine& m) { load_and_show<LoadBox<2, false, MapPlace::shared>>(m, tiled, data(tiled.bytes)); },
         {},
         {"tensor-map-space", kIllegalAddress}});
    cases_.push_back(
        {"11: a map in local memory",
         [tiled](Machine& m) { load_and_show<LoadBox<2, false, MapPlace::local>>(m, tiled, data(tiled.bytes)); },
         {},
         {kNotModelled, kIllegalAddress}});
    with_map("a map of memory that is not there", kNotModelled, [tiled](Machine& m) {
      TmaDescriptorParams map = tiled.map;
      map.address = std::uint64_t{1} << 46;
      return m.map(map);
    });
    cases_.back().breaks.gpu_error = kIllegalAddress;
  }

  void destination_faults() {
    for (const std::uint32_t alignment : {64u, 16u, 8u}) {
      load("a destination aligned to " + std::to_string(alignment) + " bytes", matrix_copy(TmaDataType::u16), alignment,
           {"tensor-shared-alignment", kMisalignedAddress});
    }
  }

  Cases<Machine>& cases_;
};

template <class Machine>
void add_statements(Cases<Machine>& cases) {
  Statements<Machine>(cases).add_all();
}
template <class Machine>
void add_faults(Cases<Machine>& cases) {
  Statements<Machine>(cases).add_faults();
}

}  // namespace gantry::conformance
