# cmake -DOUT=vendor_text.hpp -DFIRST=... -DSECOND=... -DTHIRD=... -P embed.cmake: the contestant's source, three files one
# after the other, as a string literal.
set(_contents "")
foreach(_file "${FIRST}" "${SECOND}" "${THIRD}")
  file(READ "${_file}" _text)
  string(APPEND _contents "${_text}\n")
endforeach()
file(WRITE "${OUT}" "// Written by the build from bench/gpu/cublaslt.hpp and what stands around it.\n#pragma once\n\n#include <string_view>\n\nnamespace gantry::tool {\n\ninline constexpr std::string_view kVendorText = R\"~~(${_contents})~~\";\n\n}  // namespace gantry::tool\n")
