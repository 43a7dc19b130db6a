#include "ssd_baseline/hnsw/hnsw_access.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/quantity.h"
#include "layout/region/directory_lock.h"
#include "ssd_baseline/store/checkpoint_file.h"
#include "ssd_baseline/store/local_store.h"
#include "wal/durability_option.h"

namespace farvec::ssd_baseline {

std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, std::uint32_t page_bytes,
                           std::string_view option) {
  if (!text.ends_with('%')) return parse_bytes(text, option);
  const double share = parse_percent(text, option) / 100;
  const auto bytes = static_cast<std::uint64_t>(share * static_cast<double>(whole));
  return std::max<std::uint64_t>(bytes, kMinFrames * page_bytes);
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

void check_hnsw_destination(const std::string& out, bool replace, std::string_view option) {
  const std::filesystem::path folder = out;
  if (!std::filesystem::exists(folder) || std::filesystem::is_empty(folder)) return;
  if (!is_hnsw(out)) {
    throw Error("'{}' is there and holds no HNSW graph: choose another folder", out);
  }
  if (!replace) {
    throw Error("'{}' holds a graph already: choose another folder, or give {}", out, option);
  }
  const layout::DirectoryLock nobody_else(folder);  // has it open
}

std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const HnswOpening& opening) {
  require_hnsw(path);
  PageStoreOptions options;
  options.folder = path;
  options.buffer_bytes = buffer_bytes(opening.buffer, PageStore::stored_bytes(path),
                                      load_checkpoint(path).page_bytes, opening.buffer_option);
  wal::parse_durability(opening.durability, options.log);
  return PagedHnsw::open(options);
}

}  // namespace farvec::ssd_baseline
