#include "ssd_baseline/paged/graph/hnsw_access.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/quantity.h"
#include "ssd_baseline/paged/store/checkpoint_file.h"
#include "ssd_baseline/paged/store/local_store.h"
#include "wal/durability_option.h"

namespace farvec::paged {

LeastBuffer LeastBuffer::for_changes(const HnswConfig& config, std::uint32_t page_bytes) {
  layout::HnswShape shape{page_bytes, config.dimension, config.type, config.m};
  shape.max_level = layout::highest_hnsw_level(shape).value_or(0);
  const std::size_t change = most_change_pages(shape, config.ef_construction);
  return {page_bytes, frames_for_changes(change)};
}

std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, const LeastBuffer& least,
                           std::string_view option) {
  if (!text.ends_with('%')) return parse_bytes(text, option);
  const double share = parse_percent(text, option) / 100;
  const auto bytes = static_cast<std::uint64_t>(share * static_cast<double>(whole));
  return std::max(bytes, least.bytes());
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
  LeastBuffer least{.page_bytes = load_checkpoint(path).page_bytes};
  if (opening.changes)
    least.pages = frames_for_changes(stored_change_pages(path, least.page_bytes));
  options.buffer_bytes =
      buffer_bytes(opening.buffer, PageStore::stored_bytes(path), least, opening.buffer_option);
  wal::parse_durability(opening.durability, options.log);
  return PagedHnsw::open(options);
}

}  // namespace farvec::paged
