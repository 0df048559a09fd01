# cmake -DOUT=embedded_headers.cpp -DFOLDER=include -P embed_headers.cmake: every header as text in the library, sorted by
# name, and a digest of all of them.
file(GLOB_RECURSE _names RELATIVE "${FOLDER}" "${FOLDER}/gantry/*.hpp")
list(SORT _names)
set(_parts "")
set(_files "")
foreach(_name IN LISTS _names)
  file(READ "${FOLDER}/${_name}" _text)
  file(SHA256 "${FOLDER}/${_name}" _digest)
  string(APPEND _parts "${_digest} ${_name}\n")
  string(APPEND _files "    {\"${_name}\", R\"~~(${_text})~~\"sv},\n")
endforeach()
string(SHA256 _digest "${_parts}")
file(
  WRITE "${OUT}"
  "// Written by the build from include/gantry.\n#include <gantry/runtime/headers.hpp>\n\nnamespace gantry::runtime {\n\n"
  "namespace {\n\nusing namespace std::string_view_literals;\n\nconstexpr HeaderFile kFiles[] = {\n${_files}};\n\n"
  "}  // namespace\n\nconst DeviceHeaders& DeviceHeaders::embedded() {\n"
  "  static constexpr DeviceHeaders kAll{kFiles, \"${_digest}\"};\n  return kAll;\n}\n\n}  // namespace gantry::runtime\n")
