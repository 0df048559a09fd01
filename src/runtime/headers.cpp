#include "headers.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gantry/runtime/cache.hpp>

#include "digest.hpp"

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

bool has_headers(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "gantry" / "config.hpp", error);
}

}  // namespace

std::string include_directory() {
  const char* asked = std::getenv("GANTRY_INCLUDE_DIR");
  if (asked != nullptr && *asked != '\0') return has_headers(asked) ? asked : "";
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path beside = program.parent_path().parent_path() / "include";
    if (has_headers(beside)) return beside.string();
  }
  return has_headers(GANTRY_SOURCE_INCLUDE_DIR) ? GANTRY_SOURCE_INCLUDE_DIR : "";
}

std::string missing_headers() {
  const char* asked = std::getenv("GANTRY_INCLUDE_DIR");
  if (asked != nullptr && *asked != '\0') {
    return std::string("GANTRY_INCLUDE_DIR is ") + asked + ", and there is no gantry/config.hpp in it";
  }
  return "Gantry's headers were not found: neither in include/ beside the program's folder nor in " +
         std::string(GANTRY_SOURCE_INCLUDE_DIR) + "; set GANTRY_INCLUDE_DIR to the folder that has gantry/";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return std::move(out).str();
}

std::string headers_digest(const std::string& include_dir) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path root = fs::path(include_dir) / "gantry";
  for (fs::recursive_directory_iterator i(root, error), end; !error && i != end; i.increment(error)) {
    if (i->path().extension() == ".hpp") names.push_back(i->path().string());
  }
  std::sort(names.begin(), names.end());
  Digest digest;
  for (const std::string& name : names) digest.add_part(name.substr(include_dir.size())).add_part(read_file(name));
  return digest.text();
}

}  // namespace gantry::runtime
