// What a run has found: each rule once for each pair of places.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gantry/arch/simulator.hpp>

#include "sites.hpp"

namespace gantry::sim {

class Findings {
 public:
  Findings(const Sites& sites, int most) : sites_(sites), most_(static_cast<std::size_t>(most)) {}

  // A text that opens with a thread or an article gets its capital letter. `other` is the place of the earlier access
  // of two, 0 where there is one place only.
  void add(const char* rule, SiteId site, SiteId other, const std::string& text);

  // The same, for what is not wrong on any machine and still not promised. Notes do not make a report unclean.
  void note(const char* rule, SiteId site, SiteId other, const std::string& text);

  bool knows(const char* rule, SiteId site, SiteId other) const { return known_.contains({rule, site, other}); }

  std::vector<Finding> take() { return std::move(all_); }
  std::vector<Finding> take_notes() { return std::move(notes_); }

 private:
  void add_to(std::vector<Finding>& list, const char* rule, SiteId site, SiteId other, const std::string& text);

  const Sites& sites_;
  std::size_t most_;
  std::vector<Finding> all_, notes_;
  std::set<std::tuple<std::string, SiteId, SiteId>> known_;
};

// Adds a finding to the running grid's, with its place at the end of the sentence.
void complain(const char* rule, SiteId site, const std::string& sentence);

// The same with the running thread, for a sentence that tells what was done and not by whom.
void accuse(const char* rule, SiteId site, const std::string& sentence);

}  // namespace gantry::sim
