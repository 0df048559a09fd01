// The groups of a GEMM, from the texts of their options.
#include <algorithm>

#include <fmt/format.h>

#include <gantry/gemm/group_check.hpp>

#include "gemm/gemm_list.hpp"
#include "gemm/request_reader.hpp"

namespace gantry::tool {

namespace {

// "128,0,77,512": the sizes of groups.
std::vector<std::int64_t> read_groups(const char* option, const std::string& text, RequestReader& read) {
  std::vector<std::int64_t> out;
  std::int64_t all = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t size = 0;
    const bool is_number = read_number(std::string_view(text).substr(at, end - at), size);
    if (!is_number || size < 0 || size > kMostExtent - all) {
      read.wrong(option, "sizes of groups such as 128,0,77, each 0 or more and 2147483392 together at most", text);
      return {};
    }
    out.push_back(size);
    all += size;
    at = end + 1;
  }
  return out;
}

// "0,128,205": where groups begin, and where the last one ends. They may be wrong: that is what a kernel must bear.
void read_offsets(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  const auto not_with = [&](bool given, const char* other, const char* why) {
    if (given) read.both_given("--offsets", other, why);
  };
  not_with(!texts.groups.empty() || !texts.groups_k.empty(), "sizes of groups", "offsets say where groups begin");
  not_with(texts.capacity > 0, "--capacity", "groups of fixed capacity begin at its multiples");
  not_with(texts.batch != 1, "--batch", "each group is a GEMM of its own");
  for (std::size_t at = 0; at <= texts.offsets.size();) {
    const std::size_t end = std::min(texts.offsets.find(',', at), texts.offsets.size());
    std::int32_t offset = 0;
    if (!read_number(std::string_view(texts.offsets).substr(at, end - at), offset)) {
      read.wrong("--offsets", "two 32-bit numbers or more such as 0,128,205", texts.offsets);
      return;
    }
    asked.offsets.push_back(offset);
    at = end + 1;
  }
  asked.options.groups = GemmGrouping::along_m;
  asked.batch = static_cast<std::int64_t>(asked.offsets.size()) - 1;
  if (asked.batch == 0) return read.wrong("--offsets", "two 32-bit numbers or more such as 0,128,205", texts.offsets);
  for (std::size_t g = 0; g + 1 < asked.offsets.size(); ++g) {
    asked.groups.push_back(std::int64_t{asked.offsets[g + 1]} - asked.offsets[g]);
  }
  const GroupedLines rows{GemmGrouping::along_m, asked.m};
  for (const GroupFinding& found : check_offsets(asked.offsets.data(), asked.batch, rows)) {
    asked.groups[static_cast<std::size_t>(found.group)] = 0;
  }
}

// What a file of GEMMs says of the sizes.
void read_array(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  const auto not_with = [&](bool given, const char* other, const char* why) {
    if (given) read.both_given("--problems", other, why);
  };
  not_with(!texts.groups.empty() || !texts.groups_k.empty() || !texts.offsets.empty(), "groups",
           "the GEMMs of a pointer array share nothing");
  not_with(texts.batch != 1, "--batch", "each line is a GEMM of its own");
  not_with(asked.m + asked.n + asked.k > 0, "a size", "each line of the file has M, N and K");
  const ReadGemms file = read_gemms(texts.gemms);
  read.add(file.status);
  asked.options.groups = GemmGrouping::pointer_array;
  asked.gemms = file.gemms;
  asked.batch = static_cast<std::int64_t>(file.gemms.size());
  GemmExtents all{.batch = 0};
  for (const GemmExtents& e : file.gemms) all = {all.m + e.m, all.n + e.n, all.k + e.k, all.batch + 1};
  const auto mean = [&](std::int64_t sum) {
    return std::max<std::int64_t>(1, all.batch > 0 ? (sum + all.batch - 1) / all.batch : 1);
  };
  asked.m = mean(all.m);
  asked.n = mean(all.n);
  asked.k = mean(all.k);
}

}  // namespace

void read_grouping(const AskedTexts& texts, RequestReader& read, AskedGemm& asked) {
  const bool rows = !texts.groups.empty(), k = !texts.groups_k.empty(), array = !texts.gemms.empty();
  const auto not_with = [&](const char* option, const char* other, const char* why) {
    read.both_given(option, other, why);
  };
  if (!rows && !k && texts.capacity > 0) {
    read.refuse(OptionRule::conflict, "--capacity",
                "--capacity was given without --groups: it is the room that each group of rows has");
  }
  if (array) return read_array(texts, read, asked);
  if (!texts.offsets.empty()) return read_offsets(texts, read, asked);
  if (!rows && !k) return;
  if (rows && k) return not_with("--groups", "--groups-k", "groups are along M or along K");
  const char* const option = rows ? "--groups" : "--groups-k";
  if (texts.batch != 1) not_with(option, "--batch", "each group is a GEMM of its own");
  asked.groups = read_groups(option, rows ? texts.groups : texts.groups_k, read);
  asked.batch = static_cast<std::int64_t>(asked.groups.size());
  std::int64_t all = 0;
  for (const std::int64_t size : asked.groups) all += size;
  asked.options.groups = rows ? GemmGrouping::along_m : GemmGrouping::along_k;
  std::int64_t& extent = rows ? asked.m : asked.k;
  const char* const name = rows ? "--m" : "--k";
  if (extent > 0 && extent != all) not_with(option, name, "the groups have as many rows as they say");
  extent = all;
  if (texts.capacity == 0) return;
  if (k) return not_with(option, "--capacity", "groups of fixed capacity are groups of rows of A and D");
  asked.capacity = texts.capacity;
  asked.m = asked.batch * texts.capacity;
  for (const std::int64_t size : asked.groups) {
    if (size <= texts.capacity) continue;
    read.refuse(OptionRule::conflict, "--groups",
                fmt::format("--groups has a group of {} rows, and --capacity is {}: a group fits into its capacity",
                            size, texts.capacity));
    break;
  }
}

}  // namespace gantry::tool
