// What `gantry gemm`, `gantry bench gemm` and `gantry tune` are asked, from the texts of their options to a GEMM; or
// every reason why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/gemm/options.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/runtime/status.hpp>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace gantry::tool {

inline constexpr std::int64_t kNoGather = -1;

struct AskedTexts {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string a = "bf16";
  std::string b{}, c{},
      d{};  // empty: as A; as D where the expression uses C; as A, or wide enough for its accumulators
  std::string epilogue = "d = acc";
  std::string round{};
  std::string major_a{}, major_b{}, layout_c{}, layout_d{};
  std::string tile{}, cluster{}, schedule{}, split{}, constant{}, gate{};
  int stages = 0, warpgroups = 0;
  bool promote = false, swap = false;
  std::string scale_a{}, scale_b{};
  std::vector<std::string> values{};  // "alpha=2"
  std::string groups{}, groups_k{};   // "128,0,77,512"
  std::string gemms{};                // a file: "M N K" a line
  std::int64_t capacity = 0;
  std::string offsets{};  // "0,128,205": where groups of rows begin, and the last one ends
  std::int64_t gather_rows = kNoGather;
  std::string scatter{};
  std::int64_t scatter_rows = 0;
};

enum class Inputs : std::uint8_t { eighths, uniform, zeros, special };

struct Scalar {
  std::string name;
  float value = 0;
};

struct AskedGemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::vector<std::int64_t> groups{};  // of a grouped GEMM: their rows, or rows of K; `batch` counts them
  std::int64_t capacity = 0;           // rows that each group has room for; 0: groups follow one another
  // Where they were given, one more than groups; they may be wrong, and `groups` has what a kernel makes of them.
  std::vector<std::int32_t> offsets{};
  std::vector<GemmExtents> gemms{};  // of a pointer array, `batch` of them; m, n and k are then the mean
  std::int64_t gather_rows = 0;      // of A, where the options gather them
  std::int64_t scatter_rows = 0;     // of D, where the options scatter them
  GemmOptions options;
  std::string expression;
  fusion::Graph graph;
  std::vector<Scalar> scalars;
  Status status{};  // why there is no GEMM

  bool ok() const { return status.ok(); }
  // Of C, D and auxiliary tensors.
  std::int64_t columns_of_d() const { return graph.gated() ? n / 2 : n; }
  std::int64_t rows_of_a() const { return options.gather_a ? gather_rows : m; }
  bool scatters() const { return options.scatter_d != RowScatter::none; }
  std::int64_t rows_of_d() const { return scatters() ? scatter_rows : m; }
  bool along_m() const { return options.groups == GemmGrouping::along_m; }
  bool along_k() const { return options.groups == GemmGrouping::along_k; }
  bool is_array() const { return options.groups == GemmGrouping::pointer_array; }
  double flops() const;
};

// The options that describe a GEMM; `needs_size`: M, N and K are required.
void add_gemm_options(CLI::App& command, AskedTexts& texts, bool needs_size);

AskedGemm read_asked(const AskedTexts& texts);

// The same GEMM with other sizes. Requires one without groups that is ok(); what its sizes make wrong is added to
// its status.
AskedGemm with_sizes(AskedGemm asked, const GemmExtents& sizes);

// "4 groups along M of 0 to 512 rows in 1024"; empty where there are none.
std::string groups_text(const AskedGemm& asked);
// "rows of A gathered from 50, rows of D scattered to 60"; empty where none are.
std::string index_text(const AskedGemm& asked);
// "512 x 768 x 256 of bf16: d = gelu(acc + row(bias))"
std::string title(const AskedGemm& asked);

const char* to_text(Inputs inputs);
Inputs read_inputs(const std::string& text, Status& status);

}  // namespace gantry::tool
