// gantry tour: the ideas of the layout algebra, each with an example that is computed on the spot.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "eval/kinds.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

// A station shows either a layout or the answer to a line of `eval layout_algebra`.
struct Station {
  std::string_view prose;
  std::string_view layout = {};
  std::string_view line = {};
};

struct Chapter {
  std::string_view title;
  std::vector<Station> stations;
};

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all{
      {"A layout is a function",
       {{.prose =
             "A layout, shape:stride, maps coordinates to offsets: each coordinate times its stride, summed. Rows of "
             "the table are mode 0, columns mode 1. With stride 1 in mode 0 it is column-major.",
         .layout = "(_4,_8):(_1,_4)"},
        {.prose = "Strides need not be compact. Rows of 8 elements, padded to 9:", .layout = "(_4,_8):(_9,_1)"},
        {.prose = "A mode may be a tuple again. Here the 4 rows are 2 pairs and the 8 columns 2 halves, so that the "
                  "table falls into blocks of 2x4 contiguous elements. It is still indexed as 4x8.",
         .layout = "((_2,_2),(_4,_2)):((_1,_16),(_2,_8))"},
        {.prose = "'_' marks what the compiler knows. Without it the number is one of this run, and nothing about the "
                  "structure may depend on it: this layout is compact, and yet it does not coalesce.",
         .layout = "(4,8):(1,4)"}}},
      {"Layouts compose",
       {{.prose =
             "composition(a, b) is c -> a(b(c)): b picks elements of a. Every second element of a 4x8 row-major tile:",
         .line = R"j({"op":"composition","a":"(4,8):(8,1)","b":"16:2"})j"},
        {.prose = "coalesce finds the simplest layout that is the same function of the 1-D index:",
         .line = R"j({"op":"coalesce","a":"((2,2),(4,2)):((1,2),(4,16))"})j"},
        {.prose = "right_inverse asks which coordinate has offset 0, 1, 2, ...: what a copy follows along memory.",
         .line = R"j({"op":"right_inverse","a":"(4,8):(8,1)"})j"},
        {.prose =
             "complement gives the steps that a layout leaves out: repeated along them it fills the first 24 offsets.",
         .line = R"j({"op":"complement","a":"4:2","cotarget":24})j"}}},
      {"Layouts divide and multiply",
       {{.prose = "zipped_divide cuts a layout into tiles: mode 0 is the tile, mode 1 the tiles. An 8x8 matrix in "
                  "tiles of 2x4:",
         .line = R"j({"op":"zipped_divide","a":"(8,8):(1,8)","tiler":"(2,4)"})j"},
        {.prose = "Its table: one column per tile, the elements of a tile downwards.",
         .layout = "((2,4),(4,2)):((1,8),(2,32))"},
        {.prose = "logical_product repeats a layout by another one: three copies of a 2x2 tile, one after the other.",
         .line = R"j({"op":"logical_product","a":"(2,2):(1,2)","tiler":"3:1"})j"}}},
      {"Shared memory swizzles",
       {{.prose =
             "A swizzle xors some bits of the offset into others. Here offsets count 16-byte chunks, eight to a row of "
             "128 bytes; modulo 8 they differ along every row and every column, so neither meets a bank twice.",
         .layout = "Sw<3,0,3> o (8,8):(8,1)"}}},
      {"Coordinates are layouts too",
       {{.prose = "A stride may be a basis element, 'v@i': v along mode i. Offsets are then coordinates, which is how "
                  "a TMA copy addresses a tensor. A 3x4 tile, transposed, of every second row of a tensor:",
         .layout = "(3,4):(1@1,2@0)"}}},
      {"What has no answer says why",
       {{.prose = "Steps of 6 do not fit into a mode of 4:",
         .line = R"j({"op":"composition","a":"(4,6):(6,1)","b":"(3,2):(1,6)"})j"},
        {.prose = "These offsets overlap, so nothing can complete them:",
         .line = R"j({"op":"complement","a":"(4,4):(1,2)","cotarget":64})j"},
        {.prose = "And a text that is not a layout:", .layout = "((2,4),3:((1,2),8)"}}},
  };
  return all;
}

void show(const Station& station) {
  fmt::print("{}\n", hanging("", station.prose, output_columns()));
  if (!station.layout.empty()) {
    fmt::print("$ gantry layout \"{}\"\n{}\n", station.layout,
               report_layout({.text = std::string(station.layout)}).text);
    return;
  }
  JsonLine line(layout_algebra_kind.computed);
  std::string answer;
  evaluate_line(layout_algebra_kind, station.line, line, answer);
  fmt::print("$ echo '{}' | gantry eval layout_algebra\n{}\n", station.line, answer);
}

}  // namespace

void add_tour_command(CLI::App& app, int& status) {
  app.add_subcommand("tour", "Shows what layouts are and what can be done with them")->callback([&status] {
    int number = 0;
    for (const Chapter& chapter : chapters()) {
      const std::string title = fmt::format("{}. {}", ++number, chapter.title);
      fmt::print("{}\n{:=<{}}\n\n", title, "", title.size());
      for (const Station& station : chapter.stations) show(station);
    }
    status = 0;
  });
}

}  // namespace gantry::tool
