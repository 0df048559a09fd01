// The tuning file: for a GEMM on a GPU, the configuration that was measured fastest. `gantry tune` writes it,
// choice.hpp reads it.
//
// One GEMM per line, its fields between bars; a line that starts with # is a comment:
//
//   # gantry tuning 2
//   8192 8192 1024 1 | bf16 K bf16 K void bf16 | plain | d = gelu_tanh(acc + row(bias)) | NVIDIA H200 | 128x192x64
//   pingpong 2x1 bf16 | 0.2012 ms
//
// M N K batch (of groups: the mean and their number), then A and its major, B and its major, C and D, the form, the
// epilogue, the GPU, the configuration's name (to_text of its options), and, for readers only, its time. The form is
// "plain", or says what else is asked: "groups-m scale_a=row_block scale_b=block promotes". Guarantees: a line that
// cannot be read is skipped and gets a reason with its number; any text can be read.
//
// Example:
//     using namespace gantry;
//     TuningFile tuning;
//     GemmWorkload gemm;
//     gemm.m = gemm.n = gemm.k = 4096;
//     tuning.set({gemm, "d = acc", "NVIDIA H200", "128x256x64 cooperative 2x1 bf16", 0.17});
//     const TuningFile again = TuningFile::parse(tuning.text());
//     const TuningEntry* found = again.find(gemm, "d = acc", "NVIDIA H200");  // found->configuration
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <gantry/gemm/choice.hpp>
#include <gantry/rules/rule.hpp>

namespace gantry {

// A measured choice.
struct TuningEntry {
  GemmWorkload workload{};
  std::string epilogue{};  // as text
  std::string device{};
  std::string configuration{};
  double milliseconds = 0;  // 0: not recorded
};

// For a question; of no entry: nothing.
inline MeasuredConfiguration measured(const TuningEntry* entry) {
  if (entry == nullptr) return {};
  return {entry->configuration.c_str(), entry->device.c_str(), entry->milliseconds};
}

// What is wrong with a line of the file, or with the file, as a value.
enum class TuningRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/tuning_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(TuningRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(TuningRule, __VA_ARGS__)
#include <gantry/gemm/detail/tuning_rule_table.hpp>
  }
  return {};
}

struct TuningReason {
  TuningRule rule = TuningRule::fields;
  std::int64_t line = 0;                     // from 1; 0: the file
  Text<96> text{};                           // as the file has it
  ElementType element = ElementType::void_;  // the nearest that there is
  int error = 0;                             // errno, where a file cannot be opened or read
  std::int64_t actual = 0, nearest = 0;
};

// The words of a reason beside its numbers.
GANTRY_LINKAGE bool append_word(Sentence& out, Placeholder word, const TuningReason& reason);

class TuningFile {
 public:
  static constexpr const char* kHeader = "# gantry tuning 2";

  GANTRY_LINKAGE static TuningFile parse(const std::string& text);
  // A missing file reads as an empty one. One that is no plain file, or that has more than 64 MiB, is left aside.
  GANTRY_LINKAGE static TuningFile read(const std::string& path);

  GANTRY_LINKAGE const TuningEntry* find(const GemmWorkload& workload, const std::string& epilogue,
                                         const std::string& device) const;
  // Replaces the entry of the same GEMM and GPU, if there is one.
  GANTRY_LINKAGE void set(const TuningEntry& entry);

  GANTRY_LINKAGE std::string text() const;
  const std::vector<TuningEntry>& entries() const { return entries_; }
  // One for each line that was skipped, or for the file where it was left aside.
  const std::vector<TuningReason>& reasons() const { return reasons_; }

 private:
  std::vector<TuningEntry> entries_;
  std::unordered_multimap<std::size_t, std::size_t> by_sizes_;  // from the hash of sizes to entries
  std::vector<TuningReason> reasons_;
  std::vector<std::string> remarks_;  // written before all entries
};

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/tuning_definitions.hpp>
#endif
