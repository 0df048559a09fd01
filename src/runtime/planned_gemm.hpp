// A GEMM planned for sizes, strides and alignments, with its addresses left open: planned once, run with any.
//
// The kernel's parameters are written once, and each run takes a copy in which addresses and numbers are exchanged.
// What was checked when it was planned holds for every address that is the same modulo 16, and where what is written
// overlaps nothing else; holds_for() compares that, and whoever finds it different plans anew.
#pragma once

#include <memory>
#include <vector>

#include <gantry/gemm/call.hpp>
#include <gantry/gemm/check.hpp>
#include <gantry/gemm/planner.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

// The operands of a call, by number: A, B, C, D, scales, an index of A's rows, then the arguments of the graph, as
// GemmOperandIndex counts.
struct GemmAddresses {
  static constexpr int kOperands = detail::GemmOperandIndex::kArguments + fusion::kMaxArguments;

  enum class Given : std::uint8_t { no, number, address };

  void* at[kOperands] = {};
  const void* groups = nullptr;  // offsets or counts of a grouped GEMM, or the GEMMs of a pointer array
  // Of arguments of the graph.
  float values[fusion::kMaxArguments] = {};
  Given given[fusion::kMaxArguments] = {};
  std::int64_t strides[fusion::kMaxArguments] = {}, batch_strides[fusion::kMaxArguments] = {};
};

// The machine that a plan is for.
struct PlanningMachine {
  Architecture arch = kH200;
  int resident_clusters = 1;  // of the design's size
  // Makes a tensor map.
  Result<TmaDescriptor> (*encode)(const TmaDescriptorParams& params) = nullptr;
  // Moves one to another address.
  bool (*move)(TmaDescriptor& map, void* address) = nullptr;
};

// A tensor map that breaks no rule of TMA, without asking the driver.
Result<TmaDescriptor> encode_by_rules(const TmaDescriptorParams& params);

// Bytes that begin at a multiple of 128.
class ParameterBlock {
 public:
  explicit ParameterBlock(std::size_t bytes);

  unsigned char* data() { return data_; }

 private:
  // A graph with as many auxiliary tensors as it can have, and all that kernels take beside: no run allocates.
  static constexpr std::size_t kOfArguments = fusion::kMaxArguments * (sizeof(TmaDescriptor) + sizeof(fusion::Operand));
  static constexpr std::size_t kInPlace = (kOfArguments + 1024) / 128 * 128;

  alignas(128) unsigned char in_place_[kInPlace];
  std::unique_ptr<unsigned char[]> larger_;
  unsigned char* data_;
};

class PlannedGemm {
 public:
  // Requires a graph of the design's, and a call that it can implement. Fails where the machine does.
  static Result<PlannedGemm> make(const GemmDesign& design, const fusion::Graph& graph, const GemmCall& call,
                                  const PlanningMachine& machine);

  const GemmLaunchPlan& launch() const { return launch_; }
  std::size_t workspace_bytes() const { return launch_.needs.total(); }
  bool nothing_to_do() const { return nothing_to_do_; }
  std::size_t parameter_bytes() const { return parameters_.size() * sizeof(Chunk); }

  // Whether what was checked holds for these addresses too.
  bool holds_for(const GemmAddresses& addresses) const;
  // The parameters with these addresses, and this workspace; what must be filled before the kernel. False where a
  // tensor map could not be moved.
  [[nodiscard]] bool write(const GemmAddresses& addresses, void* workspace, unsigned char* parameters) const;
  FillWords::Params fills(const GemmAddresses& addresses, void* workspace) const;
  bool has_fills() const { return fills_.fill_count > 0; }
  // What must be packed between the two.
  PackLines::Params packs(const GemmAddresses& addresses, void* workspace) const;
  // What must be added after the kernel, where launch().sums_slots().
  SumSlots::Params slot_sums(const GemmAddresses& addresses, void* workspace) const;

 private:
  struct alignas(128) Chunk {
    unsigned char bytes[128];
  };
  static constexpr int kInWorkspace = -1;  // in the place of an operand
  struct Place {
    int offset, operand;
    std::ptrdiff_t shift = 0;  // of a map: bytes from its operand's address to its own
  };
  struct Span {
    int operand;
    bool written;
    std::int64_t bytes;
  };
  struct Overlap {
    int written, other;
    std::ptrdiff_t apart;
  };

  void note_loads(const GemmDesign& design);
  void note_places(const GemmDesign& design, const fusion::Graph& graph, const GemmInputs& inputs);
  void note_memory(const GemmDesign& design, const GemmInputs& inputs, const GemmAddresses& addresses);

  GemmLaunchPlan launch_{};
  bool nothing_to_do_ = false;
  std::vector<Chunk> parameters_;
  std::vector<Place> maps_, matrices_, operands_;  // tensor maps; DirectMatrix; fusion::Operand of arguments
  std::vector<Place> pointers_;                    // plain addresses
  std::vector<int> workspace_;                     // offsets of pointers into the workspace, relative to kWorkspaceBase
  int groups_ = -1;                                // offset of the pointer to groups, where there are any
  int group_maps_ = -1;                            // of that to the tensor maps of a pointer array
  std::vector<Span> spans_;
  std::vector<Overlap> overlaps_;  // that were found to be right
  FillWords::Params fills_{};
  bool (*move_)(TmaDescriptor&, void*) = nullptr;
};

// What a plan will do, in sentences.
struct ExplainedKernel {
  const GemmDesign& design;
  const fusion::Graph& graph;
  const PlanningMachine& machine;
};
std::string explain_plan(const PlannedGemm& plan, const GemmCall& call, const ExplainedKernel& kernel);

// Every reason why a design cannot run a call; none: it can.
// `functions`: of the user's, that the graph may call.
Status check_call(const GemmDesign& design, const fusion::Graph& of_text, const GemmCall& call, int functions);

// Of a call; false where it names an argument that the graph has not, or one twice.
bool addresses_of(const GemmCall& call, const fusion::Graph& graph, GemmAddresses& out);

}  // namespace gantry::runtime
