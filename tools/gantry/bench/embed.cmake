# cmake -DOUT=cublaslt_text.hpp -DFILE=... -P embed.cmake: the contestant's source as a string literal.
file(READ "${FILE}" _contents)
file(WRITE "${OUT}" "// Written by the build from bench/gpu/cublaslt.hpp.\n#pragma once\n\n#include <string_view>\n\nnamespace gantry::tool {\n\ninline constexpr std::string_view kCublasLtText = R\"~~(${_contents})~~\";\n\n}  // namespace gantry::tool\n")
