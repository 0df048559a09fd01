// Gantry's own headers as text in the library, so that a kernel compiled at run time is made from the headers that the
// library was built with: no installation, no source tree and no folder beside the program is looked at.
//
// Example:
//     using namespace gantry::runtime;
//     const DeviceHeaders& headers = DeviceHeaders::embedded();
//     for (const HeaderFile& file : headers.files) std::puts(file.name);  // gantry/arch.hpp, ...
#pragma once

#include <cstdio>
#include <span>
#include <string_view>

namespace gantry::runtime {

struct HeaderFile {
  const char* name;  // as it is included: gantry/arch.hpp
  std::string_view text;
};

struct DeviceHeaders {
  std::span<const HeaderFile> files;
  std::string_view digest;  // of all names and texts

  static const DeviceHeaders& embedded();
};

}  // namespace gantry::runtime
