#include "problem.hpp"

#include <algorithm>

namespace gantry::test {

namespace {

using fusion::Argument;
using fusion::ArgumentKind;
using fusion::Extent;

constexpr std::uint8_t kPoison = 0xA5;

std::int64_t bytes_of(ElementType element, std::int64_t count) { return (count * info(element).bits + 7) / 8; }

// Small numbers, a third of the time whole ones.
void fill(Buffer& buffer, std::mt19937_64& random) {
  const std::int64_t count = static_cast<std::int64_t>(buffer.bytes.size()) * 8 / info(buffer.element).bits;
  const bool whole = random() % 3 == 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    double x = (unit - 0.5) * 8;
    if (whole) x = static_cast<double>(static_cast<std::int64_t>(x));
    if (buffer.element == ElementType::u1) x = unit < 0.5 ? 0 : 1;
    store_from_double(buffer.element, buffer.data(), i, x);
  }
}

// Rows (columns) of whole 16 bytes, with a gap behind them.
Buffer make_matrix(const MatrixSpec& spec, const fusion::ProblemShape& shape) {
  Buffer out;
  out.element = spec.element;
  out.row_major = spec.row_major;
  out.shape = shape;
  if (spec.element == ElementType::void_) return out;
  const std::int64_t step = std::max<std::int64_t>(128 / info(spec.element).bits, 1);
  out.stride = ((spec.row_major ? shape.n : shape.m) + step - 1) / step * step + step;
  out.batch_stride = out.stride * (spec.row_major ? shape.m : shape.n);
  out.bytes.resize(static_cast<std::size_t>(bytes_of(spec.element, out.batch_stride * shape.batch)));
  return out;
}

std::int64_t extent_of(const Argument& a, const fusion::ProblemShape& shape) {
  if (a.kind == ArgumentKind::row) return shape.n;
  if (a.kind == ArgumentKind::column) return shape.m;
  if (a.kind != ArgumentKind::reduction) return 1;
  return a.extent == Extent::row ? shape.n : a.extent == Extent::column ? shape.m : 1;
}

// Of a tensor beside D.
fusion::ProblemShape shape_of(const Argument& a, fusion::ProblemShape shape) {
  const fusion::MatrixExtents of = fusion::extents_of(a, shape.m, shape.n);
  shape.m = of.rows;
  shape.n = of.columns;
  return shape;
}

void poison(Buffer& buffer) { std::fill(buffer.bytes.begin(), buffer.bytes.end(), kPoison); }

}  // namespace

Problem::Problem(const fusion::Graph& graph, const ProblemOptions& options)
    : graph_(graph), options_(options), random_(options.seed) {
  accumulators_ = make_matrix({options.accumulator, true}, options.shape);
  accumulators_.stride = options.shape.n;
  accumulators_.batch_stride = options.shape.m * options.shape.n;
  fill(accumulators_, random_);
  c_ = make_matrix(options.c, options.shape);
  if (!c_.bytes.empty()) fill(c_, random_);
  d_ = make_matrix(options.d, options.shape);
  fusion_ = std::make_unique<fusion::FusionArguments>(graph);
  arguments_.resize(static_cast<std::size_t>(graph.argument_count));
  for (int i = 0; i < graph.argument_count; ++i) make_argument(i);
  clear_outputs();
}

void Problem::make_argument(int i) {
  const Argument& a = graph_.arguments[i];
  if (a.has_default && options_.leave_out) return;
  Buffer& buffer = argument(i);
  auto slot = (*fusion_)[a.name.text];
  if (fusion::is_matrix(a)) {
    buffer = make_matrix({a.element, a.row_major}, shape_of(a, options_.shape));
    fill(buffer, random_);
    slot.tensor(buffer.data(), buffer.stride, buffer.batch_stride);
    return;
  }
  if (a.kind == ArgumentKind::scalar && options_.scalar_by_value) {
    const auto number = static_cast<int>(random_() % 13);
    slot = graph_.is_seed(i) ? static_cast<float>(number) : static_cast<float>(number - 6) * 0.25f + 0.125f;
    return;
  }
  const std::int64_t extent = extent_of(a, options_.shape);
  buffer.element = a.element;
  buffer.batch_stride = options_.by_batch ? extent + 3 : 0;
  buffer.bytes.resize(
      static_cast<std::size_t>(bytes_of(a.element, extent + (options_.shape.batch - 1) * buffer.batch_stride) + 16));
  fill(buffer, random_);
  slot.batched(buffer.data(), buffer.batch_stride);
}

Buffer& Problem::argument(const char* name) {
  for (int i = 0; i < graph_.argument_count; ++i) {
    if (graph_.arguments[i].name == fusion::Name(name)) return argument(i);
  }
  return arguments_.front();
}

void Problem::clear_outputs() {
  poison(d_);
  for (int i = 0; i < graph_.argument_count; ++i) {
    if (fusion::is_output(graph_.arguments[i].kind)) poison(argument(i));
  }
}

fusion::ReferenceProblem Problem::reference() const {
  fusion::ReferenceProblem out;
  out.shape = options_.shape;
  out.accumulators = accumulators_.tensor();
  if (!c_.bytes.empty()) out.source = c_.tensor();
  out.d_element = options_.d.element;
  return out;
}

fusion::ReferenceResult Problem::expected() const { return fusion::reference(graph_, reference(), *fusion_); }

std::string Problem::wrong_tensor(const std::string& name, const std::vector<fusion::Range>& expected,
                                  const Buffer& buffer) const {
  const fusion::ProblemShape& shape = buffer.shape;
  const std::string first = fusion::first_mismatch(expected, buffer.tensor(), shape);
  if (!first.empty()) return name + ": " + first;
  // What no element covers; the last bits of a mask's row belong to its byte, and are 0.
  std::vector<unsigned> covered(buffer.bytes.size());  // bits of each byte
  const int bits = info(buffer.element).bits;
  const fusion::ReferenceTensor tensor = buffer.tensor();
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t m = 0; m < shape.m; ++m) {
      for (std::int64_t n = 0; n < shape.n; ++n) {
        const auto bit = static_cast<std::size_t>(tensor.index(m, n, batch) * bits);
        if (bits < 8) covered[bit / 8] |= ((1u << bits) - 1) << bit % 8;
        for (std::size_t b = 0; b < static_cast<std::size_t>(bits) / 8; ++b) covered[bit / 8 + b] = 0xff;
      }
    }
  }
  for (std::size_t b = 0; b < covered.size(); ++b) {
    if (covered[b] == 0 && buffer.bytes[b] != kPoison) return name + ": byte " + std::to_string(b) + " is no element";
    if (covered[b] != 0 && bits == 1 && (buffer.bytes[b] & ~covered[b]) != 0)
      return name + ": byte " + std::to_string(b) + " has bits outside of the matrix";
  }
  return {};
}

std::string Problem::wrong_reduction(int i, const std::vector<fusion::Range>& expected) const {
  const Argument& a = graph_.arguments[i];
  const Buffer& buffer = arguments_[static_cast<std::size_t>(i)];
  const std::int64_t extent = extent_of(a, options_.shape);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::int64_t at =
        static_cast<std::int64_t>(k) / extent * buffer.batch_stride + static_cast<std::int64_t>(k) % extent;
    const double x = load_as_double(a.element, buffer.data(), at);
    if (expected[k].holds(x)) continue;
    return std::string(a.name.text) + ": result " + std::to_string(k) + " is " + std::to_string(x) +
           ", and should be " + std::to_string(expected[k].value) + ", in [" + std::to_string(expected[k].lower) +
           ", " + std::to_string(expected[k].upper) + "]";
  }
  return {};
}

std::string Problem::wrong(const fusion::ReferenceResult& expected) const {
  if (graph_.d >= 0) {
    std::string text = wrong_tensor("D", expected.d, d_);
    if (!text.empty()) return text;
  }
  for (int i = 0; i < graph_.argument_count; ++i) {
    const Argument& a = graph_.arguments[i];
    if (!fusion::is_output(a.kind) || arguments_[static_cast<std::size_t>(i)].bytes.empty()) continue;
    std::string text = !fusion::is_matrix(a)
                           ? wrong_reduction(i, expected.outputs[i])
                           : wrong_tensor(a.name.text, expected.outputs[i], arguments_[static_cast<std::size_t>(i)]);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace gantry::test
