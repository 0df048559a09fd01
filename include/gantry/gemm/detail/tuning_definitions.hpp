// What tuning.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <gantry/gemm/detail/file_text.hpp>
#include <gantry/gemm/tuning.hpp>
#include <gantry/numeric/element_name.hpp>

namespace gantry {

namespace detail {

inline std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A word of a line's form, and how it is said of a GEMM.
struct TuningForm {
  const char* word;
  bool (*holds)(const GemmWorkload&);
  void (*set)(GemmWorkload&);
};
#define GANTRY_TUNING_FORM(word, field, value)                                                                 \
  {                                                                                                            \
    word, [](const GemmWorkload& w) { return w.field == (value); }, [](GemmWorkload& w) { w.field = (value); } \
  }
inline constexpr TuningForm kTuningForms[] = {
    GANTRY_TUNING_FORM("groups-m", groups, GemmGrouping::along_m),
    GANTRY_TUNING_FORM("groups-k", groups, GemmGrouping::along_k),
    GANTRY_TUNING_FORM("pointer-array", groups, GemmGrouping::pointer_array),
    GANTRY_TUNING_FORM("C=column", column_major_c, true),
    GANTRY_TUNING_FORM("D=column", column_major_d, true),
    GANTRY_TUNING_FORM("scale_a=row_block", scale_a, ScaleMode::row_block),
    GANTRY_TUNING_FORM("scale_a=block", scale_a, ScaleMode::block),
    GANTRY_TUNING_FORM("scale_b=row_block", scale_b, ScaleMode::row_block),
    GANTRY_TUNING_FORM("scale_b=block", scale_b, ScaleMode::block),
    GANTRY_TUNING_FORM("promotes", promotes, true),
    GANTRY_TUNING_FORM("interleaved", gate, GemmGate::interleaved),
    GANTRY_TUNING_FORM("gathers", gathers, true),
    GANTRY_TUNING_FORM("scatter=store", scatter, RowScatter::store),
    GANTRY_TUNING_FORM("scatter=add", scatter, RowScatter::add),
    GANTRY_TUNING_FORM("adds", adds, true),
};
#undef GANTRY_TUNING_FORM

inline constexpr const char* kPlainForm = "plain";

inline std::string form_of(const GemmWorkload& w) {
  std::string out;
  for (const TuningForm& form : kTuningForms) {
    if (form.holds(w)) out += std::string(out.empty() ? "" : " ") + form.word;
  }
  return out.empty() ? kPlainForm : out;
}

// Reads one line; a problem is a sentence without its number.
class TuningLine {
 public:
  explicit TuningLine(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line + "|");  // an empty last field is one, too
    for (std::string field; std::getline(stream, field, '|');) fields.push_back(trimmed(field));
    if (fields.size() != 6 && fields.size() != 7) {
      problem_ = "there are " + std::to_string(fields.size()) +
                 " fields between bars, and an entry has 6 or 7: M N K batch | elements | form | epilogue | GPU | "
                 "configuration | time";
      return;
    }
    sizes(fields[0]);
    elements(fields[1]);
    form(fields[2]);
    entry_.workload.epilogue = fields[3];
    entry_.device = fields[4];
    entry_.configuration = fields[5];
    if (entry_.configuration.empty()) fail("the configuration has no name");
    if (fields.size() == 7) entry_.milliseconds = std::strtod(fields[6].c_str(), nullptr);
  }

  const std::string& problem() const { return problem_; }
  const TuningEntry& entry() const { return entry_; }

 private:
  void fail(const std::string& sentence) {
    if (problem_.empty()) problem_ = sentence;
  }

  void sizes(const std::string& field) {
    const std::vector<std::string> words = words_of(field);
    std::int64_t* const sizes[] = {&entry_.workload.m, &entry_.workload.n, &entry_.workload.k, &entry_.workload.batch};
    bool right = words.size() == 4;
    for (std::size_t i = 0; right && i < 4; ++i) {
      char* end = nullptr;
      *sizes[i] = std::strtoll(words[i].c_str(), &end, 10);
      right = *end == '\0' && *sizes[i] > 0;
    }
    if (!right) fail("sizes are four positive numbers, M N K batch, and here is \"" + field + "\"");
  }

  void elements(const std::string& field) {
    const std::vector<std::string> words = words_of(field);
    if (words.size() != 6) {
      fail(
          "elements are those of A and its major, of B and its major, of C and of D, as \"bf16 K bf16 K void bf16\", "
          "and here is \"" +
          field + "\"");
      return;
    }
    GemmWorkload& w = entry_.workload;
    w.a = element(words[0]);
    w.major_a = major(words[1]);
    w.b = element(words[2]);
    w.major_b = major(words[3]);
    w.c = element(words[4]);
    w.d = element(words[5]);
  }
  void form(const std::string& field) {
    const std::vector<std::string> words = words_of(field);
    if (words.size() == 1 && words[0] == kPlainForm) return;
    bool right = !words.empty();
    for (const std::string& word : words) {
      bool known = false;
      for (const TuningForm& form : kTuningForms) {
        if (word != form.word) continue;
        form.set(entry_.workload);
        known = true;
      }
      right = right && known;
    }
    if (right) return;
    std::string all;
    for (const TuningForm& form : kTuningForms) all += std::string(all.empty() ? "" : ", ") + form.word;
    fail("a form is \"plain\" or some of " + all + ", and here is \"" + field + "\"");
  }
  ElementType element(const std::string& word) {
    const ParsedElementType parsed = parse_element_type(word.c_str());
    if (!parsed.ok) fail(parsed.problem.c_str());
    return parsed.type;
  }
  Major major(const std::string& word) {
    if (word != "K" && word != "MN") fail("a major is K or MN, and here is \"" + word + "\"");
    return word == "MN" ? Major::MN : Major::K;
  }

  TuningEntry entry_;
  std::string problem_;
};

inline std::size_t hash_of_sizes(const GemmWorkload& w) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::int64_t size : {w.m, w.n, w.k, w.batch}) {
    hash = (hash ^ static_cast<std::uint64_t>(size)) * 1099511628211ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace detail

GANTRY_LINKAGE TuningFile TuningFile::parse(const std::string& text) {
  TuningFile file;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    line = detail::trimmed(line);
    if (line.rfind("# gantry tuning", 0) == 0 && line != kHeader) {
      file.problems_.push_back("line " + std::to_string(number) + ": \"" + line + "\" is another version than \"" +
                               kHeader + "\", which is all that is read here; the file is left aside");
      return file;
    }
    if (!line.empty() && line[0] == '#' && line != kHeader) file.remarks_.push_back(line);
    if (line.empty() || line[0] == '#') continue;
    const detail::TuningLine read(line);
    if (read.problem().empty()) {
      file.set(read.entry());
    } else {
      file.problems_.push_back("line " + std::to_string(number) + ": " + read.problem() + "; the line is skipped");
    }
  }
  return file;
}

GANTRY_LINKAGE TuningFile TuningFile::read(const std::string& path) {
  const detail::FileText read = detail::read_file_text(path);
  TuningFile file = parse(read.text);
  if (!read.problem.empty()) file.problems_.push_back(read.problem + "; the file is left aside");
  return file;
}

GANTRY_LINKAGE std::string TuningFile::text() const {
  const auto major = [](Major m) { return m == Major::K ? " K " : " MN "; };
  std::string out = std::string(kHeader) + "\n";
  for (const std::string& remark : remarks_) out += remark + "\n";
  for (const TuningEntry& e : entries_) {
    const GemmWorkload& w = e.workload;
    for (const std::int64_t size : {w.m, w.n, w.k, w.batch}) out += std::to_string(size) + " ";
    out += std::string("| ") + to_text(w.a) + major(w.major_a) + to_text(w.b) + major(w.major_b) + to_text(w.c) + " " +
           to_text(w.d);
    out += " | " + detail::form_of(w) + " | " + w.epilogue + " | " + e.device + " | " + e.configuration;
    if (e.milliseconds > 0) {
      char time[40];
      std::snprintf(time, sizeof time, " | %.4f ms", e.milliseconds);
      out += time;
    }
    out += "\n";
  }
  return out;
}

GANTRY_LINKAGE const TuningEntry* TuningFile::find(const GemmWorkload& workload, const std::string& device) const {
  const auto [first, last] = by_sizes_.equal_range(detail::hash_of_sizes(workload));
  for (auto at = first; at != last; ++at) {
    const TuningEntry& entry = entries_[at->second];
    if (entry.workload == workload && entry.device == device) return &entry;
  }
  return nullptr;
}

GANTRY_LINKAGE void TuningFile::set(const TuningEntry& entry) {
  if (const TuningEntry* const old = find(entry.workload, entry.device); old != nullptr) {
    entries_[static_cast<std::size_t>(old - entries_.data())] = entry;
    return;
  }
  by_sizes_.emplace(detail::hash_of_sizes(entry.workload), entries_.size());
  entries_.push_back(entry);
}

}  // namespace gantry
