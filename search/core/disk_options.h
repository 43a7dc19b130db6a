// Declares the command-line options for searching an index on a disk of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "layout/index/manifest.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

/// DiskArguments are the options as given; each is a list where a command takes lists.
struct DiskArguments {
  std::string memory_budget;
  std::string search = "cache-aware";
  std::string pool = "record";
  std::string prefetch = "on";
  std::string page_search = "on";
  std::string rerank = "auto";
};

/// The options that mean something only for slotted pages.
inline constexpr const char* kPageOptions[] = {"--search", "--pool", "--prefetch", "--page-search",
                                               "--rerank"};

/// `lists`: every option takes several values, separated by commas.
void add_disk_options(Command& command, DiskArguments& arguments, bool lists);

/// A DiskChoice is one way to search.
struct DiskChoice {
  slotted::SearchKind search = slotted::SearchKind::cache_aware;
  slotted::PoolKind pool = slotted::PoolKind::record;
  bool prefetch = true;
  bool page_search = true;
  /// The number of results that are ranked again by their vectors; without a value resolve_rerank()
  /// decides for each search.
  std::optional<std::uint32_t> rerank;
  std::optional<std::size_t> memory_budget;

  bool operator==(const DiskChoice&) const = default;
};

/// Returns the bytes of all regions, headers included. Percentages of the index are taken of them.
std::uint64_t index_bytes(const layout::Manifest& manifest);

/// Parses "50MB", or "20%" of all bytes of the index. Throws Error.
std::size_t parse_budget(const std::string& text, const layout::Manifest& manifest);

/// Returns how slotted pages are searched; the budget is left out. The arguments have one value
/// each. Throws Error.
DiskChoice parse_page_choice(const DiskArguments& arguments);

/// The arguments have one value each. For an index that is not in slotted pages, only the budget
/// may be given. Throws Error.
DiskChoice parse_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest);

/// Returns the choice with a number of results to rank again: twice the k, up to the length of the
/// list, where the records have codes and the vectors are stored beside them; else 0. It is 0 too
/// where a second copy ranks results again.
DiskChoice resolve_rerank(DiskChoice choice, const layout::Manifest& manifest, std::uint32_t k,
                          std::uint32_t list);

/// Returns "cache-aware, record pool, prefetch on, page search on, rerank auto".
std::string to_string(const DiskChoice& choice);

}  // namespace farvec::search
