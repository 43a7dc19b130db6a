// Decides which options of a search have a meaning for an index and the tiers that it is searched
// on.
#pragma once

#include <span>
#include <string>

#include "base/command_line.h"
#include "layout/index/manifest.h"
#include "tiers/tier_spec.h"

namespace farvec::cli {

/// Says what is to be searched in this process. Nothing of it needs to be loaded.
struct SearchTarget {
  const layout::Manifest& manifest;
  std::string index;  ///< its directory, for messages
  std::span<const tiers::TierSpecPointer> tiers;
};

/// Throws an Error that names the first option that was given and would be ignored: an option of
/// the other kind of index, or of tiers that are none of these. Options that the command does not
/// have are passed over, so `search` and `sweep` share the rules.
void refuse_unused_options(const Command& command, const SearchTarget& target);

/// Refuses, in the same way, options of an index in this process, for searches that a compute node
/// does.
void refuse_local_options(const Command& command);

}  // namespace farvec::cli
