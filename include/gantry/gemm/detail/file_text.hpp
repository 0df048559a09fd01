// The text of a file that somebody named, whatever is there: a pipe that nobody writes to, a device without an end and
// a folder end in a sentence.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gantry::detail {

struct FileText {
  std::string text{};
  std::string problem{};  // "it is no plain file"; empty: the text is there, or the file is absent
  bool absent = false;
};

struct FileReading {
  std::size_t most = std::size_t{64} << 20;  // bytes
  bool streams = false;  // pipes and terminals are read to their end; otherwise plain files alone are read
};

inline FileText read_file_text(const std::string& path, const FileReading& how = {}) {
  FileText out;
  // Opening a pipe without a writer would wait for one, were it not for O_NONBLOCK.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) {
    out.absent = errno == ENOENT || errno == ENOTDIR;
    if (!out.absent) out.problem = std::string("it cannot be opened: ") + std::strerror(errno);
    return out;
  }
  struct stat facts = {};
  if (fstat(file, &facts) != 0 || (!S_ISREG(facts.st_mode) && !how.streams)) {
    out.problem = "it is no plain file";
  } else if (how.streams) {
    const int flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_NONBLOCK);  // a writer may take its time
  }
  char part[1 << 14];
  while (out.problem.empty()) {
    const ssize_t bytes = read(file, part, sizeof part);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) out.problem = std::string("it cannot be read: ") + std::strerror(errno);
    if (bytes <= 0) break;
    out.text.append(part, static_cast<std::size_t>(bytes));
    if (out.text.size() > how.most) out.problem = "it has more than " + std::to_string(how.most >> 20) + " MiB";
  }
  close(file);
  if (!out.problem.empty()) out.text.clear();
  return out;
}

}  // namespace gantry::detail
