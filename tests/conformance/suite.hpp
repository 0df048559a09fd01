// A case of the conformance suite is written once and run on both machines: it asks the machine for memory and maps,
// launches kernels, and hands in bytes. The simulator's bytes are kept in a file, and a GPU's are held against them.
//
// A machine has
//   std::uint8_t* buffer(const Bytes& initial);         global memory, aligned to 1024 bytes
//   TmaDescriptor map(const TmaDescriptorParams& p);
//   template <class Kernel> void launch(const LaunchConfig& config, const typename Kernel::Params& params);
//   template <class First, class Second>
//   void launch_in_order(const KernelLaunch<First>& first, const KernelLaunch<Second>& second);
//   void result(const std::uint8_t* from, std::size_t bytes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gantry/arch/launch_config.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::conformance {

using Bytes = std::vector<std::uint8_t>;

// How far the bytes of the two machines may be apart: not at all, or as floating-point numbers by `bound`.
struct Agreement {
  enum class Kind : std::uint8_t { exact, f32_within, f16_within };
  Kind kind = Kind::exact;
  double bound = 0;
};

// cudaErrorIllegalAddress and its kin, by number: this header knows no CUDA.
inline constexpr int kIllegalAddress = 700, kIllegalInstruction = 715, kMisalignedAddress = 716, kLaunchFailure = 719;

// What a case is expected to break: a rule of the simulator, the error that a launch on a GPU ends with, or both. With
// an error there are no bytes to compare; with a rule alone there are.
struct Breaks {
  const char* rule = "";
  int gpu_error = 0;
};
inline constexpr const char* kNotModelled = "not modelled";  // as a rule: the simulator leaves the case out

template <class Machine>
struct Case {
  std::string name;
  std::function<void(Machine&)> body;
  Agreement agreement{};
  Breaks breaks{};
};

template <class Machine>
using Cases = std::vector<Case<Machine>>;

// Random numbers that are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // Both ends included.
  int between(int low, int high) { return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[bits() % N];
  }
  Bytes bytes(std::size_t count) {
    Bytes out(count);
    for (std::uint8_t& b : out) b = static_cast<std::uint8_t>(bits());
    return out;
  }

 private:
  std::uint64_t state_;
};

}  // namespace gantry::conformance
