// What tuning.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
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
    GANTRY_TUNING_FORM("scatter=ordered", scatter, RowScatter::ordered),
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

// Reads one line; of several reasons why it cannot be read the first is kept.
class TuningLine {
 public:
  TuningLine(const std::string& line, std::int64_t number) : number_(number) {
    std::vector<std::string> fields;
    std::istringstream stream(line + "|");  // an empty last field is one, too
    for (std::string field; std::getline(stream, field, '|');) fields.push_back(trimmed(field));
    if (fields.size() != 6 && fields.size() != 7) {
      fail({.rule = TuningRule::fields, .actual = static_cast<std::int64_t>(fields.size())});
      return;
    }
    sizes(fields[0]);
    elements(fields[1]);
    form(fields[2]);
    entry_.epilogue = fields[3];
    entry_.device = fields[4];
    entry_.configuration = fields[5];
    if (entry_.configuration.empty()) fail({.rule = TuningRule::configuration});
    if (fields.size() == 7) entry_.milliseconds = std::strtod(fields[6].c_str(), nullptr);
  }

  const std::optional<TuningReason>& reason() const { return reason_; }
  const TuningEntry& entry() const { return entry_; }

 private:
  void fail(TuningReason reason) {
    reason.line = number_;
    if (!reason_) reason_ = reason;
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
    if (!right) fail({.rule = TuningRule::sizes, .text = field.c_str()});
  }

  void elements(const std::string& field) {
    const std::vector<std::string> words = words_of(field);
    if (words.size() != 6) {
      fail({.rule = TuningRule::elements, .text = field.c_str()});
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
    if (!right) fail({.rule = TuningRule::form, .text = field.c_str()});
  }
  ElementType element(const std::string& word) {
    const ParsedElementType parsed = parse_element_type(word.c_str());
    if (!parsed.ok) fail({.rule = TuningRule::element, .text = word.c_str(), .element = parsed.type});
    return parsed.type;
  }
  Major major(const std::string& word) {
    if (word != "K" && word != "MN") fail({.rule = TuningRule::major, .text = word.c_str()});
    return word == "MN" ? Major::MN : Major::K;
  }

  std::int64_t number_;
  TuningEntry entry_;
  std::optional<TuningReason> reason_;
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

GANTRY_LINKAGE bool append_word(Sentence& out, Placeholder word, const TuningReason& reason) {
  if (word == "line") {
    out.append(reason.line);
  } else if (word == "text") {
    out.append(reason.text);
  } else if (word == "element") {
    out.append(to_text(reason.element));
  } else if (word == "error") {
    out.append(std::strerror(reason.error));
  } else if (word == "header") {
    out.append(TuningFile::kHeader);
  } else if (word == "forms") {
    const char* between = "";
    for (const detail::TuningForm& form : detail::kTuningForms) {
      out.append(between).append(form.word);
      between = ", ";
    }
  } else {
    return false;
  }
  return true;
}

GANTRY_LINKAGE TuningFile TuningFile::parse(const std::string& text) {
  TuningFile file;
  std::istringstream stream(text);
  std::int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    line = detail::trimmed(line);
    if (line.rfind("# gantry tuning", 0) == 0 && line != kHeader) {
      file.reasons_.push_back({.rule = TuningRule::version, .line = number, .text = line.c_str()});
      return file;
    }
    if (!line.empty() && line[0] == '#' && line != kHeader) file.remarks_.push_back(line);
    if (line.empty() || line[0] == '#') continue;
    const detail::TuningLine read(line, number);
    if (read.reason()) {
      file.reasons_.push_back(*read.reason());
    } else {
      file.set(read.entry());
    }
  }
  return file;
}

GANTRY_LINKAGE TuningFile TuningFile::read(const std::string& path) {
  constexpr detail::FileReading kHow;
  const detail::FileText read = detail::read_file_text(path, kHow);
  TuningFile file = parse(read.text);
  if (read || read.fault == detail::FileFault::absent) return file;
  const TuningRule rule = read.fault == detail::FileFault::not_opened  ? TuningRule::not_opened
                          : read.fault == detail::FileFault::not_plain ? TuningRule::not_plain
                          : read.fault == detail::FileFault::not_read  ? TuningRule::not_read
                                                                       : TuningRule::too_large;
  file.reasons_.push_back({.rule = rule, .error = read.error, .nearest = kHow.most >> 20});
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
    out += " | " + detail::form_of(w) + " | " + e.epilogue + " | " + e.device + " | " + e.configuration;
    if (e.milliseconds > 0) {
      char time[40];
      std::snprintf(time, sizeof time, " | %.4f ms", e.milliseconds);
      out += time;
    }
    out += "\n";
  }
  return out;
}

GANTRY_LINKAGE const TuningEntry* TuningFile::find(const GemmWorkload& workload, const std::string& epilogue,
                                                   const std::string& device) const {
  const auto [first, last] = by_sizes_.equal_range(detail::hash_of_sizes(workload));
  for (auto at = first; at != last; ++at) {
    const TuningEntry& entry = entries_[at->second];
    if (entry.workload == workload && entry.epilogue == epilogue && entry.device == device) return &entry;
  }
  return nullptr;
}

GANTRY_LINKAGE void TuningFile::set(const TuningEntry& entry) {
  if (const TuningEntry* const old = find(entry.workload, entry.epilogue, entry.device); old != nullptr) {
    entries_[static_cast<std::size_t>(old - entries_.data())] = entry;
    return;
  }
  by_sizes_.emplace(detail::hash_of_sizes(entry.workload), entries_.size());
  entries_.push_back(entry);
}

}  // namespace gantry
