// The GEMMs of a run over many: sizes from a file, the options or a usual list, by epilogues from a file or the
// options.
#pragma once

#include <string>
#include <vector>

#include "gemm/request.hpp"

namespace gantry::tool {

struct AskedFiles {
  std::string shapes{}, epilogues{};  // paths; empty: the options say
};

struct AskedGemms {
  std::vector<AskedGemm> all{};
  Status status{};
};

// Without a size and a file of them, the usual sizes.
AskedGemms read_all_asked(const AskedTexts& texts, const AskedFiles& files);

// For a refusal. A file of something else is wrong in every line: the first few say so.
std::string first_sentences(const Status& status);

}  // namespace gantry::tool
