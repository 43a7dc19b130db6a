#include "ssd_baseline/paged/build/hnsw_destination.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/file_names.h"
#include "base/log.h"
#include "layout/index/directory_lock.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {
namespace {

namespace fs = std::filesystem;

/// Returns whether a killed build may have left this folder. Builds of earlier versions of farvec
/// made stores in place.
bool is_remainder(const fs::path& folder) {
  const auto is_of_store = [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == "pages" || name == "log" || name.starts_with("checkpoint");
  };
  return fs::is_directory(folder) &&
         std::ranges::all_of(fs::directory_iterator(folder), is_of_store);
}

/// Removes the folder, unless another process works there.
void remove_unlocked(const fs::path& folder) noexcept {
  try {
    const layout::DirectoryLock lock(folder);
    fs::remove_all(folder);
  } catch (const std::exception& error) {
    spdlog::warn("'{}' is left behind: {}", folder.string(), error.what());
  }
}

/// Gives the new graph its name. The former graph has the name of the new one's folder until it is
/// removed.
void take_the_name(const fs::path& partial, const fs::path& target) {
  if (!fs::exists(target) || fs::is_empty(target)) return rename_path(partial, target);
  const layout::DirectoryLock nobody_else(target);  // throws when a process has it open
  if (exchange_paths(partial, target)) return;
  const fs::path former = target.string() + ".replaced";
  fs::remove_all(former);
  rename_path(target, former);
  rename_path(partial, target);
  rename_path(former, partial);
}

}  // namespace

void check_hnsw_destination(const std::string& out, bool replace, std::string_view option) {
  const fs::path folder = out;
  if (!fs::exists(fs::symlink_status(folder))) return;
  if (fs::is_directory(folder) && fs::is_empty(folder)) return;
  const bool is_graph = PageStore::is_store(folder);
  if (!is_graph && !is_remainder(folder)) {
    throw Error("'{}' is there and holds no HNSW graph: choose another folder", out);
  }
  if (!replace) {
    throw Error("'{}' holds {}: choose another folder, or give {}", out,
                is_graph ? "a graph already" : "what a build that failed has left", option);
  }
  const layout::DirectoryLock nobody_else(folder);  // throws when a process has it open
}

HnswDestination::HnswDestination(const std::string& out, bool replace, std::string_view option)
    : target_(settled_name(out)),
      partial_(target_.string() + ".partial"),
      replace_(replace),
      option_(option) {
  check_hnsw_destination(target_.string(), replace_, option_);
  folders_.emplace(partial_);
  const layout::DirectoryLock lock(partial_);
  if (!is_remainder(partial_)) {
    throw Error("'{}' is there, where the graph is made, and farvec has not made it: move it away",
                partial_.string());
  }
  for (const auto& entry : fs::directory_iterator(partial_)) fs::remove_all(entry.path());
}

HnswDestination::~HnswDestination() {
  if (published_) return;
  remove_unlocked(partial_);
  folders_->take_back();
}

void HnswDestination::publish() {
  const layout::DirectoryLock lock(partial_);
  if (!PageStore::is_store(partial_)) {
    throw Error("'{}' was removed by another build of '{}'", partial_.string(), target_.string());
  }
  check_hnsw_destination(target_.string(), replace_, option_);
  take_the_name(partial_, target_);
  published_ = true;
  sync_directory(parent_of(target_));
  fs::remove_all(partial_);
}

}  // namespace farvec::paged
