// Gantry's own headers, which kernels compiled at run time include.
#pragma once

#include <string>

namespace gantry::runtime {

// Why include_directory() is empty.
std::string missing_headers();

// Over the names and contents of all headers below `include_dir`/gantry.
std::string headers_digest(const std::string& include_dir);

std::string read_file(const std::string& path);

}  // namespace gantry::runtime
