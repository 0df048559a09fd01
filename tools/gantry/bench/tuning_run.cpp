#include "bench/tuning_run.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <gantry/gemm/tuning.hpp>

#include "files.hpp"
#include "gemm/choice.hpp"

namespace gantry::tool {

namespace {

// What is said in place of a row's time, and counted at the end.
struct Counts {
  int tuned = 0, there = 0, failed = 0;
};

std::string end_of(const Counts& counts, std::size_t all, const TuningRun& run) {
  std::string out = fmt::format("{} of {} tuned", counts.tuned, all);
  if (counts.there > 0) out += fmt::format(", {} were in {} already", counts.there, run.path);
  if (counts.failed > 0) out += fmt::format(", {} could not be", counts.failed);
  return out;
}

}  // namespace

Status check_keeps(const std::string& path) {
  if (path.empty()) {
    return runtime::failure_of(runtime::RuntimeRule::folder_missing,
                               "the tuning file has no path: HOME is not set; --file names one", "HOME");
  }
  // Folders are made when there is something to keep; asked is the first that is there already.
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(path, error);
  while (place.has_relative_path() && !std::filesystem::exists(place.parent_path(), error)) place = place.parent_path();
  if (Status writable = check_writable(place.string()); !writable) return writable;
  const Status unread = unread_lines(TuningFile::read(path));
  return runtime::with_words_after(
      runtime::with_words_before(path + " holds lines that are no tuning entries and would be lost: ", unread),
      "; --file names another file");
}

Status keep_tuned(const TuningRun& run, const AskedGemm& asked, const Tuned& tuned) {
  if (run.dry_run) return {};
  TuningFile file = TuningFile::read(run.path);
  file.set({workload_of(asked), asked.expression, run.device, tuned.configuration, tuned.seconds * 1e3});
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(run.path).parent_path(), error);
  return runtime::with_words_before(fmt::format("the tuning file could not be written to {}: ", run.path),
                                    replace_text(run.path, file.text()));
}

int tune_all(const std::vector<AskedGemm>& asked_gemms, const std::function<Tuned(const AskedGemm&)>& tune,
             const TuningRun& run, const Stop& stop) {
  Counts counts;
  for (const AskedGemm& asked : asked_gemms) {
    if (stop.asked()) break;
    const std::string name = title(asked);
    if (!run.again) {
      const TuningFile file = TuningFile::read(run.path);
      if (const TuningEntry* entry = file.find(workload_of(asked), asked.expression, run.device); entry != nullptr) {
        ++counts.there;
        run.print(fmt::format("{}: {} is kept already\n", name, entry->configuration));
        continue;
      }
    }
    const Tuned tuned = tune(asked);
    if (stop.asked() && tuned.configuration.empty()) break;
    const Status kept = tuned.status ? keep_tuned(run, asked, tuned) : tuned.status;
    if (!kept) {
      ++counts.failed;
      fmt::print(stderr, "gantry: {}: {}\n", name, kept.describe());
      continue;
    }
    ++counts.tuned;
    run.print(fmt::format("{}: {}, {:.2f} us, {:.1f} TFLOP/s, the fastest of {}\n", name, tuned.configuration,
                          tuned.seconds * 1e6, asked.flops() / tuned.seconds / 1e12, tuned.candidates));
  }
  run.print(end_of(counts, asked_gemms.size(), run) + "\n");
  if (stop.asked()) fmt::print(stderr, "gantry: {}; the same command goes on from there\n", stop.why());
  if (counts.failed > 0) return 1;
  return stop.asked() ? Stop::status() : 0;
}

}  // namespace gantry::tool
