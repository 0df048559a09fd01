#include "explain/options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/numeric/element_name.hpp>
#include <gantry/tma/multicast.hpp>

#include "option_rules.hpp"
#include "option_text.hpp"

namespace gantry::tool {

namespace {

constexpr ParseOptions kAllFixed{.all_fixed = true};

// Of base 16 after 0x.
template <class T>
bool read_address(std::string_view text, T& value) {
  return text.starts_with("0x") ? read_number(text.substr(2), value, 16) : read_number(text, value, 10);
}

// `128x64` as numbers; nothing where the text is something else.
std::vector<std::int64_t> read_extents(std::string_view text) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::size_t x = text.find('x');
    std::int64_t value = 0;
    const std::string_view digits = text.substr(0, x);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
    if (!read_number(digits, value) || out.size() == 16) return {};
    out.push_back(value);
    if (x == std::string_view::npos) return out;
    text.remove_prefix(x + 1);
  }
}

std::string cannot_read(std::string_view option, std::string_view takes, std::string_view text,
                        const ParseError& error) {
  return fmt::format("{} takes {}, and {} cannot be read:\n{}", option, takes, in_quotes(text),
                     explain(Chars(text.data(), static_cast<int>(text.size())), error).c_str());
}

// Reads the options of one question and collects what is wrong with them.
class Reader {
 public:
  explicit Reader(Status& status) : status_(status) {}

  void refuse(std::string_view option, std::string sentence, OptionRule rule = OptionRule::value) {
    tool::refuse(status_, rule, option, std::move(sentence));
  }

  template <class T>
  T parsed(std::string_view option, std::string_view takes, std::string_view text, const Parsed<T>& result) {
    if (!result.ok()) refuse(option, cannot_read(option, takes, text, result.error));
    return result.value;
  }

  ElementType element(std::string_view option, const std::string& text) {
    const ParsedElementType parsed = parse_element_type(text.c_str());
    if (!parsed.ok || text.find('\0') != std::string::npos) {
      refuse(option, parsed.ok
                         ? fmt::format("{} takes the name of an element type, and {} is none", option, in_quotes(text))
                         : fmt::format("{}: {}", option, parsed.problem.c_str()));
    } else if (parsed.type == ElementType::void_) {
      refuse(option, fmt::format("{} is void: a tensor has elements, such as bf16", option));
    }
    return parsed.type;
  }

  std::uint64_t address(const std::string& text) {
    std::uint64_t out = 0;
    if (!read_address(text, out)) {
      refuse("--address",
             fmt::format("--address takes a number such as 0x7f0000000000, and {} is none", in_quotes(text)));
    }
    return out;
  }

 private:
  Status& status_;
};

// ---- Tiles of tensors

// An operation on tiles, or one on columns of pixels, whose name may leave out "_im2col".
TmaOp read_operation(Reader& reader, const std::string& text, bool im2col) {
  TmaOp op = im2col ? TmaOp::load_im2col : TmaOp::load;
  const bool short_name =
      im2col && (text == "load" || text == "load_multicast" || text == "store" || text == "prefetch");
  const std::string name = !short_name ? text : text == "load_multicast" ? "load_im2col_multicast" : text + "_im2col";
  if (!parse_tma_op(name.c_str(), op) || text.find('\0') != std::string::npos) {
    std::vector<std::string_view> names;
    for (int i = 0; i < kTmaOpCount; ++i) {
      if (is_im2col(static_cast<TmaOp>(i)) == im2col) names.emplace_back(to_text(static_cast<TmaOp>(i)));
    }
    reader.refuse("--op", fmt::format("--op takes the name of an operation, and {} is none; there are {}",
                                      in_quotes(text), fmt::join(names, ", ")));
  } else if (is_im2col(op) != im2col) {
    reader.refuse("--op", im2col ? fmt::format("--op {} moves tiles of a tensor: ask 'gantry explain tma'", text)
                                 : fmt::format("--op {} is an im2col operation: ask 'gantry explain im2col'", text));
  }
  return op;
}

// The swizzle is on bytes and the layout counts elements, with or without a pointer between them.
ComposedLayout read_shared(Reader& reader, const std::string& text, int bits) {
  constexpr std::string_view kTakes = "a layout such as \"Sw<3,4,3> o (128,64):(64,1)\"";
  const ComposedLayout read = reader.parsed("--smem", kTakes, text, parse_composed_layout(text, kAllFixed));
  if (!read.ok()) return read;
  if (read.element_bits() != 0 && bits != 0 && read.element_bits() != bits) {
    reader.refuse(
        "--smem",
        fmt::format("--smem points to elements of {} bits, and --elem has {}: both describe the same elements",
                    read.element_bits(), bits),
        OptionRule::conflict);
  }
  if (!read.offset().is_fixed(0)) {
    reader.refuse("--smem", "--smem has an offset: the shared layout is that of one tile and starts at offset 0");
  }
  return ComposedLayout(read.swizzle(), Int::fixed(0), read.layout(), bits);
}

Tiler read_tile(Reader& reader, const std::string& text) {
  if (text.empty()) return Tiler(_);
  if (const std::vector<std::int64_t> extents = read_extents(text); !extents.empty()) {
    Tiler out = Tiler::tuple();
    for (const std::int64_t extent : extents) out.push_back(Tiler(Int::fixed(extent < 1 ? 1 : extent)));
    // They are written without a sign.
    if (std::count(extents.begin(), extents.end(), 0) > 0)
      reader.refuse("--tile", fmt::format("--tile {} has an extent of 0: the least is 1", text));
    return out;
  }
  return reader.parsed("--tile", "extents such as 128x64, or a tiler such as \"(128,64)\"", text,
                       parse_tiler(text, kAllFixed));
}

std::uint32_t read_cluster(Reader& reader, const std::string& text) {
  const std::vector<std::int64_t> extents = read_extents(text);
  if (extents.empty() || extents.size() > 3) {
    reader.refuse("--cluster", fmt::format("--cluster takes extents such as 2x1, and {} is none", in_quotes(text)));
    return 1;
  }
  std::int64_t ctas = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 1) {
      reader.refuse("--cluster", fmt::format("--cluster {} has an extent of {}: the least is 1", text, extent));
      return 1;
    }
    ctas = extent > kMaxClusterCtas ? kMaxClusterCtas + 1 : ctas * extent;
    if (ctas > kMaxClusterCtas) {
      reader.refuse(
          "--cluster",
          fmt::format("--cluster {} has more than {} CTAs: a multicast reaches at most {}, the bits of its mask", text,
                      kMaxClusterCtas, kMaxClusterCtas));
      return 1;
    }
  }
  return static_cast<std::uint32_t>(ctas);
}

IntTuple read_tile_coordinate(Reader& reader, const std::string& text) {
  if (text.empty()) return make_coord(_0);
  IntTuple out;
  if (const std::vector<std::int64_t> values = read_extents(text); !values.empty()) {
    for (const std::int64_t v : values) out.push_back(Int(v));
    return out;
  }
  const IntTuple read =
      reader.parsed("--at", "the coordinate of a tile, such as 3x5 or \"(3,5)\"", text, parse_int_tuple(text));
  return read.ok() && read.is_leaf() ? make_coord(read) : read;
}

// Whether there is such a tile.
void check_tile_coordinate(Reader& reader, const std::string& text, const TmaQuestion& q) {
  const Layout& gmem = q.request.gtensor.layout;
  const TmaPlan plan = make_tma_copy(q.request);
  if (!plan.cta_v_map.ok() || plan.reasons.has(TmaPlanRule::tiler_rank) || plan.num_bits_per_tma == 0) return;
  if (rank(q.tile) > rank(gmem)) {
    return reader.refuse("--at",
                         fmt::format("--at {} has {} entries, and the global tensor {} modes: at most one for each",
                                     in_quotes(text), rank(q.tile), rank(gmem)));
  }
  const Layout tiles = zipped_divide(make_identity_layout(gmem.shape()), plan.cta_tiler);
  if (!tiles.ok()) return;
  const Layout rest = tiles[1];
  int mode = 0;
  for (TupleView c : TupleView(q.tile)) {
    const Int extent = mode < rank(rest) ? product(rest[mode].shape()) : Int::fixed(1);
    if (!c.is_leaf() || !c.leaf().is_plain() || !c.leaf().is_known() || c.leaf().value() < 0) {
      return reader.refuse(
          "--at", fmt::format("--at {}: entry {} must be the number of a tile, 0 or more", in_quotes(text), mode));
    }
    if (extent.is_known() && c.leaf().value() >= extent.value()) {
      return reader.refuse("--at", fmt::format("--at {}: there is no tile {} along global mode {}, the last is {}",
                                               in_quotes(text), c.leaf().value(), mode, extent.value() - 1));
    }
    ++mode;
  }
}

}  // namespace

Result<TmaQuestion> read_question(const TmaTexts& texts) {
  TmaQuestion out;
  Status status;
  Reader reader(status);
  TmaCopyRequest& r = out.request;
  r.op = read_operation(reader, texts.op, false);
  r.gtensor.element = reader.element("--elem", texts.elem);
  r.gtensor.address = reader.address(texts.address);
  r.gtensor.layout =
      reader.parsed("--gmem", "a layout such as \"(4096,8192):(8192,_1)\"", texts.gmem, parse_layout(texts.gmem));
  r.smem = read_shared(reader, texts.smem, element_bits(r.gtensor.element));
  r.cta_tiler = read_tile(reader, texts.tile);
  r.num_multicast = read_cluster(reader, texts.cluster);
  if (!texts.tma_elem.empty()) r.tma_element = reader.element("--tma-elem", texts.tma_elem);
  if (r.op == TmaOp::load && r.num_multicast > 1) r.op = TmaOp::load_multicast;
  out.tile = read_tile_coordinate(reader, texts.at);
  if (status && !texts.at.empty()) check_tile_coordinate(reader, texts.at, out);
  if (!status) return unexpected(std::move(status));
  return out;
}

// ---- Convolutions

namespace {

// Axes as a layout names them, `NHWC`.
struct Axes {
  std::string_view name;
  int spatial = 0;
};

constexpr Axes kAxes[] = {{"NWC", 1}, {"NHWC", 2}, {"NDHWC", 3}};

const Axes* read_axes(Reader& reader, const std::string& text, std::size_t extents) {
  for (const Axes& axes : kAxes) {
    if (text == axes.name || (text.empty() && extents == axes.name.size())) return &axes;
  }
  if (text.empty()) {
    reader.refuse("--activation", fmt::format("--activation has {} extents: NWC has 3, NHWC 4 and NDHWC 5", extents));
  } else {
    reader.refuse("--layout",
                  fmt::format("--layout takes NWC, NHWC or NDHWC, and {} is none of them", in_quotes(text)));
  }
  return nullptr;
}

// Numbers along the spatial axes in the order of the layout, into an array in the order W, H, D.
void read_axis_values(Reader& reader, std::string_view option, const std::string& text, int axes, std::int32_t* out) {
  if (text.empty()) return;
  const std::vector<std::int64_t> values = read_extents(text);
  if (values.size() != static_cast<std::size_t>(axes) && values.size() != 1) {
    return reader.refuse(
        option, fmt::format("{} takes {} numbers such as {}, or one for all axes, and {} is not that", option, axes,
                            axes == 1   ? "3"
                            : axes == 2 ? "3x3"
                                        : "3x3x3",
                            in_quotes(text)));
  }
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t v = values.size() == 1 ? values[0] : values[static_cast<std::size_t>(axes - 1 - axis)];
    if (v > 0x7fffffff) return reader.refuse(option, fmt::format("{} {} is beyond 2147483647", option, text));
    out[axis] = static_cast<std::int32_t>(v);
  }
}

// The most elements that are counted: beyond, indices of pixels do not fit in 64 bits with room to spare.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

void read_activation(Reader& reader, const Im2colTexts& texts, Convolution& conv) {
  const std::vector<std::int64_t> extents = read_extents(texts.activation);
  if (extents.empty()) {
    return reader.refuse("--activation", fmt::format("--activation takes extents such as 8x56x56x64, and {} is none",
                                                     in_quotes(texts.activation)));
  }
  const Axes* axes = read_axes(reader, texts.layout, extents.size());
  if (axes == nullptr) return;
  conv.spatial_rank = axes->spatial;
  if (extents.size() != axes->name.size()) {
    return reader.refuse("--activation", fmt::format("--activation {} has {} extents, and {} has {}", texts.activation,
                                                     extents.size(), axes->name, axes->name.size()));
  }
  std::int64_t elements = 1;
  for (const std::int64_t e : extents) {
    if (e > 0 && elements > kMostElements / e) {
      return reader.refuse("--activation",
                           fmt::format("--activation {} has more than 2^48 elements", texts.activation));
    }
    elements *= e > 0 ? e : 1;
  }
  conv.images = extents.front();
  conv.channels = extents.back();
  for (int axis = 0; axis < axes->spatial; ++axis)
    conv.extent[axis] = extents[extents.size() - 2 - static_cast<std::size_t>(axis)];
}

TmaSwizzle read_swizzle(Reader& reader, const std::string& text, std::int64_t row_bytes) {
  if (text.empty()) {
    return row_bytes == 128  ? TmaSwizzle::bytes_128
           : row_bytes == 64 ? TmaSwizzle::bytes_64
           : row_bytes == 32 ? TmaSwizzle::bytes_32
                             : TmaSwizzle::none;
  }
  if (text == "none") return TmaSwizzle::none;
  if (text == "32") return TmaSwizzle::bytes_32;
  if (text == "64") return TmaSwizzle::bytes_64;
  if (text == "128") return TmaSwizzle::bytes_128;
  reader.refuse("--swizzle",
                fmt::format("--swizzle takes none, 32, 64 or 128, and {} is none of them", in_quotes(text)));
  return TmaSwizzle::none;
}

void read_im2col_tile(Reader& reader, const Im2colTexts& texts, int bytes, Im2colTile& tile) {
  const std::vector<std::int64_t> extents = read_extents(texts.tile);
  if (extents.size() != 2 || extents[0] > 0x7fffffff || extents[1] > 0x7fffffff) {
    return reader.refuse("--tile", fmt::format("--tile takes pixels x channels such as 128x64, and {} is not that",
                                               in_quotes(texts.tile)));
  }
  tile.pixels = static_cast<std::uint32_t>(extents[0]);
  tile.channels = static_cast<std::uint32_t>(extents[1]);
  tile.swizzle = read_swizzle(reader, texts.swizzle, extents[1] * bytes);
}

}  // namespace

Result<Im2colQuestion> read_question(const Im2colTexts& texts) {
  Im2colQuestion out;
  Status status;
  Reader reader(status);
  Convolution& conv = out.conv;
  read_activation(reader, texts, conv);
  const ElementType element = reader.element("--elem", texts.elem);
  const TmaFormat format = tma_format(element);
  if (!format.exists && status) {
    const TmaReason reason{.rule = TmaPlanRule::element_without_format,
                           .actual = static_cast<std::int64_t>(element),
                           .nearest = static_cast<std::int64_t>(format.nearest)};
    reader.refuse("--elem", fmt::format("--elem: {}", describe(reason).c_str()));
  }
  conv.data_type = format.type;
  conv.address = reader.address(texts.address);
  const int axes = conv.spatial_rank;
  read_axis_values(reader, "--filter", texts.filter, axes, conv.filter);
  read_axis_values(reader, "--pad", texts.pad, axes, conv.pad_lower);
  for (int axis = 0; axis < axes; ++axis) conv.pad_upper[axis] = conv.pad_lower[axis];
  read_axis_values(reader, "--pad-upper", texts.pad_upper, axes, conv.pad_upper);
  read_axis_values(reader, "--stride", texts.stride, axes, conv.stride);
  read_axis_values(reader, "--dilation", texts.dilation, axes, conv.dilation);
  read_im2col_tile(reader, texts, element_bytes(conv.data_type), out.tile);
  out.op = read_operation(reader, texts.op, true);
  out.tile.ctas = read_cluster(reader, texts.cluster);
  if (out.tile.ctas > 1 && out.op == TmaOp::load_im2col) out.op = TmaOp::load_im2col_multicast;
  if (!read_number(texts.at, out.pixel_tile) || out.pixel_tile < 0) {
    reader.refuse("--at", fmt::format("--at takes the number of a tile of pixels, 0 or more, and {} is none",
                                      in_quotes(texts.at)));
  }
  if (!status) return unexpected(std::move(status));
  const Im2colPlan plan = plan_im2col(conv, out.tile, out.op);
  if (plan.ok() && out.pixel_tile >= plan.pixel_tiles()) {
    reader.refuse("--at", fmt::format("--at {}: there is no such tile of pixels, the last is {}", texts.at,
                                      plan.pixel_tiles() - 1));
    return unexpected(std::move(status));
  }
  return out;
}

}  // namespace gantry::tool
