#include <gantry/gemm/detail/choice_text_definitions.hpp>
