// The interface of the simulated SM that the host bodies of `arch/` call, from the thread that runs on it.
//
// Every function acts on behalf of the simulated thread that is running now; calling one outside of a simulated kernel
// is reported as such. They are defined once, in the library built from `src/sim`. Kernels and the layers above `arch/`
// never include this header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

namespace gantry::sim {

using arch::MmaType;
using arch::ReduceOp;
using arch::Scope;
using arch::Semantics;
using arch::Space;

// The special registers of a thread. Linear ranks count x fastest.
struct Identity {
  std::uint32_t tid[3], ntid[3];
  std::uint32_t ctaid[3], nctaid[3];
  std::uint32_t cluster_ctaid[3], cluster_nctaid[3];
  std::uint32_t clusterid[3], nclusterid[3];
  std::uint32_t cluster_ctarank, cluster_nctarank;
  std::uint32_t thread_rank;  // tid, linear
  std::uint32_t shared_bytes;
};
const Identity& identity();

// Addresses of shared memory: the 32-bit address that descriptors hold, and the same offset in another CTA of the
// cluster.
std::uint32_t shared_address(const void* pointer, Site site);
void* map_shared_rank(const void* pointer, std::uint32_t rank, Site site);
std::uint32_t cta_rank_of(const void* pointer, Site site);

// Names for reports. `index` < 0: the object has no index.
struct ObjectName {
  std::size_t bytes;
  const char* text;
  const char* part;
  int index;
};
void name_object(const void* pointer, const ObjectName& name);
void name_role(const char* role);

struct Arrive {
  std::uint64_t* barrier;
  std::uint32_t count = 1;
  bool expects = false;  // expect_tx of `bytes` before the arrival
  std::uint32_t bytes = 0;
  bool drop = false;
  bool no_complete = false;
  Semantics semantics = Semantics::release;
  Scope scope = Scope::cta;
  Space space = Space::shared;
};
void mbarrier_init(std::uint64_t* pointer, std::uint32_t count, Site site);
void mbarrier_inval(std::uint64_t* pointer, Site site);
std::uint64_t mbarrier_arrive(const Arrive& arrive, Site site);
void mbarrier_expect_tx(std::uint64_t* pointer, std::uint32_t bytes, Space space, Site site);
void mbarrier_complete_tx(std::uint64_t* pointer, std::uint32_t bytes, Site site);
std::uint32_t mbarrier_pending_count(std::uint64_t state);

// A wait names a phase by its parity, or by the state that an arrive returned. `test` looks once, `attempt` waits for a
// while and may give up, `block` returns only when the phase is complete.
enum class WaitKind : std::uint8_t { test, attempt, block };
struct Wait {
  std::uint64_t* barrier;
  bool by_parity = true;
  std::uint32_t parity = 0;
  std::uint64_t state = 0;
  WaitKind kind = WaitKind::block;
  Semantics semantics = Semantics::acquire;
  Scope scope = Scope::cta;
};
bool mbarrier_wait(const Wait& wait, Site site);

// A named barrier as one of its users sees it. `aligned`: the lanes of a warp come together.
struct BarrierUse {
  std::uint32_t id = 0;
  std::uint32_t threads = 0;  // 0: the whole CTA
  bool aligned = true;
};
void barrier_sync(const BarrierUse& use, Site site);
void barrier_arrive(const BarrierUse& use, Site site);
// In how many of the threads that waited a condition was true, and whether in any and in all of them.
struct BarrierVotes {
  std::uint32_t count = 0;
  bool any = false, all = true;
};
BarrierVotes barrier_reduce(const BarrierUse& use, bool value, Site site);

struct ClusterBarrierUse {
  Semantics semantics;
  bool aligned = true;
};
void cluster_arrive(const ClusterBarrierUse& use, Site site);
void cluster_wait(const ClusterBarrierUse& use, Site site);

// Gives every lane of `mask` the values that all of them brought, and says which lanes took part: those of the mask
// that have not returned. `ordered` also orders their memory accesses. `aligned` lanes come from the same place of the
// source, and none of the warp may have returned.
struct Exchange {
  std::uint32_t mask;
  std::uint64_t value = 0;
  bool ordered = false;
  const char* operation = "";
  bool aligned = false;
};
std::uint32_t warp_exchange(const Exchange& exchange, std::uint64_t (&values)[32], Site site);
// The segment mask of a shuffle within groups of `width` lanes, as the instruction takes it.
std::uint32_t shuffle_segments(int width, Site site);

enum class Fence : std::uint8_t { mbarrier_init, proxy_async, proxy_async_shared, proxy_async_global, thread };
void fence(Fence kind, Semantics semantics, Scope scope, Site site);
void fence_tensormap_acquire(const void* map, Scope scope, Site site);
void fence_tensormap_release(Scope scope, Site site);
void tensormap_copy_release(void* global_map, const void* shared_map, Scope scope, Site site);

// A field of a tensor map in memory; numbered as `tensormap.replace` lists them.
enum class MapField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};
void tensormap_replace(void* map, MapField field, int ordinal, std::uint64_t value, Site site);
void tensormap_prefetch(const void* map, Site site);

enum class CopyKind : std::uint8_t { load, store, reduce, prefetch };
struct TensorCopy {
  CopyKind kind;
  void* shared = nullptr;
  const void* map = nullptr;
  int rank = 0;
  const std::int32_t* coordinates = nullptr;
  std::uint64_t* barrier = nullptr;
  bool multicast = false;
  std::uint16_t mask = 0;
  bool im2col = false;
  const std::uint16_t* offsets = nullptr;
  ReduceOp op = ReduceOp::add;
};
void tensor_copy(const TensorCopy& copy, Site site);

// How the bytes of a scalar or of an array element are to be understood.
enum class Element : std::uint8_t { b8, b16, u32, s32, u64, s64, f16, bf16, f32, f64 };

// Copies without a tensor: between global and shared memory, or from this CTA's to another's.
struct BulkCopy {
  CopyKind kind;
  Space to = Space::cluster;
  Space from = Space::global;
  void* destination = nullptr;
  const void* source = nullptr;
  std::uint32_t bytes = 0;
  std::uint64_t* barrier = nullptr;
  bool multicast = false;
  std::uint16_t mask = 0;
  ReduceOp op = ReduceOp::add;
  Element element = Element::b8;
};
void bulk_copy(const BulkCopy& copy, Site site);
void bulk_commit_group(Site site);
void bulk_wait_group(int allowed, bool read_only, Site site);

// st.async and red.async: a value of up to 16 bytes and its credit travel together to a CTA of the cluster.
struct RemoteStore {
  void* destination;
  const void* value;
  std::uint32_t bytes;
  std::uint64_t* barrier;
  bool reduces = false;
  ReduceOp op = ReduceOp::add;
  Element element = Element::u32;
};
void remote_store(const RemoteStore& store, Site site);

struct Access {
  Space space = Space::shared;
  Semantics semantics = Semantics::weak;
  Scope scope = Scope::cta;
  bool constant = false;   // ld.global.nc: of data that nobody writes while the kernel runs
  bool passed_on = false;  // a store: to threads of this kernel alone
};
void load(void* to, const void* from, std::uint32_t bytes, Access access, Site site);
void store(void* to, const void* from, std::uint32_t bytes, Access access, Site site);

enum class AtomicOp : std::uint8_t { add, min, max, inc, dec, and_, or_, xor_, exchange, compare_exchange };
struct Atomic {
  void* target;
  AtomicOp op;
  Element element;
  int lanes = 1;  // a vector of `lanes` elements, each updated on its own
  const void* value = nullptr;
  const void* compare = nullptr;
  void* old = nullptr;  // null: a reduction that returns nothing
};
void atomic(const Atomic& what, Access access, Site site);

// One 8x8 matrix of 16-bit elements per register; lane 8 j + r brings the address of row r of matrix j.
void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed, Site site);
void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed, Site site);

// What a wgmma makes of shared memory that nothing has written: NaNs that no arithmetic makes, and that sums keep.
inline constexpr std::uint16_t kPoisonHalf = 0x7FDB;  // of 16 bits
inline constexpr std::uint32_t kPoison = std::uint32_t{kPoisonHalf} << 16 | kPoisonHalf;

struct Wgmma {
  int n;
  MmaType d, a, b;
  bool a_in_registers = false;
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  std::uint32_t a_registers[4] = {};
  const std::uint32_t* a_source = nullptr;  // the thread's registers that they were read from
  bool sparse = false;                      // A holds half of its columns, and the metadata say which
  int selector = 0;
  std::uint32_t metadata = 0;
  const std::uint32_t* metadata_source = nullptr;  // null: a value that is in no register of the kernel's
  bool a_transposed = false, b_transposed = false;
  int a_scale = 1, b_scale = 1;
  bool accumulate = true;
  bool saturate = false;
  std::uint32_t* accumulators = nullptr;  // this thread's registers, in fragment order
  int registers = 0;
};
void wgmma(const Wgmma& mma, Site site);
void wgmma_fence(Site site);
void wgmma_commit_group(Site site);
void wgmma_wait_group(int allowed, Site site);
// Reports a use of accumulator registers that an unfinished wgmma still owns.
void wgmma_touch(const void* accumulators, Site site);

void setmaxnreg(std::uint32_t registers, bool grow, Site site);
void grid_dependency_wait(Site site);
void grid_launch_dependents(Site site);
std::uint64_t clock64(Site site);      // steps of the run
std::uint64_t globaltimer(Site site);  // the same, as nanoseconds
void pause(Site site);                 // lets others run; part of every loop that polls

}  // namespace gantry::sim
