// What `gantry explain` is asked, from the texts of its options to a request; or every reason what is wrong with
// them, by OptionRule and option.
//
// Extents are written as on a whiteboard, `128x64`, or in CuTe's notation. In the shared layout and the tile, which a
// kernel is compiled for, integers are static whether or not they have a `_`; in the global layout as written.
#pragma once

#include <string>
#include <string_view>

#include <gantry/runtime/status.hpp>
#include <gantry/tma/im2col.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry::tool {

struct TmaTexts {
  std::string op = "load";
  std::string elem;
  std::string gmem;
  std::string smem;
  std::string tile = {};      // empty: as large as the shared layout
  std::string cluster = "1";  // the CTAs that share the tile
  std::string at = {};        // which tile, empty: the first
  std::string tma_elem = {};  // empty: as elem
  std::string address = "0";
};

struct TmaQuestion {
  TmaCopyRequest request;
  IntTuple tile = make_coord(_0);
};

// A load that several CTAs share becomes a multicast load.
Result<TmaQuestion> read_question(const TmaTexts& texts);

struct Im2colTexts {
  std::string op = "load";
  std::string activation;   // extents in the order of the layout
  std::string layout = {};  // NWC, NHWC or NDHWC; empty: by the number of extents
  std::string elem;
  std::string filter;           // this and the rest along the spatial axes in the order of the layout
  std::string pad = {};         // on both sides; empty: 0
  std::string pad_upper = {};   // on the upper side, where it is not the same
  std::string stride = {};      // empty: 1
  std::string dilation = {};    // empty: 1
  std::string tile = "128x64";  // pixels x channels
  std::string swizzle = {};     // none, 32, 64, 128; empty: the one as wide as a row
  std::string cluster = "1";    // the CTAs that share a tile
  std::string at = "0";         // which tile of pixels
  std::string address = "0";
};

struct Im2colQuestion {
  Convolution conv;
  Im2colTile tile;
  TmaOp op = TmaOp::load_im2col;
  std::int64_t pixel_tile = 0;
};

// Operations may be named without "_im2col". A load that several CTAs share becomes a multicast load, and a filter that
// is not given has one tap.
Result<Im2colQuestion> read_question(const Im2colTexts& texts);

}  // namespace gantry::tool
