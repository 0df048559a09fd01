// wgmma: 128 threads bring their parts of an operation one by one; once all have come it can
// run, at any time until the wait that covers it.
//
// Accumulators leave the threads' registers when a product takes them, and come back at that wait. In between the
// registers hold a pattern that is no result.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Thread;

inline constexpr int kWarpgroupThreads = 128;

// The accumulators that a chain of products works on: 64 x N, kept by thread and register.
struct Accumulators {
  int registers = 0;
  std::vector<std::uint32_t> values;  // thread * registers + register
  std::uint64_t last = 0;             // number of the last product in the chain
  std::uint32_t* at(int thread) { return values.data() + thread * registers; }
};

struct Product {
  Wgmma what{};
  SiteId site = 0;
  int brought = 0;
  bool executed = false;
  bool unwritten = false;  // an operand holds bytes that nothing has written
  std::array<std::array<std::uint32_t, 4>, kWarpgroupThreads> a_registers{};
  std::array<std::uint32_t, kWarpgroupThreads> metadata{};  // of a sparse one
  std::shared_ptr<Accumulators> accumulators;
  std::vector<View> views;  // distinct knowledge of the threads when they came
};

// A thread's part in its warpgroup's products. Products and groups are numbered from 1.
struct WgmmaThread {
  std::uint64_t issued = 0;
  Epoch committed = 0;
  std::vector<std::uint64_t> group_end;  // last product of each committed group
  std::uint64_t fences = 0;
  std::vector<const std::uint32_t*> touched;  // accumulators, since the last fence
  struct Loaded {
    const std::uint32_t* first;
    std::size_t count;
  };
  std::vector<Loaded> loaded;  // registers that ldmatrix has written since the last fence
  // Registers that products read A, or its metadata, from, as they were at the issue.
  struct Fragment {
    const char* name;  // "registers of A"
    const std::uint32_t* registers;
    std::size_t count;
    std::array<std::uint32_t, 4> values;
    std::uint64_t product, fences;
    SiteId site;
    bool in_flight;
  };
  std::vector<Fragment> fragments;
  struct Held {
    std::uint32_t* registers;
    std::shared_ptr<Accumulators> accumulators;
  };
  std::vector<Held> held;
};

struct Warpgroup {
  std::deque<Product> products;  // not yet forgotten
  std::uint64_t first = 1;       // number of products.front()
  std::uint64_t executed = 0;    // all products up to this number have run
  Actor actor;
  bool has_actor = false;
  std::vector<Thread*> waiting;
  Epoch finished_group = 0;  // what `finished` tells
  Published finished;

  Product& product(std::uint64_t number) { return products[number - first]; }
  std::uint64_t last() const { return first + products.size() - 1; }
};

}  // namespace gantry::sim
