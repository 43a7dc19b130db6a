#include "search/core/disk_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/command_line.h"
#include "base/error.h"
#include "base/quantity.h"

namespace farvec::search {
namespace {

std::optional<std::uint32_t> parse_rerank(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const std::uint64_t number = parse_number(text, "--rerank");
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("--rerank: {} is out of range", number);
  }
  return static_cast<std::uint32_t>(number);
}

const char* on_or_off(bool value) {
  return value ? "on" : "off";
}

}  // namespace

void add_disk_options(Command& command, DiskArguments& arguments, bool lists) {
  const char* const list = lists ? ", separated by commas" : "";
  command.add_option("--memory-budget", arguments.memory_budget,
                     fmt::format("--tier ssd only: most bytes of memory for codes, pool, maps,\n"
                                 "buffers and searches together, like 64MB (1000s) or 64MiB\n"
                                 "(1024s), or a share of the index up to 100%, like 20%{}\n"
                                 "[all records fit]. An index that has no pool is refused when\n"
                                 "this is too small",
                                 list));
  command
      .add_option("--search", arguments.search,
                  fmt::format("Slotted pages: best-first, beam (DiskANN's, W records a hop) or\n"
                              "cache-aware (goes on with records in memory){}",
                              list))
      .show_default();
  command
      .add_option("--pool", arguments.pool,
                  fmt::format("Slotted pages only: what memory keeps: record (with affine ones),\n"
                              "single, page or none{}",
                              list))
      .show_default();
  command
      .add_option("--prefetch", arguments.prefetch,
                  fmt::format("Slotted pages only: on reads the W nearest candidates ahead (a\n"
                              "cache-aware search always does){}",
                              list))
      .show_default();
  command
      .add_option(
          "--page-search", arguments.page_search,
          fmt::format("Slotted pages only: on also expands other candidates that lie in a page\n"
                      "that was read{}",
                      list))
      .show_default();
  command
      .add_option(
          "--rerank", arguments.rerank,
          fmt::format(
              "Slotted pages built with --payload code --rerank on only: reads the vectors\n"
              "of the N results nearest by their codes (k to L) and answers with the k\n"
              "nearest by exact distance. Costs one read more for each of the N; recall\n"
              "is no longer bound by the codes. 0: none{}; auto: 2 k where the index\n"
              "has vectors",
              list))
      .show_default();
}

std::uint64_t index_bytes(const layout::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const layout::RegionEntry& region : manifest.regions) sum += region.file_bytes();
  return sum;
}

std::size_t parse_budget(const std::string& text, const layout::Manifest& manifest) {
  if (!text.ends_with('%')) return parse_bytes(text, "--memory-budget");
  const double percent = parse_percent(text, "--memory-budget");
  return static_cast<std::size_t>(static_cast<double>(index_bytes(manifest)) * percent / 100);
}

DiskChoice parse_page_choice(const DiskArguments& arguments) {
  DiskChoice choice;
  choice.search = slotted::parse_search_kind(arguments.search);
  choice.pool = slotted::parse_pool_kind(arguments.pool);
  choice.prefetch = parse_switch(arguments.prefetch, "--prefetch");
  choice.page_search = parse_switch(arguments.page_search, "--page-search");
  choice.rerank = parse_rerank(arguments.rerank);
  return choice;
}

DiskChoice parse_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest) {
  DiskChoice choice;
  if (manifest.is_slotted()) choice = parse_page_choice(arguments);
  if (!arguments.memory_budget.empty()) {
    choice.memory_budget = parse_budget(arguments.memory_budget, manifest);
  }
  return choice;
}

DiskChoice resolve_rerank(DiskChoice choice, const layout::Manifest& manifest, std::uint32_t k,
                          std::uint32_t list) {
  if (choice.rerank) return choice;
  const bool again = manifest.is_slotted() && manifest.slotted().rerank && !manifest.second_copy &&
                     manifest.slotted().payload == layout::PayloadKind::code;
  choice.rerank = again ? std::max(k, slotted::reranked(k, list)) : 0;
  return choice;
}

std::string to_string(const DiskChoice& choice) {
  return fmt::format("{}, {} pool, prefetch {}, page search {}, rerank {}",
                     slotted::to_string(choice.search), slotted::to_string(choice.pool),
                     on_or_off(choice.prefetch), on_or_off(choice.page_search),
                     choice.rerank ? fmt::to_string(*choice.rerank) : "auto");
}

}  // namespace farvec::search
