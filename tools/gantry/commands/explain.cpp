// gantry explain tma | im2col | epilogue: what a TMA copy or an epilogue does, or why it cannot be.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/runtime/printable.hpp>
#include <gantry/tma/explain_report.hpp>

#include "commands/commands.hpp"
#include "explain/json.hpp"
#include "explain/options.hpp"
#include "explain/page.hpp"
#include "files.hpp"
#include "plain_options.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

struct Outputs {
  bool json = false;
  std::string html = {};
};

[[noreturn]] void refuse_options(const Status& refused) { throw CLI::ValidationError(refused.describe(), 2); }

int write_page(const std::string& path, const nlohmann::ordered_json& explanation) {
  const Status written = write_text(path, make_page(explanation));
  if (written) return 0;
  fmt::print(stderr, "gantry: the page could not be written to {}: {}\n", runtime::printable(path), written.describe());
  return 1;
}

// The plan's own answer: 0, or 1 where it does not run.
template <class Explanation>
int answer(const Explanation& e, const Outputs& outputs) {
  const int status = e.ok() ? 0 : 1;
  if (outputs.json) {
    fmt::print("{}\n", to_json(e).dump(2));
  } else {
    const std::size_t columns = output_columns();
    fmt::print("{}", wrapped(report(e, {.width = columns}), columns));
  }
  if (!outputs.html.empty() && write_page(outputs.html, to_json(e)) != 0) return 1;
  return status;
}

void add_tma(CLI::App& explain_command, int& status) {
  CLI::App* command = explain_command.add_subcommand("tma", "A tile copied between global and shared memory");
  const auto texts = std::make_shared<TmaTexts>();
  const auto outputs = std::make_shared<Outputs>();
  command->add_option("--op", texts->op, "load, store, reduce_add, prefetch ...; default load")->option_text("NAME");
  command->add_option("--elem", texts->elem, "element type, such as bf16")->option_text("TYPE")->required();
  command->add_option("--gmem", texts->gmem, "global layout; '_' marks what is static")
      ->option_text("LAYOUT")
      ->required();
  command->add_option("--smem", texts->smem, "shared layout of one tile; the swizzle acts on bytes")
      ->option_text("LAYOUT")
      ->required();
  command->add_option("--tile", texts->tile, "such as 128x64; default as large as the shared layout")
      ->option_text("EXTENTS");
  command->add_option("--cluster", texts->cluster, "cluster that shares the tile, such as 2x1: loads become multicast")
      ->option_text("EXTENTS");
  command->add_option("--at", texts->at, "tile whose instructions are listed, such as 3x5; default the first")
      ->option_text("TILE");
  command->add_option("--tma-elem", texts->tma_elem, "element type of the tensor map, if it differs")
      ->option_text("TYPE");
  command->add_option("--address", texts->address, "address of the global tensor")->option_text("NUMBER");
  add_flag(*command, "--json", outputs->json, "print the explanation as JSON");
  command->add_option("--html", outputs->html, "also write an HTML page with diagrams")
      ->option_text("FILE")
      ->check([](const std::string& path) { return path.empty() ? "--html takes the name of a file" : ""; });
  command->footer(
      "Example: gantry explain tma --op load --elem bf16 --gmem \"(4096,8192):(8192,_1)\" "
      "--smem \"Sw<3,4,3> o (128,64):(64,1)\" --tile 128x64 --cluster 2x1\n"
      "The exit status is 1 if the plan cannot run; the report then gives every reason.");
  command->callback([texts, outputs, &status] {
    const auto question = read_question(*texts);
    if (!question) refuse_options(question.error());
    status = answer(explain(make_tma_copy(question->request), {.tile = question->tile}), *outputs);
  });
}

void add_im2col(CLI::App& explain_command, int& status) {
  CLI::App* command =
      explain_command.add_subcommand("im2col", "An im2col copy: a convolution's activations as a matrix");
  const auto texts = std::make_shared<Im2colTexts>();
  const auto outputs = std::make_shared<Outputs>();
  command->add_option("--op", texts->op, "load, load_multicast, store or prefetch; default load")->option_text("NAME");
  command->add_option("--activation", texts->activation, "extents of the activation tensor")
      ->option_text("EXTENTS")
      ->required();
  command->add_option("--layout", texts->layout, "NWC, NHWC or NDHWC; default by the number of extents")
      ->option_text("NAME");
  command->add_option("--elem", texts->elem, "element type, such as f16")->option_text("TYPE")->required();
  command->add_option("--filter", texts->filter, "extents of the filter, such as 3x3; default 1, as a store needs it")
      ->option_text("EXTENTS");
  command->add_option("--pad", texts->pad, "padding on both sides, such as 1x1; default 0")->option_text("EXTENTS");
  command->add_option("--pad-upper", texts->pad_upper, "padding on the upper sides, if it differs")
      ->option_text("EXTENTS");
  command->add_option("--stride", texts->stride, "traversal stride, such as 2x2; default 1")->option_text("EXTENTS");
  command->add_option("--dilation", texts->dilation, "dilation of the filter; default 1")->option_text("EXTENTS");
  command->add_option("--tile", texts->tile, "pixels x channels of one tile; default 128x64")->option_text("EXTENTS");
  command
      ->add_option("--swizzle", texts->swizzle, "none, 32, 64 or 128; default the width of a row, if that is a swizzle")
      ->option_text("BYTES");
  command->add_option("--cluster", texts->cluster, "cluster that shares a tile, such as 2x1: loads become multicast")
      ->option_text("EXTENTS");
  command->add_option("--at", texts->at, "tile of pixels whose instructions are listed; default 0")
      ->option_text("TILE");
  command->add_option("--address", texts->address, "address of the activation tensor")->option_text("NUMBER");
  add_flag(*command, "--json", outputs->json, "print the explanation as JSON");
  command->add_option("--html", outputs->html, "also write an HTML page with diagrams")
      ->option_text("FILE")
      ->check([](const std::string& path) { return path.empty() ? "--html takes the name of a file" : ""; });
  command->footer(
      "Example: gantry explain im2col --activation 8x56x56x64 --layout NHWC --elem f16 --filter 3x3 --pad 1x1 "
      "--tile 128x64\n"
      "The exit status is 1 if the plan cannot run; the report then gives every reason.");
  command->callback([texts, outputs, &status] {
    const auto question = read_question(*texts);
    if (!question) refuse_options(question.error());
    const Im2colPlan plan = plan_im2col(question->conv, question->tile, question->op);
    status = answer(explain(plan, {.pixel_tile = question->pixel_tile}), *outputs);
  });
}

}  // namespace

void add_explain_command(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("explain", "Explains TMA copies and epilogues: boxes, tensor maps, tiles, stages, refusals");
  command->require_subcommand(1);
  command->get_formatter()->column_width(30);
  add_tma(*command, status);
  add_im2col(*command, status);
  add_explain_epilogue(*command, status);
  add_explain_fusion(*command, status);
}

}  // namespace gantry::tool
