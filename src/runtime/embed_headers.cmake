# cmake -DOUT=x.cpp -DFOLDER=include -DPATTERN=gantry/*.hpp -DFUNCTION=DeviceHeaders::embedded -P embed_headers.cmake
#
# Files as text in the library, sorted by name, with a digest of all of them: what FUNCTION returns.
file(GLOB_RECURSE _names RELATIVE "${FOLDER}" "${FOLDER}/${PATTERN}")
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
  "// Written by the build.\n#include \"nvrtc_headers.hpp\"\n\nnamespace gantry::runtime {\n\n"
  "namespace {\n\nusing namespace std::string_view_literals;\n\nconstexpr HeaderFile kFiles[] = {\n${_files}};\n\n"
  "}  // namespace\n\nconst DeviceHeaders& ${FUNCTION}() {\n"
  "  static constexpr DeviceHeaders kAll{kFiles, \"${_digest}\"};\n  return kAll;\n}\n\n}  // namespace gantry::runtime\n")
