#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_names.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/store/checkpoint_file.h"
#include "ssd_baseline/paged/store/local_store.h"
#include "ssd_baseline/paged/store/store_redo.h"
#include "wal/log_segment_list.h"

namespace farvec::paged {
namespace {

/// Checks the options for a store with pages of this size.
void check_store(const PageStoreOptions& options, std::uint32_t page_bytes) {
  if (!layout::is_store_page_bytes(page_bytes)) {
    throw Error("pages of {} bytes: use 4096, 8192, 16384 or 32768", page_bytes);
  }
  if (options.buffer_bytes / page_bytes < kMinFrames) {
    throw Error("a buffer of {} bytes has {} frames: use at least {} bytes ({} pages of {} bytes)",
                options.buffer_bytes, options.buffer_bytes / page_bytes, kMinFrames * page_bytes,
                kMinFrames, page_bytes);
  }
  if (!(options.dirty_share > 0 && options.dirty_share < 1)) {
    throw Error("dirty_share {}: use more than 0 and less than 1", options.dirty_share);
  }
}

wal::LogOptions log_options(const PageStoreOptions& options) {
  wal::LogOptions log = options.log;
  log.folder = options.folder / "log";
  return log;
}

/// Makes the file again when a creation that was killed has left one; a file with pages is not
/// touched.
void make_page_file(const std::filesystem::path& folder) {
  const auto path = folder / "pages";
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0) {
    throw Error(
        "'{}' has pages but there is no checkpoint: restore the folder from a backup, or "
        "remove it",
        path.string());
  }
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file.valid()) throw SystemError(errno, "creating '{}'", path.string());
  wal::remove_log_segments(folder / "log");
}

}  // namespace

void PageStore::check_options(const PageStoreOptions& options) {
  check_store(options, options.page_bytes);
}

bool PageStore::is_store(const std::filesystem::path& folder) {
  return std::filesystem::exists(checkpoint_path(folder));
}

std::uint64_t PageStore::stored_bytes(const std::filesystem::path& folder) {
  std::error_code missing;
  const std::uintmax_t bytes = std::filesystem::file_size(folder / "pages", missing);
  return missing ? 0 : bytes;
}

std::unique_ptr<PageStore> create_store(const PageStoreOptions& options,
                                        std::shared_ptr<StoreParts> parts) {
  PageStore::check_options(options);
  std::filesystem::create_directories(options.folder);
  auto lock = std::make_unique<layout::DirectoryLock>(options.folder);
  if (PageStore::is_store(options.folder)) {
    throw Error("'{}' holds a store already: open it, or choose another folder",
                options.folder.string());
  }
  make_page_file(options.folder);
  auto log = parts->create_log(log_options(options));
  const layout::StoreCheckpoint checkpoint{.page_bytes = options.page_bytes, .redo = log->end()};
  save_checkpoint(options.folder, checkpoint);
  sync_directory(options.folder);
  auto store = std::make_unique<LocalPageStore>(
      options, StoreOpening{std::move(lock), std::move(parts), checkpoint}, std::move(log));
  store->writer().checkpoint_every(options.checkpoint_log_bytes);
  return store;
}

std::unique_ptr<PageStore> open_store(const PageStoreOptions& options,
                                      const std::shared_ptr<StoreParts>& parts) {
  const auto began = std::chrono::steady_clock::now();
  if (!PageStore::is_store(options.folder)) {
    throw Error("'{}' holds no store: it has no checkpoint file", options.folder.string());
  }
  auto lock = std::make_unique<layout::DirectoryLock>(options.folder);
  const layout::StoreCheckpoint checkpoint = load_checkpoint(options.folder);
  check_store(options, checkpoint.page_bytes);
  const wal::LogOptions log = log_options(options);
  StoreRedo redo(checkpoint, options.folder);
  redo.survey(*parts->read_log(log.folder, checkpoint.redo));
  auto store = std::make_unique<LocalPageStore>(
      options, StoreOpening{std::move(lock), parts, checkpoint}, parts->open_log(log));
  try {
    redo.run(*store, log.folder);
  } catch (...) {
    // It prevents a checkpoint of pages that are half done.
    store->state().failure.set({StatusCode::data_loss, "recovery has failed"});
    throw;
  }
  store->writer().checkpoint_every(options.checkpoint_log_bytes);
  StoreRecovery recovery = redo.found();
  recovery.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  store->set_recovery(recovery);
  return store;
}

}  // namespace farvec::paged
