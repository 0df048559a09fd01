// gantry cache: the kernels that were compiled at run time and kept.
#include <ctime>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/printable.hpp>

#include "commands/commands.hpp"
#include "option_rules.hpp"
#include "option_text.hpp"
#include "sizes.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

using runtime::KernelCache;

// "12 min ago". A time that is not over yet, as another machine's clock may have it, is now.
std::string age(std::int64_t then) {
  const double seconds = std::difftime(std::time(nullptr), static_cast<std::time_t>(then));
  if (seconds < 60) return "now";
  if (seconds < 3600) return fmt::format("{:.0f} min ago", seconds / 60);
  if (seconds < 86400) return fmt::format("{:.0f} h ago", seconds / 3600);
  return fmt::format("{:.0f} days ago", seconds / 86400);
}

std::string counted(std::size_t entries) { return fmt::format("{} {}", entries, entries == 1 ? "entry" : "entries"); }

void print(const KernelCache& cache, const std::vector<KernelCache::Entry>& entries) {
  unsigned long long bytes = 0;
  for (const KernelCache::Entry& entry : entries) bytes += entry.bytes;
  fmt::print("{}: {}, {} of at most {}\n", runtime::one_line(cache.directory()), counted(entries.size()),
             bytes_text(static_cast<double>(bytes)), bytes_text(static_cast<double>(cache.limit())));
  for (const KernelCache::Entry& entry : entries) {
    const std::string what = entry.problem ? fmt::format("{}: {}", entry.kind, entry.title) : entry.problem.describe();
    fmt::print("\n{}\n  {}, used {}\n", entry.name, bytes_text(static_cast<double>(entry.bytes)), age(entry.used));
    fmt::print("  {}\n", what);
    if (!entry.toolchain.empty()) fmt::print("  by {}\n", entry.toolchain);
  }
}

nlohmann::ordered_json json_of(const KernelCache& cache, const std::vector<KernelCache::Entry>& entries) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KernelCache::Entry& e : entries) {
    list.push_back({{"name", e.name},
                    {"bytes", e.bytes},
                    {"used", e.used},
                    {"kind", e.kind},
                    {"title", e.title},
                    {"toolchain", e.toolchain},
                    {"rule", e.problem ? "" : e.problem.reasons().front().rule},
                    {"problem", e.problem.describe()}});
  }
  return {{"directory", runtime::one_line(cache.directory())}, {"limit", cache.limit()}, {"entries", std::move(list)}};
}

int verify(const KernelCache& cache) {
  const std::vector<KernelCache::Entry> entries = cache.entries();
  std::size_t wrong = 0;
  for (const KernelCache::Entry& entry : entries) {
    if (entry.problem) continue;
    ++wrong;
    fmt::print("{}: {}\n", entry.name, entry.problem.describe());
  }
  fmt::print("{} of {} intact\n", entries.size() - wrong, counted(entries.size()));
  return wrong == 0 ? 0 : 1;
}

int limit(const KernelCache& cache, const std::string& text) {
  if (!text.empty()) {
    const std::optional<unsigned long long> bytes = read_bytes(text);
    if (!bytes) {
      throw CLI::ValidationError(
          fmt::format(
              "a limit is a number of bytes, or one with K, M or G (KiB, MiB, GiB), up to 1073741824G, and not {}",
              in_quotes(text)),
          2);
    }
    if (const Status kept = cache.set_limit(*bytes); !kept) {
      fmt::print(stderr, "gantry: the limit could not be kept in {}: {}\n", runtime::one_line(cache.directory()),
                 kept.describe());
      return 1;
    }
  }
  fmt::print("{} keeps at most {}\n", runtime::one_line(cache.directory()),
             bytes_text(static_cast<double>(cache.limit())));
  return 0;
}

// Runs with the cache that kernels are kept in; a temporary one in its place is no help here.
template <class Command>
int with_cache(Command command) {
  const KernelCache cache;
  if (cache.note()) return command(cache);
  for (const std::string& note : sentences_of(cache.note())) print_complaint(note);
  return 1;
}

}  // namespace

void add_cache_command(CLI::App& app, int& status) {
  CLI::App* cache = app.add_subcommand("cache", "Lists, verifies, limits and clears the cache of compiled kernels");
  cache->require_subcommand(1);
  cache->footer("The cache is GANTRY_CACHE_DIR, else XDG_CACHE_HOME/gantry/kernels, else ~/.cache/gantry/kernels.");

  CLI::App* list = cache->add_subcommand("list", "Lists every entry: size, last use, kernel and compiler");
  const auto json = std::make_shared<bool>(false);
  list->add_flag("--json", *json, "print the list as JSON");
  list->callback([json, &status] {
    status = with_cache([&](const KernelCache& c) {
      if (*json) {
        fmt::print("{}\n", json_of(c, c.entries()).dump(2));
      } else {
        print(c, c.entries());
      }
      return 0;
    });
  });

  CLI::App* check =
      cache->add_subcommand("verify", "Reads every entry and names those that were altered or are foreign");
  check->footer(
      "The exit status is 1 if there are any. Such entries are never loaded; they are compiled again when needed.");
  check->callback([&status] { status = with_cache(verify); });

  CLI::App* clear = cache->add_subcommand("clear", "Removes all entries");
  clear->callback([&status] {
    status = with_cache([](const KernelCache& c) {
      const KernelCache::Contents gone = c.clear();
      fmt::print("{} removed from {}, {}\n", counted(static_cast<std::size_t>(gone.kernels)),
                 runtime::one_line(c.directory()), bytes_text(static_cast<double>(gone.bytes)));
      return 0;
    });
  });

  CLI::App* bound = cache->add_subcommand("limit", "Prints or sets the size limit of the cache");
  const auto size = std::make_shared<std::string>();
  bound->add_option("size", *size, "bytes, or a number with K, M or G (KiB, MiB, GiB); without it the limit is printed")
      ->option_text("SIZE");
  bound->footer("Example: gantry cache limit 512M\nBeyond the limit the least recently used entries are removed.");
  bound->callback([size, &status] { status = with_cache([&](const KernelCache& c) { return limit(c, *size); }); });
}

}  // namespace gantry::tool
