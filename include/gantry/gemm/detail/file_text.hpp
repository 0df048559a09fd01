// The text of a file that somebody named, whatever is there: a pipe that nobody writes to, a device without an end and
// a folder end in a fault.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gantry::detail {

enum class FileFault : std::uint8_t { none, absent, not_opened, not_plain, not_read, silent, too_large };

struct FileText {
  std::string text{};  // where there is no fault
  FileFault fault = FileFault::none;
  int error = 0;  // errno, of a file that is not opened or not read

  explicit operator bool() const { return fault == FileFault::none; }
};

struct FileReading {
  std::size_t most = std::size_t{64} << 20;  // bytes
  bool streams = false;      // pipes and terminals are read to their end; otherwise plain files alone are read
  int most_silence = 5'000;  // milliseconds in which nothing comes from a stream
};

inline FileText read_file_text(const std::string& path, const FileReading& how = {}) {
  FileText out;
  // Opening a pipe without a writer would wait for one, were it not for O_NONBLOCK.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) {
    out.error = errno;
    out.fault = errno == ENOENT || errno == ENOTDIR ? FileFault::absent : FileFault::not_opened;
    return out;
  }
  struct stat facts = {};
  if (fstat(file, &facts) != 0 || (!S_ISREG(facts.st_mode) && !how.streams)) {
    out.fault = FileFault::not_plain;
  }
  char part[1 << 14];
  while (out) {
    pollfd one{file, POLLIN, 0};
    if (poll(&one, 1, how.most_silence) == 0) {
      out.fault = FileFault::silent;
      break;
    }
    const ssize_t bytes = read(file, part, sizeof part);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (bytes < 0) {
      out.error = errno;
      out.fault = FileFault::not_read;
    }
    if (bytes <= 0) break;
    out.text.append(part, static_cast<std::size_t>(bytes));
    if (out.text.size() > how.most) out.fault = FileFault::too_large;
  }
  close(file);
  if (!out) out.text.clear();
  return out;
}

}  // namespace gantry::detail
