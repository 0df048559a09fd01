# cmake -DOUT=page_text.hpp -DFOLDER=... -P embed.cmake: the files of the page as string literals.
set(_text "// Written by the build from tools/gantry/html.\n#pragma once\n\n#include <string_view>\n\nnamespace gantry::tool {\n\n")
foreach(_part Html:page.html Style:page.css Script:page.js)
  string(REGEX MATCH "(.*):(.*)" _ "${_part}")
  file(READ "${FOLDER}/${CMAKE_MATCH_2}" _contents)
  string(APPEND _text "inline constexpr std::string_view kPage${CMAKE_MATCH_1} = R\"~~(${_contents})~~\";\n\n")
endforeach()
file(WRITE "${OUT}" "${_text}}  // namespace gantry::tool\n")
