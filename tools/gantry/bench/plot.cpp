#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/record.hpp"

namespace gantry::tool {

namespace {

constexpr double kWidth = 960, kHeight = 600;
constexpr double kLeft = 80, kRight = 30, kTop = 70, kBottom = 70;

struct Axis {
  double low, high;  // powers of ten
  double from, to;   // pixels

  double operator()(double value) const {
    return from + (std::log10(std::max(value, 1e-30)) - low) / (high - low) * (to - from);
  }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string text(double x, double y, const std::string& words, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, escaped(words));
}

std::string line(double x0, double y0, double x1, double y1, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x0, y0, x1, y1,
                     style);
}

// 1, 2 and 5 times the powers of ten that the axis shows.
std::vector<double> ticks(const Axis& axis) {
  std::vector<double> out;
  for (int power = static_cast<int>(std::floor(axis.low)); power <= static_cast<int>(axis.high); ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, power);
      if (std::log10(value) >= axis.low && std::log10(value) <= axis.high) out.push_back(value);
    }
  }
  return out;
}

class Picture {
 public:
  explicit Picture(const BenchRecord& record) : record_(record) {
    double least_x = HUGE_VAL, most_x = 0, least_y = HUGE_VAL, most_y = record.peak_flops;
    for (const BenchResult& r : record.results) {
      for (const double seconds : {r.ours.burst, r.theirs.burst, r.ours.sustained, r.theirs.sustained}) {
        if (!(seconds > 0) || !(r.bytes > 0)) continue;
        least_x = std::min(least_x, r.flops / r.bytes);
        most_x = std::max(most_x, r.flops / r.bytes);
        least_y = std::min(least_y, r.flops / seconds);
        most_y = std::max(most_y, r.flops / seconds);
      }
    }
    if (!(most_x > 0)) least_x = 10, most_x = 1000, least_y = 1e13;
    if (record.peak_bytes > 0) most_x = std::max(most_x, 2 * record.peak_flops / record.peak_bytes);
    x_ = {std::log10(least_x / 1.6), std::log10(most_x * 1.6), kLeft, kWidth - kRight};
    y_ = {std::log10(least_y / 1.6), std::log10(std::max(most_y, 1.0) * 1.6), kHeight - kBottom, kTop};
  }

  std::string draw() const {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n",
        kWidth, kHeight);
    out +=
        "<style>.grid{stroke:#ddd}.roof{stroke:#444;stroke-width:2}.ours{fill:#0b6e4f;stroke:#0b6e4f}"
        ".theirs{fill:none;stroke:#b3541e;stroke-width:2}.soft{fill:#666}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    out += text(kLeft, 28,
                fmt::format("{}: GEMMs of {}, ours and cuBLASLt {}", record_.device, record_.elements, record_.vendor),
                "font-size=\"17\"");
    out += text(kLeft, 50, "filled: ours, ring: cuBLASLt; circle: burst, square: sustained. Higher is faster.",
                "class=\"soft\"");
    return out + axes() + roofs() + points() + "</svg>\n";
  }

 private:
  std::string axes() const {
    std::string out;
    for (const double value : ticks(x_)) {
      const double x = x_(value);
      out += line(x, kTop, x, kHeight - kBottom, "grid");
      out += text(x, kHeight - kBottom + 20, fmt::format("{:g}", value), "text-anchor=\"middle\"");
    }
    for (const double value : ticks(y_)) {
      const double y = y_(value);
      out += line(kLeft, y, kWidth - kRight, y, "grid");
      out += text(kLeft - 8, y + 4, fmt::format("{:g}", value / 1e12), "text-anchor=\"end\"");
    }
    out += text((kLeft + kWidth - kRight) / 2, kHeight - 20, "operations for each byte that must move (FLOP/byte)",
                "text-anchor=\"middle\"");
    return out + text(20, (kTop + kHeight - kBottom) / 2, "TFLOP/s",
                      fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {:.0f})\"",
                                  (kTop + kHeight - kBottom) / 2)
                          .c_str());
  }

  // The memory's line rises until it meets that of the tensor cores.
  std::string roofs() const {
    if (!(record_.peak_flops > 0) || !(record_.peak_bytes > 0)) return {};
    const double ridge = record_.peak_flops / record_.peak_bytes;
    const double left = std::max(std::pow(10.0, x_.low), std::pow(10.0, y_.low) / record_.peak_bytes);
    std::string out = line(x_(left), y_(left * record_.peak_bytes), x_(ridge), y_(record_.peak_flops), "roof");
    out += line(x_(ridge), y_(record_.peak_flops), kWidth - kRight, y_(record_.peak_flops), "roof");
    out += text(kWidth - kRight, y_(record_.peak_flops) - 8,
                fmt::format("tensor cores at the highest clock: {:.0f} TFLOP/s", record_.peak_flops / 1e12),
                "text-anchor=\"end\"");
    const double middle = std::sqrt(left * ridge);
    return out + text(x_(middle) - 10, y_(middle * record_.peak_bytes) - 10,
                      fmt::format("memory: {:.2f} TB/s", record_.peak_bytes / 1e12), "text-anchor=\"end\"");
  }

  std::string points() const {
    std::string out;
    for (const BenchResult& r : record_.results) {
      if (!(r.bytes > 0)) continue;
      const std::string name = fmt::format("{} x {} x {}: {}", r.m, r.n, r.k, r.epilogue);
      out += point(r, r.theirs.burst, "theirs", true, name + ", cuBLASLt, burst");
      out += point(r, r.theirs.sustained, "theirs", false, name + ", cuBLASLt, sustained");
      out += point(r, r.ours.burst, "ours", true, name + ", ours, burst");
      out += point(r, r.ours.sustained, "ours", false, name + ", ours, sustained");
    }
    return out;
  }

  std::string point(const BenchResult& r, double seconds, const char* whose, bool round,
                    const std::string& name) const {
    if (!(seconds > 0)) return {};
    const double x = x_(r.flops / r.bytes), y = y_(r.flops / seconds);
    const std::string title = fmt::format("<title>{}: {:.1f} TFLOP/s</title>", escaped(name), r.flops / seconds / 1e12);
    if (round)
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"{}\">{}</circle>\n", x, y, whose, title);
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"9\" height=\"9\" class=\"{}\">{}</rect>\n", x - 4.5,
                       y - 4.5, whose, title);
  }

  const BenchRecord& record_;
  Axis x_{}, y_{};
};

}  // namespace

std::string plot(const BenchRecord& record) { return Picture(record).draw(); }

}  // namespace gantry::tool
