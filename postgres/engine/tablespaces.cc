#include "postgres/engine/tablespaces.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_names.h"
#include "base/status_error.h"
#include "postgres/engine/index_folder.h"
#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace farvec::postgres {
namespace {

namespace fs = std::filesystem;

/// The server has these two in its data directory.
constexpr std::uint32_t kDefaultTablespace = 1663;
constexpr std::uint32_t kGlobalTablespace = 1664;

/// Returns what is in a folder. One that is not there, or cannot be read, has nothing: it keeps
/// indexes elsewhere from nothing.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  fs::directory_iterator entry(folder, ignored);
  for (; entry != fs::directory_iterator(); entry.increment(ignored)) {
    found.push_back(entry->path());
  }
  return found;
}

/// Says whether there is something of this name, a link to nowhere too, or that cannot be said.
bool has_name(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

}  // namespace

Tablespaces::Tablespaces(TablespaceOptions options) : options_(std::move(options)) {
  const NewFolders folders(options_.own);
  entered_[options_.own].lock = std::make_unique<layout::DirectoryLock>(options_.own);
  tidy(options_.own);
}

bool Tablespaces::is_own(std::uint32_t tablespace) const {
  return options_.links.empty() || tablespace == kDefaultTablespace ||
         tablespace == kGlobalTablespace;
}

fs::path Tablespaces::around(std::uint32_t tablespace) const {
  if (is_own(tablespace)) return options_.own;
  return options_.links / std::to_string(tablespace) / options_.within;
}

fs::path Tablespaces::folder_of(const IndexName& name) const {
  return around(name.tablespace) / to_string(name);
}

void Tablespaces::enter(const IndexName& name) {
  if (is_own(name.tablespace)) return;
  const fs::path folder = around(name.tablespace);
  const std::lock_guard lock(mutex_);
  Entered& entered = entered_[folder];
  if (entered.lock != nullptr && fs::exists(folder)) return;
  entered.lock.reset();
  if (!fs::is_directory(parent_of(folder))) {
    throw StatusError(StatusCode::failed_precondition, "the server has no tablespace {}",
                      name.tablespace);
  }
  const NewFolders folders(folder);
  try {
    entered.lock = std::make_unique<layout::DirectoryLock>(folder);
  } catch (const SystemError&) {
    throw;
  } catch (const Error& error) {
    throw StatusError(StatusCode::unavailable, "another engine has this folder: {}", error.what());
  }
  entered.settled = settled_path(folder);
  tidy(folder);
}

void Tablespaces::leave(const IndexName& name) {
  if (is_own(name.tablespace)) return;
  const fs::path folder = around(name.tablespace);
  const std::lock_guard lock(mutex_);
  const bool is_left = rmdir(folder.c_str()) == 0 || errno == ENOENT;
  // What is in a tablespace that the server has no more, forget_gone() removes.
  if (is_left && has_name(parent_of(folder))) entered_.erase(folder);
}

bool Tablespaces::is_gone(const IndexName& name) const {
  return !is_own(name.tablespace) && !has_name(parent_of(around(name.tablespace)));
}

void Tablespaces::forget_gone() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entered_, [this](const auto& one) {
    const auto& [folder, entered] = one;
    if (folder == options_.own || has_name(parent_of(folder))) return false;
    // Another tablespace may have come to this place since.
    std::error_code ignored;
    const bool is_there = entered.lock != nullptr && entered.lock->is_of(entered.settled);
    if (is_there) fs::remove_all(entered.settled, ignored);
    return true;
  });
}

/// Removes what kills have left, and indexes whose names do not belong there: an earlier version
/// had all indexes in its own folder, and another server may have had a tablespace in this place.
void Tablespaces::tidy(const fs::path& around) const {
  remove_leftovers(around);
  for (const fs::path& path : entries_of(around)) {
    const std::optional<IndexName> name = parse_index_name(path.filename().string());
    if (!name || folder_of(*name) == path) continue;
    spdlog::info("'{}' is removed: its index lies in another tablespace", path.string());
    remove_folder(path);
  }
}

void Tablespaces::add_indexes(const fs::path& around, std::vector<IndexFolder>& found) const {
  for (const fs::path& path : entries_of(around)) {
    const std::optional<IndexName> name = parse_index_name(path.filename().string());
    if (name && folder_of(*name) == path) found.push_back({*name, path});
  }
}

std::vector<IndexFolder> Tablespaces::indexes() const {
  std::vector<IndexFolder> found;
  add_indexes(options_.own, found);
  if (!options_.links.empty()) {
    for (const fs::path& path : entries_of(options_.links)) {
      add_indexes(path / options_.within, found);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const IndexFolder& one, const IndexFolder& other) { return one.name < other.name; });
  return found;
}

}  // namespace farvec::postgres
