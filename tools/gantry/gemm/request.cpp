#include "gemm/request.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/scaled.hpp>
#include <gantry/gemm/alignment.hpp>
#include <gantry/gemm/check.hpp>
#include <gantry/gemm/detail/size_check.hpp>
#include <gantry/gemm/kernel_schedule.hpp>
#include <gantry/gemm/staging.hpp>
#include <gantry/runtime/printable.hpp>

#include "gemm/gemm_list.hpp"
#include "gemm/request_reader.hpp"
#include "plain_options.hpp"

namespace gantry::tool {

namespace {

std::vector<std::pair<const char*, Rounding>> rounding_words() {
  std::vector<std::pair<const char*, Rounding>> out;
  for (const fusion::RoundingName& name : fusion::kRoundingNames) out.emplace_back(name.text, name.rounding);
  return out;
}

constexpr NumberRange<std::int64_t> kSizes{0, kMostExtent, true}, kRows{0, kMostExtent};
constexpr NumberRange<int> kStages{0, gantry::detail::kMostStages, true}, kWarpgroups{0, 3, true};
constexpr std::int64_t kNotGiven = -1;

// Those that are refused become the largest that can be, so that the checks after this one can count with them.
void check_extents(AskedGemm& asked) {
  const auto check = [&](const char* option, const char* name, std::int64_t& extent) {
    ArgumentReasons found;
    gantry::detail::check_extent(name, extent, kMostExtent, found);
    for (const ArgumentReason& reason : found) refuse(asked.status, option, reason);
    extent = std::min(extent, kMostExtent);
  };
  check("--m", "M", asked.m);
  check("--n", "N", asked.n);
  check("--k", "K", asked.k);
  check("--batch", "batch", asked.batch);
}

// How an operand is scaled: blocks by the main loop, rows and the whole tensor by the epilogue.
enum class Scaling : std::uint8_t { none, tensor, row, row_block, block };

void read_scales(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  const auto scaling = [&](const char* option, const std::string& text, Scaling block) {
    Scaling out = Scaling::none;
    read.word<Scaling>(option, text,
                       {{"none", Scaling::none},
                        {"tensor", Scaling::tensor},
                        {"row", Scaling::row},
                        {"row_block", Scaling::row_block},
                        {"block", block}},
                       out);
    return out;
  };
  // Of A a block is a part of one row, of B 128 of them.
  const Scaling a = scaling("--scale-a", texts.scale_a, Scaling::row_block);
  const Scaling b = scaling("--scale-b", texts.scale_b, Scaling::block);
  const auto mode = [](Scaling s) {
    return s == Scaling::row_block ? ScaleMode::row_block : s == Scaling::block ? ScaleMode::block : ScaleMode::none;
  };
  asked.options.scale_a = mode(a);
  asked.options.scale_b = mode(b);
  const auto by_epilogue = [&](Scaling s, const char* name, fusion::ArgumentKind vector) {
    if (s != Scaling::row && s != Scaling::tensor) return;
    const fusion::ArgumentKind kind = s == Scaling::row ? vector : fusion::ArgumentKind::scalar;
    asked.graph = fusion::with_scaled_accumulators(asked.graph, kind, name);
    asked.expression = fusion::print(asked.graph).c_str();
  };
  by_epilogue(a, "scale_a", fusion::ArgumentKind::column);
  by_epilogue(b, "scale_b", fusion::ArgumentKind::row);
}

void read_elements(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  GemmOptions& o = asked.options;
  read.element("--a", texts.a, o.a);
  o.b = o.a;
  o.d = usual_result(o.a);
  read.element("--b", texts.b, o.b);
  read.element("--d", texts.d, o.d);
  read.element("--c", texts.c, o.c);
  o = with_elements(o, asked.graph, asked.graph.d >= 0);
}

// Requires options that are read but for the schedule.
void read_schedule_of_cutlass(const AskedTexts& texts, const KernelSchedule& found, RequestReader& read,
                              AskedGemm& asked) {
  GemmOptions& o = asked.options;
  if (found.pointer_array != asked.is_array()) {
    const std::string what = found.pointer_array ? "a pointer array, whose GEMMs --problems gives"
                                                 : "one tensor for each operand, and --problems gives a pointer array";
    std::string other = found.name;
    found.pointer_array ? other.erase(6, 8) : other.insert(6, "PtrArray");  // of "Kernel..."
    const bool exists = find_kernel_schedule(other.c_str()) < kKernelScheduleCount;
    read.refuse(OptionRule::conflict, "--schedule",
                fmt::format("--schedule {} is of {}; {} works", found.name, what,
                            exists ? other : "KernelPtrArrayTmaWarpSpecializedCooperative"));
    return;
  }
  const GemmOptions kernel = with_kernel_schedule(o, found);
  if (found.one_warpgroup && o.warpgroups > 1)
    read.both_given("--schedule", "--warpgroups", "one warpgroup has the tile of this schedule");
  if (found.fast_accum && texts.promote)
    read.both_given("--schedule", "--promote", "FP8FastAccum leaves accumulators in the tensor core");
  o = kernel;
  o.promote = o.promote || texts.promote;
}

// A word, or a name of CUTLASS's, which says more.
void read_schedule(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  if (texts.schedule.empty()) return;
  if (const int found = find_kernel_schedule(texts.schedule.c_str()); found < kKernelScheduleCount) {
    return read_schedule_of_cutlass(texts, kKernelSchedules[found], read, asked);
  }
  const std::vector<std::pair<const char*, GemmSchedule>> words{{"auto", GemmSchedule::automatic},
                                                                {"cooperative", GemmSchedule::cooperative},
                                                                {"pingpong", GemmSchedule::pingpong}};
  const std::string text = shortened(texts.schedule);
  const ScheduleNameReason<KernelScheduleName> none = no_kernel_schedule(text.c_str());
  const auto distance = [&](const char* name) { return gantry::detail::name_distance(text.c_str(), name); };
  const int to_cutlass = distance(none.nearest_name.c_str());
  const bool is_word = std::any_of(words.begin(), words.end(), [&](auto w) { return distance(w.first) <= to_cutlass; });
  if (is_word) return read.word<GemmSchedule>("--schedule", texts.schedule, words, asked.options.schedule);
  refuse(asked.status, "--schedule", none, "--schedule takes auto, cooperative, pingpong or a name of CUTLASS's: ");
}

}  // namespace

void add_gemm_options(CLI::App& command, AskedTexts& texts, bool needs_size) {
  const auto size = [&](const char* name, std::int64_t& value, const char* help) {
    if (needs_size) value = kNotGiven;  // which read_asked refuses
    add_number(command, name, value, help, kSizes);
  };
  size("--m", texts.m, "rows of A and D");
  size("--n", texts.n, "rows of B, columns of D; of a gated epilogue twice as many as D has");
  size("--k", texts.k, "columns of A and B: D = A B^T");
  add_number(command, "--batch", texts.batch, "matrices in the batch; default 1", kSizes);
  const auto text = [&](const char* name, std::string& value, const char* what, const char* help) {
    add_text(command, name, value, help)->option_text(what);
  };
  text("--groups", texts.groups, "M,M,...", "rows of each group in the place of --m: a grouped GEMM, a B for each");
  text("--groups-k", texts.groups_k, "K,K,...", "rows of K of each group in the place of --k, a D for each");
  text("--problems", texts.gemms, "FILE", "GEMMs that share nothing, \"M N K\" a line: a pointer array");
  add_number(command, "--capacity", texts.capacity,
             "room for rows that each of --groups has; default as many as it has", kRows);
  add_text(command, "--offsets", texts.offsets,
           "where groups of the --m rows begin, and the last one ends, in the place of --groups; they may be wrong")
      ->option_text("I,I,...");
  add_number(command, "--gather-rows", texts.gather_rows,
             "A has so many rows, and an index on the device says which of them each row of the GEMM is", kRows);
  add_text(
      command, "--scatter", texts.scatter,
      "store, add or ordered: an index on the device says which row of D each row of the GEMM goes to, or is added "
      "to, in no order or in that of the rows; default none")
      ->option_text("HOW");
  add_number(command, "--scatter-rows", texts.scatter_rows, "rows of a D that is scattered to; default M", kRows);
  text("--a", texts.a, "TYPE", "elements of A: f16, bf16, tf32, e4m3, e5m2, s8, u8; default bf16");
  text("--b", texts.b, "TYPE", "elements of B; default as A");
  text("--c", texts.c, "TYPE", "elements of C, where the epilogue uses it; default as D");
  text("--d", texts.d, "TYPE", "elements of D; default as A, bf16 for 8-bit floats, f32 for tf32, s32 for integers");
  text("--epilogue", texts.epilogue, "TEXT", "the fused epilogue; default \"d = acc\" (see gantry explain fusion)");
  text("--round", texts.round, "NAME",
       "how D, auxiliary outputs and reductions are rounded: nearest_even, nearest_away or toward_zero; default "
       "nearest_even");
  command.add_option("--set", texts.values, "a scalar of the epilogue, or a vector of one number, such as alpha=2")
      ->option_text("NAME=NUMBER");
  text("--major-a", texts.major_a, "k|m", "contiguous mode of A; default k");
  text("--major-b", texts.major_b, "k|n", "contiguous mode of B; default k");
  text("--layout-c", texts.layout_c, "row|column", "row- or column-major C; default row");
  text("--layout-d", texts.layout_d, "row|column", "row- or column-major D; default row");
  text("--scale-a", texts.scale_a, "HOW",
       "scales of A: block (of a row and 128 of K; 8-bit floats), row, tensor; default none");
  text("--scale-b", texts.scale_b, "HOW",
       "scales of B: block (of 128 rows and 128 of K), row_block, row, tensor; default none");
  text("--tile", texts.tile, "MxN", "CTA tile, such as 128x192; default by the cost model");
  text("--cluster", texts.cluster, "MxN",
       "CTAs in a cluster, such as 2x1, or 1x1x2 that share K; default by the cost model");
  text("--schedule", texts.schedule, "NAME",
       "cooperative, pingpong or CUTLASS's name of a kernel schedule; default by the cost model");
  text("--gate", texts.gate, "NAME",
       "gated epilogues, gate(acc) and up(acc): halves or interleaved, the rows of B that are the gate's; default "
       "halves");
  text("--split", texts.split, "NAME", "split-K: auto, none or reduce_add; default auto");
  text("--constant", texts.constant, "NAME",
       "a or b: no kernel before writes it, so that dependent launches load it early; default none");
  add_number(command, "--stages", texts.stages, "pipeline stages of the main loop; default as many as fit", kStages);
  add_number(command, "--warpgroups", texts.warpgroups,
             "consumer warpgroups: 2, or 3 with pingpong; default by the cost model", kWarpgroups);
  add_flag(command, "--swap", texts.swap, "swap operands: the kernel computes D^T = B A^T; default by the cost model");
  add_flag(command, "--promote", texts.promote, "FP8: promote accumulators to f32 registers every 128 elements of K");
}

AskedGemm read_asked(const AskedTexts& texts) {
  AskedGemm out;
  out.m = texts.m;
  out.n = texts.n;
  out.k = texts.k;
  out.batch = texts.batch;
  out.expression = texts.epilogue;
  RequestReader read(out.status);
  const bool array = !texts.gemms.empty();
  const bool without_m = array || !texts.groups.empty(), without_k = array || !texts.groups_k.empty();
  if (texts.m == kNotGiven && !without_m) read.required("--m");
  if (texts.n == kNotGiven && !array) read.required("--n");
  if (texts.k == kNotGiven && !without_k) read.required("--k");
  for (std::int64_t* extent : {&out.m, &out.n, &out.k}) *extent = std::max<std::int64_t>(*extent, 0);
  check_extents(out);
  fusion::ParsedGraph written = fusion::parse_graph(texts.epilogue);
  if (!written.ok()) {
    read.refuse(OptionRule::expression, "--epilogue",
                fmt::format("--epilogue:\n{}", explain(texts.epilogue, written).c_str()));
  }
  Rounding rounding = written.graph.rounding;
  read.word<Rounding>("--round", texts.round, rounding_words(), rounding);
  if (written.ok() && rounding != written.graph.rounding) {
    written.graph.rounding = rounding;
    out.expression = fusion::print(written.graph).c_str();
  }
  out.graph = written.graph;
  read_scales(texts, read, out);
  if (written.ok()) {
    for (const fusion::GraphReason& reason : fusion::check(out.graph)) {
      refuse(out.status, "--scale-a, --scale-b", reason, "--scale-a, --scale-b: ");
    }
  }
  for (const fusion::GraphReason& reason : fusion::check_elements(out.graph)) {
    refuse(out.status, "--epilogue", reason, "--epilogue: ");
  }
  if (out.graph.gated() && texts.scale_b == "row") {
    read.refuse(OptionRule::conflict, "--scale-b",
                "--scale-b row was given, and the epilogue is gated: gate and up have rows of B of their own, and "
                "row(name) in the epilogue scales each");
  }
  read_elements(texts, read, out);
  GemmOptions& o = out.options;
  read_grouping(texts, read, out);
  if (out.along_k()) o.major_a = o.major_b = Major::MN;  // the only one that can be
  read.word<Major>("--major-a", texts.major_a, {{"k", Major::K}, {"m", Major::MN}}, o.major_a);
  read.word<Major>("--major-b", texts.major_b, {{"k", Major::K}, {"n", Major::MN}}, o.major_b);
  const std::vector<std::pair<const char*, LayoutTag>> layouts{{"row", kRowMajor}, {"column", kColumnMajor}};
  read.word<LayoutTag>("--layout-c", texts.layout_c, layouts, o.layout_c);
  read.word<LayoutTag>("--layout-d", texts.layout_d, layouts, o.layout_d);
  read.extents("--tile", texts.tile, "128x192 or 128x192x64", {&o.tile.m, &o.tile.n, &o.tile.k});
  read.extents("--cluster", texts.cluster, "2x1 or 1x1x2", {&o.cluster.m, &o.cluster.n, &o.cluster.k});
  read.word<SplitMode>(
      "--split", texts.split,
      {{"auto", SplitMode::automatic}, {"none", SplitMode::none}, {"reduce_add", SplitMode::reduce_add}}, o.split);
  read.word<ConstantOperand>("--constant", texts.constant,
                             {{"none", ConstantOperand::none}, {"a", ConstantOperand::a}, {"b", ConstantOperand::b}},
                             o.constant);
  read.word<GemmGate>("--gate", texts.gate, {{"halves", GemmGate::halves}, {"interleaved", GemmGate::interleaved}},
                      o.gate);
  o.stages = texts.stages;
  o.warpgroups = texts.warpgroups;
  o.promote = texts.promote;
  read_schedule(texts, read, out);
  o.swapped = texts.swap;
  o.gather_a = texts.gather_rows != kNoGather;
  out.gather_rows = std::max<std::int64_t>(texts.gather_rows, 0);
  read.word<RowScatter>("--scatter", texts.scatter,
                        {{"none", RowScatter::none},
                         {"store", RowScatter::store},
                         {"add", RowScatter::add},
                         {"ordered", RowScatter::ordered}},
                        o.scatter_d);
  out.scatter_rows = texts.scatter_rows;
  read.scalars(texts.values, out.scalars);
  // The scale of a whole tensor is 1 until --set says another.
  for (const char* name : {"scale_a", "scale_b"}) {
    const bool scalar = out.expression.find(fmt::format("scalar({})", name)) != std::string::npos &&
                        texts.epilogue.find(name) == std::string::npos;
    const bool set =
        std::any_of(out.scalars.begin(), out.scalars.end(), [&](const Scalar& s) { return s.name == name; });
    if (scalar && !set) out.scalars.push_back({name, 1});
  }
  if (!out.ok()) return out;
  for (const GemmReason& reason : problems(o)) refuse(out.status, {}, reason);
  if (out.is_array() && out.ok()) {
    read.add(why_left_out(texts.gemms, o, out.graph));
  }
  return with_sizes(out, {out.m, out.n, out.k, out.batch});
}

AskedGemm with_sizes(AskedGemm asked, const GemmExtents& sizes) {
  asked.m = sizes.m;
  asked.n = sizes.n;
  asked.k = sizes.k;
  asked.batch = sizes.batch;
  if (asked.graph.gated() && asked.n % kGatedRows != 0) {
    const ArgumentReason reason{.rule = ArgumentRule::gate_columns,
                                .actual = asked.n,
                                .nearest = gantry::detail::nearest_multiple_from(kGatedRows, asked.n, kGatedRows)};
    refuse(asked.status, "--n", reason);
  }
  if (asked.scatter_rows == 0) asked.scatter_rows = asked.m;
  if (asked.scatters() && asked.scatter_rows < asked.m) {
    refuse(asked.status, OptionRule::conflict, "--scatter-rows",
           fmt::format("--scatter-rows is {}, and the GEMM has {} rows: here each goes to a row of its own",
                       asked.scatter_rows, asked.m));
  }
  if (!asked.ok()) return asked;
  const GemmCall call{.m = asked.m, .n = asked.n, .k = asked.k, .batch = asked.batch};
  asked.options = with_alignments(asked.options, asked.graph, call);
  return asked;
}

double AskedGemm::flops() const {
  const auto number = [](std::int64_t x) { return static_cast<double>(x); };
  if (options.groups == GemmGrouping::none) return 2.0 * number(m) * number(n) * number(k) * number(batch);
  double all = 0;
  for (const GemmExtents& e : gemms) all += 2.0 * number(e.m) * number(e.n) * number(e.k);
  if (is_array()) return all;
  for (const std::int64_t size : groups) all += number(size);
  return 2.0 * all * number(n) * number(along_m() ? k : m);
}

// "1 to 4096"
static std::string range_of(const AskedGemm& asked, std::int64_t GemmExtents::*extent) {
  const auto less = [extent](const GemmExtents& x, const GemmExtents& y) { return x.*extent < y.*extent; };
  const auto [least, most] = std::minmax_element(asked.gemms.begin(), asked.gemms.end(), less);
  return (*least).*extent == (*most).*extent ? fmt::format("{}", (*least).*extent)
                                             : fmt::format("{} to {}", (*least).*extent, (*most).*extent);
}

std::string groups_text(const AskedGemm& asked) {
  if (asked.is_array()) {
    return fmt::format("a pointer array of {} GEMM{}: M {}, N {}, K {}", asked.batch, asked.batch == 1 ? "" : "s",
                       range_of(asked, &GemmExtents::m), range_of(asked, &GemmExtents::n),
                       range_of(asked, &GemmExtents::k));
  }
  if (asked.groups.empty()) return {};
  const auto [least, most] = std::minmax_element(asked.groups.begin(), asked.groups.end());
  const std::string rows = *least == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *least, *most);
  return fmt::format("{} group{} along {} of {} row{}{}", asked.batch, asked.batch == 1 ? "" : "s",
                     asked.along_m() ? "M" : "K", rows, rows == "1" ? "" : "s",
                     asked.capacity > 0 ? fmt::format(" in {}", asked.capacity) : "");
}

std::string index_text(const AskedGemm& asked) {
  std::string out;
  if (asked.options.gather_a) out = fmt::format("rows of A gathered from {}", asked.gather_rows);
  if (asked.scatters()) out += fmt::format("{}rows of D scattered to {}", out.empty() ? "" : ", ", asked.scatter_rows);
  return out;
}

std::string title(const AskedGemm& asked) {
  const std::string groups = groups_text(asked), index = index_text(asked);
  std::string out = asked.is_array() ? groups : fmt::format("{} x {} x {}", asked.m, asked.n, asked.k);
  if (!asked.is_array() && !groups.empty()) out += ", " + groups;
  if (asked.options.groups == GemmGrouping::none && asked.batch != 1) out += fmt::format(", batch of {}", asked.batch);
  if (!index.empty()) out += ", " + index;
  out += fmt::format(", {}", info(asked.options.a).name);
  if (asked.options.b != asked.options.a) out += fmt::format(" by {}", info(asked.options.b).name);
  const std::string d = asked.graph.d < 0 ? "" : fmt::format(" to {}", info(asked.options.d).name);
  return out + fmt::format("{}: {}", d, runtime::printable(asked.expression));
}

const char* to_text(Inputs inputs) {
  constexpr const char* kNames[] = {"eighths", "uniform", "zeros", "special"};
  return kNames[static_cast<int>(inputs)];
}

Inputs read_inputs(const std::string& text, Status& status) {
  Inputs out = Inputs::eighths;
  OptionReader(status).word<Inputs>("--inputs", text,
                                    {{"eighths", Inputs::eighths},
                                     {"uniform", Inputs::uniform},
                                     {"zeros", Inputs::zeros},
                                     {"special", Inputs::special}},
                                    out);
  return out;
}

}  // namespace gantry::tool
