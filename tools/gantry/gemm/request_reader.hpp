// Reads the options of a GEMM, and what its groups say of its sizes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gemm/request.hpp"
#include "option_text.hpp"

namespace gantry::tool {

class RequestReader : public OptionReader {
 public:
  using OptionReader::OptionReader;

  void required(const char* option) { refuse(OptionRule::required, option, fmt::format("{} is required", option)); }
  void both_given(const char* option, const char* other, const char* why) {
    refuse(OptionRule::conflict, option,
           fmt::format("{} and {} were both given: {}; without {} this works", option, other, why, other));
  }
  void add(const Status& found) {
    for (const StatusReason& reason : found.reasons()) status().add(reason);
  }

  void scalars(const std::vector<std::string>& texts, std::vector<Scalar>& out) {
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      Scalar scalar{text.substr(0, equals)};
      const std::string_view number = equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1);
      if (!read_number(number, scalar.value))
        wrong("--set", "the name of a scalar or a vector and a number such as alpha=2", text);
      const bool again = std::any_of(out.begin(), out.end(), [&](const Scalar& s) { return s.name == scalar.name; });
      if (again) {
        refuse(OptionRule::repeated, "--set",
               fmt::format("--set gives {} more than once: an argument has one value", in_quotes(scalar.name)));
      }
      out.push_back(scalar);
    }
  }
};

// Groups, and the sizes that follow from them.
void read_grouping(const AskedTexts& texts, RequestReader& read, AskedGemm& asked);

}  // namespace gantry::tool
