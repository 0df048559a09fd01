// The matrices of a GEMM and the arguments of its epilogue in host memory: filled with numbers, poisoned where they
// are written, and compared with the reference after a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/epilogue/fusion/reference.hpp>
#include <gantry/gemm/call.hpp>
#include <gantry/gemm/group_check.hpp>

#include "gemm/request.hpp"

namespace gantry::tool {

// A, B, C, D, or an argument that lives in memory. Lines (rows, or columns where those are contiguous) begin at
// multiples of 16 bytes.
struct Operand {
  std::string name;
  ElementType element = ElementType::void_;
  bool rows = true;  // are contiguous
  bool written = false;
  std::int64_t length = 0, lines = 1, batches = 1;
  std::int64_t stride = 0, batch_stride = 0;
  int argument = -1;  // of the graph; negative for matrices and scales
  bool scale = false;
  // Of a pointer array: what each GEMM has of it, one after another, in elements.
  struct Part {
    std::int64_t begin = 0, length = 0, lines = 0, stride = 0;
  };
  std::vector<Part> parts{};
  bool holds_addresses = false;  // of parts of another operand, or of the GEMMs' matrices
  std::vector<std::uint8_t> bytes{};

  // Of an operand that is scales: lines of one for each row, or of one for each block of K.
  GemmScale scales(const void* address) const {
    return {static_cast<const float*>(address), rows ? stride : 1, rows ? 1 : stride, batch_stride};
  }
  fusion::ReferenceTensor tensor() const {
    return {element, bytes.data(), rows ? stride : 1, rows ? 1 : stride, batch_stride};
  }
};

struct Verification {
  std::int64_t elements = 0;  // that were compared
  std::string part;           // which of them, where not all
  double largest_error = 0;   // between a result and the exact value
  double its_bound = 0;       // how far that one may be off
  std::int64_t wrong = 0;
  std::string first_wrong{};  // a sentence

  bool ok() const { return wrong == 0; }
};

class Operands {
 public:
  // Requires a GEMM whose operands have no problems.
  Operands(const AskedGemm& asked, Inputs inputs, std::uint64_t seed);

  // Every reason why no kernel takes operands of these sizes, or this machine's memory does not hold them. Nothing is
  // allocated for that.
  static Status problems_of(const AskedGemm& asked);

  const std::vector<Operand>& all() const { return all_; }
  std::vector<Operand>& all() { return all_; }
  const Operand* find(const std::string& name) const;

  // The call with these addresses, one for each operand. Its names live as long as this does.
  GemmCall call(const std::vector<void*>& addresses) const;
  // In host memory.
  std::vector<void*> host_addresses();
  // What an operand of addresses holds, where operands have these.
  std::vector<std::uint8_t> address_bytes(const Operand& operand, const std::vector<void*>& addresses) const;
  fusion::FusionArguments arguments(const std::vector<void*>& addresses) const;

  // Everything that is written gets values that no GEMM computes; outputs that are added to get zeros.
  void poison();
  // Of what was written. Where all of it would take long, the first and the last rows.
  Verification verify() const;

  // A sentence for each group whose offsets or counts are wrong, and for each row whose index is; of many, the first.
  Status wrong_on_device() const;

  // Bytes that must cross the edge of the chip.
  double traffic() const;

 private:
  struct Rows;
  struct Block;
  Operands(const AskedGemm& asked, Inputs inputs);  // without memory
  void check_memory(Status& out) const;
  void add(const Operand& operand);
  // Every byte of what is written, before a run.
  std::uint8_t poison_of(const Operand& operand) const;
  void allocate();
  void add_matrices();
  void add_arguments();
  // A scalar, or a vector that --set gives a number: nothing lies in memory.
  bool is_number(const fusion::Argument& argument) const;
  void fill(Operand& operand, std::uint64_t seed) const;
  static void fill_scales(Operand& operand, std::uint64_t seed);
  void add_groups();
  void add_index();
  void add_array();
  void add_parts(Operand operand, bool of_k);
  GemmCall call_of_array(const std::vector<void*>& addresses) const;
  Verification verify_array(double asked_gemms, double elements) const;
  void verify_gemm(std::int64_t gemm, std::int64_t first, std::int64_t count, Verification& out) const;
  void write_groups();
  void write_index(std::uint64_t seed);
  // Rows of A or D that an index names for a block of the GEMM, one after another, of one batch or of all.
  std::vector<std::uint8_t> by_index(const Operand& matrix, const char* name, const Rows& rows) const;
  std::int64_t first_line(std::int64_t group) const { return spans_[static_cast<std::size_t>(group)].begin; }
  std::vector<float> scales_by_index(const GemmScale& scales, const Rows& rows) const;
  std::int64_t begin_of(const Operand& operand, const Rows& rows) const;
  bool is_of_all_groups(const Operand& operand) const;
  void verify_rows(const Rows& rows, Verification& out) const;
  fusion::ReferenceTensor tensor_of(const Operand& operand, const Rows& rows) const;
  // What the reference reads of an operand.
  void take_matrix(const Operand& operand, Block& block) const;
  void take_scales(const Operand& operand, Block& block) const;
  void take_address(const Operand& operand, Block& block) const;
  void compare_rows(const Operand& operand, const Rows& rows, const fusion::ReferenceResult& expected,
                    Verification& out) const;
  // Nothing was written to rows that no group has, or that no row is scattered to.
  void verify_others(Verification& out) const;
  void verify_other_row(const Operand& operand, std::int64_t m, std::int64_t batch, Verification& out) const;
  // Which rows of a matrix are a group's, or a row is scattered to.
  std::vector<bool> written_rows(const Operand& operand, std::int64_t batch) const;
  std::vector<std::int32_t> indices(const char* name) const;
  double used_rows(const Operand& operand) const;
  std::int64_t rows_along_m(const Operand& operand) const;
  Verification verify_matrix(double asked_gemms, double elements) const;
  Verification verify_groups(double asked_gemms, double elements) const;

  // The offsets or counts of a grouped GEMM, or the GEMMs of a pointer array, among the operands: no expression can
  // have such a name.
  static constexpr const char* kGroups = "(groups)";
  // Of A's rows, and of D's, likewise.
  static constexpr const char* kIndex = "(index)";
  static constexpr const char* kScatter = "(scatter)";

  AskedGemm asked_;
  std::vector<GroupSpan> spans_;  // of each group; of all rows where there are none
  Inputs inputs_;
  std::vector<Operand> all_;
  std::vector<Scalar> scalars_;
};

// The arguments of a GemmArguments<Spec>, with these addresses, one for each operand.
template <class Arguments>
void hand_over(const Operands& operands, const std::vector<void*>& addresses, Arguments& args) {
  static_cast<fusion::FusionArguments&>(args.fusion) = operands.arguments(addresses);
  const GemmCall call = operands.call(addresses);
  const auto set = [](auto& to, const auto& from) {
    to = {static_cast<decltype(to.data)>(from.data), from.stride, from.batch_stride};
  };
  set(args.a, call.a);
  set(args.b, call.b);
  set(args.c, call.c);
  set(args.d, call.d);
  args.scale_a = call.scale_a;
  args.scale_b = call.scale_b;
  args.groups = call.groups;
  args.gather = call.gather;
  args.scatter = call.scatter;
}

}  // namespace gantry::tool
