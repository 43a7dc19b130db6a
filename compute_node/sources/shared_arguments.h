// SharedArguments are the values of flags that several kinds of sources have.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/command_line.h"
#include "compute_node/collection/change_options.h"
#include "search/core/disk_options.h"
#include "tiers/tier_spec.h"

namespace farvec::compute_node {

struct SharedArguments {
  std::string tier;  ///< see tiers::parse_tier(); empty: the source's own
  std::uint64_t cache_bytes = 0;
  search::DiskArguments disk;
  std::chrono::milliseconds node_timeout{250};
  bool partial = false;
  std::string durability = "commit";
  ChangeOptions changes;
};

/// Adds the flags that set `shared`.
void add_shared_flags(Command& app, SharedArguments& shared);

/// A SharedUse says which of these flags a source takes. Each member is for one flag or for several
/// that go together: kTaken, or else where they mean something. A source takes what it names alone.
struct SharedUse {
  static constexpr const char* kTaken = "";
  std::string tier = "sources that are read on a tier";  ///< --tier
  std::string cache = "--index and --memory-node";       ///< --cache-bytes
  /// --memory-budget
  std::string budget = "--index with --tier ssd, and --collection of slotted pages";
  std::string pages = budget;                               ///< search::kPageOptions
  std::string nodes = "--memory-node and --segment-nodes";  ///< --node-timeout-ms, --partial
  std::string changes =
      "--paged, and --collection without --follow";  ///< --durability, --change-...
};

/// Throws Error naming the first of these flags that was given and is not taken.
void refuse_unused_shared(const Command& app, const SharedUse& use);

/// Throws Error for a word or a bound of changes that no source can have.
void check_changes(const SharedArguments& shared);

/// Says where --cache-bytes is taken on this tier.
std::string cache_use(const tiers::TierSpec& tier);

}  // namespace farvec::compute_node
