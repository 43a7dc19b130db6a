#include "cli/search/search_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/command_line.h"
#include "base/option_rules.h"
#include "rpc/tls_flags.h"
#include "search/core/disk_options.h"

namespace farvec::cli {
namespace {

using search::kPageOptions;
using tiers::TierTraits;

/// Returns true when one of the tiers has the trait.
bool any_of(const SearchTarget& target, bool tiers::TierTraits::*trait) {
  return std::any_of(target.tiers.begin(), target.tiers.end(),
                     [&](const auto& tier) { return tier->traits().*trait; });
}

std::string tier_names(const SearchTarget& target) {
  std::string names;
  for (const auto& tier : target.tiers) {
    if (!names.empty()) names += ',';
    names += tier->name();
  }
  return names;
}

/// Returns the options for calls to a compute node. An index that is searched in this process takes
/// none of them.
std::vector<OptionRule> node_rules() {
  return {{"--retries", false, "--connect, not --index"},
          {"--deadline-ms", false, "--connect, not --index"}};
}

std::vector<OptionRule> index_rules(const SearchTarget& target) {
  const bool graph = target.manifest.is_graph();
  const bool clusters = target.manifest.is_cluster();
  const bool slotted = target.manifest.is_slotted();
  const std::string is =
      fmt::format("; '{}' is {}{}", target.index, in_words(target.manifest.kind()),
                  fmt::format(" ({})", target.manifest.layout_name()));
  std::vector<OptionRule> rules;
  rules.push_back({"--width", graph, "graph indexes" + is});
  const bool second = target.manifest.second_copy.has_value();
  rules.push_back({"--list", graph || second || target.manifest.has_member_codes(),
                   "graph indexes, coded clusters and indexes with a second copy" + is});
  for (const char* option : {"--second-tier", "--refine", "--candidates"}) {
    rules.push_back({option, second, "indexes with a second copy (`build graph --store`)" + is});
  }
  for (const char* option :
       {"--probe", "--prune-ratio", "--dedup", "--merge-gap", "--probe-counts"}) {
    rules.push_back({option, clusters, "cluster indexes" + is});
  }
  for (const char* option : kPageOptions) {
    rules.push_back({option, slotted, "slotted pages (`build graph --layout slotted`)" + is});
  }
  rules.push_back(
      {"--line-ns", graph && !slotted, "graph indexes that are not in slotted pages" + is});
  rules.push_back({"--cache-bytes", !slotted,
                   "indexes that are not slotted, whose pool --memory-budget bounds" + is});
  return rules;
}

std::vector<OptionRule> tier_rules(const SearchTarget& target) {
  const std::string is = "; --tier is " + tier_names(target);
  const bool reading = std::any_of(target.tiers.begin(), target.tiers.end(),
                                   [](const auto& tier) { return !tier->traits().loads; });
  const std::string by_reads =
      "tiers that are read, not loaded from: verbs, fabric, ssd and "
      "emulated devices far away" +
      is;
  return {{"--memory-budget", any_of(target, &TierTraits::disk), "--tier ssd" + is},
          {"--cache-bytes", reading, by_reads},
          {"--merge-gap", reading, by_reads},
          {"--partial", any_of(target, &TierTraits::spans_nodes),
           "tiers of several memory nodes" + is}};
}

}  // namespace

void refuse_unused_options(const Command& command, const SearchTarget& target) {
  refuse_unused(command, node_rules());
  refuse_unused(command, index_rules(target));
  refuse_unused(command, tier_rules(target));
  const bool remote = std::any_of(target.tiers.begin(), target.tiers.end(),
                                  [](const auto& tier) { return tier->is_remote(); });
  if (remote) return;
  rpc::refuse_tls_flags(command, "memory nodes and compute nodes; --tier is " + tier_names(target));
}

void refuse_local_options(const Command& command) {
  std::vector<OptionRule> rules;
  for (const char* option :
       {"--tier", "--second-tier", "--slots", "--threads", "--memory-budget", "--probe-counts"}) {
    rules.push_back({option, false, "--index, not --connect"});
  }
  for (const char* option : kPageOptions) {
    rules.push_back({option, false, "--index, not --connect"});
  }
  refuse_unused(command, rules);
}

}  // namespace farvec::cli
