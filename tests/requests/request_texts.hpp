// A request in other words: the options of the command line, and the source of a specification.
#pragma once

#include <string>

#include <gantry/runtime/gemm.hpp>

#include "explain/epilogue_options.hpp"
#include "gemm/request.hpp"
#include "random_requests.hpp"

namespace gantry::test {

// The members of a specification, as kernels are compiled from them.
std::string spec_text(const GemmRequest& request);
// Its options alone, for messages.
std::string options_text(const GemmOptions& options);
// A CollectiveBuilder with its fields.
std::string builder_text(const CollectiveBuilder& builder);

// `text` as a string literal.
std::string literal(const std::string& text);

tool::EpilogueTexts texts_of(const EpilogueRequest& request);
// Requires layouts that are row- or column-major, and no staging. The file of a pointer array is left open.
tool::AskedTexts asked_texts_of(const GemmRequest& request);

}  // namespace gantry::test
