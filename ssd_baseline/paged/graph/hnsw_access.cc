#include "ssd_baseline/paged/graph/hnsw_access.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/quantity.h"
#include "ssd_baseline/paged/store/checkpoint_file.h"
#include "ssd_baseline/paged/store/local_store.h"
#include "wal/durability_option.h"

namespace farvec::paged {

namespace {

/// Room for changes beyond this is not taken unasked.
constexpr std::uint64_t kMostUsualBytes = 1ull << 30;

}  // namespace

BufferNeeds BufferNeeds::for_changes(std::size_t change_pages, std::uint32_t page_bytes,
                                     std::uint64_t at_once) {
  BufferNeeds needs{.page_bytes = page_bytes};
  if (at_once == 0) return needs;
  needs.change_pages = change_pages;
  needs.least = least_frames_for_changes(change_pages);
  needs.share = frames_for_changes(change_pages, 2);
  const std::uint64_t most = kMostUsualBytes / page_bytes / change_pages;
  needs.usual = std::max(needs.share, frames_for_changes(change_pages, std::min(at_once, most)));
  return needs;
}

BufferNeeds BufferNeeds::for_changes(const HnswConfig& config, std::uint32_t page_bytes,
                                     std::uint64_t at_once) {
  layout::HnswShape shape{page_bytes, config.dimension, config.type, config.m};
  shape.max_level = hnsw_level_rule(config, page_bytes).max_level;
  return for_changes(most_change_pages(shape), page_bytes, at_once);
}

std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, const BufferNeeds& needs,
                           std::string_view option) {
  const auto bytes_of = [&](std::size_t pages) { return std::uint64_t{pages} * needs.page_bytes; };
  const std::string chosen(text.empty() ? kUsualBuffer : text);
  if (chosen.ends_with('%')) {
    const double share = parse_percent(chosen, option) / 100;
    const auto bytes = static_cast<std::uint64_t>(share * static_cast<double>(whole));
    return std::max(bytes, bytes_of(text.empty() ? needs.usual : needs.share));
  }
  const std::uint64_t bytes = parse_bytes(chosen, option);
  if (bytes >= bytes_of(needs.least)) return bytes;
  if (needs.change_pages == 0) {
    throw Error("{} {} has room for {} pages of {} bytes: use at least {} bytes ({} pages)", option,
                text, bytes / needs.page_bytes, needs.page_bytes, bytes_of(needs.least),
                needs.least);
  }
  throw Error(
      "{} {} has room for {} pages of {} bytes, and one insert may change {} at once: use at least "
      "{} bytes ({} pages)",
      option, text, bytes / needs.page_bytes, needs.page_bytes, needs.change_pages,
      bytes_of(needs.least), needs.least);
}

bool is_hnsw(const std::string& path) {
  return PageStore::is_store(path);
}

void require_hnsw(const std::string& path) {
  if (is_hnsw(path)) return;
  const bool other = std::filesystem::exists(std::filesystem::path(path) / "index.json");
  throw Error("'{}' is {}: this works on what `farvec build hnsw` makes", path,
              other ? "an index that does not change" : "no HNSW graph on pages");
}

std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const HnswOpening& opening) {
  require_hnsw(path);
  PageStoreOptions options;
  options.folder = path;
  const std::uint32_t page_bytes = load_checkpoint(path).page_bytes;
  const auto needs = BufferNeeds::for_changes(stored_change_pages(path, page_bytes), page_bytes,
                                              opening.changes_at_once);
  options.buffer_bytes =
      buffer_bytes(opening.buffer, PageStore::stored_bytes(path), needs, opening.buffer_option);
  wal::parse_durability(opening.durability, options.log);
  return PagedHnsw::open(options);
}

}  // namespace farvec::paged
