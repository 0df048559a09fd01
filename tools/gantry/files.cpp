#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gantry/gemm/detail/file_text.hpp>

namespace gantry::tool {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const std::string& path) {
  detail::FileText read = detail::read_file_text(path, {.streams = true});
  if (!read) return {};
  return std::move(read.text);
}

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

bool replace_text(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  const bool plain = status.type() == fs::file_type::not_found || status.type() == fs::file_type::regular;
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  // Beside a file that can be written there may be no room for another one.
  if (!plain || !write_text(temporary, text)) {
    if (plain) fs::remove(temporary, error);
    return write_text(path, text);
  }
  fs::rename(temporary, path, error);
  if (!error) return true;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return false;
}

std::string why_not_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return path + " is a folder";
  if (fs::exists(path, error)) {
    return access(path.c_str(), W_OK) == 0 ? "" : path + " cannot be written: " + std::strerror(errno);
  }
  const fs::path parent = fs::absolute(path, error).parent_path();
  if (!fs::is_directory(parent, error)) return "there is no folder " + parent.string();
  return access(parent.c_str(), W_OK | X_OK) == 0 ? ""
                                                  : parent.string() + " cannot be written: " + std::strerror(errno);
}

}  // namespace gantry::tool
