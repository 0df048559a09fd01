// Warpgroups that alternate leave tiles to each other. A scheduler that cannot is refused by the kernel's own words.
// EXPECT: its scheduler has skip(tiles), which returns the K tiles of those
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>

using namespace gantry;

struct Design {
  static constexpr GemmDesign design = make_gemm_design(
      {.tile = {64, 64}, .cluster = {1, 1}, .schedule = GemmSchedule::pingpong}, fusion::graph("d = relu(acc)"));
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc)");
  using Functions = fusion::UserFunctions<>;
};
class OneTile {
 public:
  struct Params {
    int k_steps;
  };
  static constexpr int kSharedBytes = 0;
  static const int& uniform_k_steps(const Params& p) { return p.k_steps; }
  const int& k_steps(const Work&) const { return p_.k_steps; }
  template <class Shared>
  OneTile(const Params& p, const Shared&, int) : p_(p) {}
  bool next(Work&) { return false; }
  void place(Work&) const {}
  bool is_peer(int, const Work&) const { return false; }

 private:
  const Params& p_;
};
static_assert(TileScheduler<OneTile>);
constexpr int bytes = PingpongGemm<Design, FusedEpilogue<Design>, OneTile>::kSharedBytes;
