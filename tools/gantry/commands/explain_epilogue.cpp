// gantry explain epilogue: every decision about an epilogue, or why it cannot be built.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "explain/epilogue_options.hpp"
#include "plain_options.hpp"
#include "terminal.hpp"

namespace gantry::tool {

void add_explain_epilogue(CLI::App& explain_command, int& status) {
  CLI::App* command = explain_command.add_subcommand("epilogue", "Tiles, stages, buffers and copies of an epilogue");
  const auto texts = std::make_shared<EpilogueTexts>();
  const auto json = std::make_shared<bool>(false);
  const auto option = [command](const char* name, std::string& text, const char* what, const char* form) {
    return command->add_option(name, text, what)->option_text(form);
  };
  option("--tile", texts->tile, "CTA tile, such as 128x256x64", "EXTENTS")->required();
  option("--c", texts->c, "element of C; default as D where the epilogue uses it, else void", "TYPE");
  option("--d", texts->d, "element of D; void: only the fusion stores, and --aux gives its element", "TYPE")
      ->required();
  option("--aux", texts->aux, "element of the auxiliary output, if D is void", "TYPE");
  option("--c-layout", texts->c_layout, "row, column, NWC, NHWC, NDHWC; '*': strides of each group", "NAME");
  option("--d-layout", texts->d_layout, "the same for D; both default to row", "NAME");
  option("--acc", texts->acc, "element of the accumulators; default f32", "TYPE");
  option("--compute", texts->compute, "element that values are computed in; default f32", "TYPE");
  option("--round", texts->round, "how outputs are rounded: nearest_even, nearest_away, toward_zero", "NAME");
  option("--schedule", texts->schedule, "auto, tma, cooperative, no_smem or a CUTLASS name", "NAME");
  option("--policy", texts->policy, "whose rules decide: gantry (default) or cutlass", "NAME");
  option("--epi-tile", texts->epi_tile, "epilogue tile, such as 64x32 or (64,(32,2):(1,64)); default by the rules",
         "TILE");
  option("--c-align", texts->c_align, "alignment of C's pointer and strides, in elements", "NUMBER");
  option("--d-align", texts->d_align, "the same for D; both default to 16 bytes", "NUMBER");
  option("--warpgroups", texts->warpgroups, "warpgroups that share a CTA tile", "NUMBER");
  option("--stages-c", texts->stages_c, "stages (shared-memory buffers) of C", "NUMBER");
  option("--stages-d", texts->stages_d, "stages (shared-memory buffers) of D", "NUMBER");
  option("--fragment", texts->fragment, "fragment size: values per visit", "NUMBER");
  option("--reuse", texts->reuse, "whether D reuses the buffers of C", "yes|no");
  option("--delay", texts->delay, "whether stores are issued one subtile late", "yes|no");
  option("--epilogue", texts->epilogue, "the fusion, such as \"d = gelu(acc + row(bias))\"", "EXPRESSION");
  add_flag(*command, "--json", *json, "print the decisions as JSON");
  command->footer(
      "Example: gantry explain epilogue --tile 128x256x64 --c bf16 --d bf16 --schedule cooperative\n"
      "The exit status is 1 if the epilogue cannot be built, has no kernel or does not fit; the report then gives "
      "every reason.");
  command->callback([texts, json, &status] {
    const EpilogueQuestion question = read_question(*texts);
    if (!question.ok()) throw CLI::ValidationError(question.status.describe(), 2);
    const EpilogueExplanation e = answer(question);
    if (*json) {
      fmt::print("{}\n", to_json(e).dump(2));
    } else {
      const std::size_t columns = output_columns();
      fmt::print("{}", wrapped(report(e, columns), columns));
    }
    status = e.ok() ? 0 : 1;
  });
}

}  // namespace gantry::tool
