// Recovery: what the log holds behind the last checkpoint is done again.
#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include "disk/disk_engine.h"
#include "layout/store/checkpoint.h"
#include "layout/store/store_record.h"
#include "ssd_baseline/store/local_store.h"

namespace farvec::ssd_baseline {

/// First survey() reads the log, before it is opened for appending: which pages it can make whole,
/// and where it ends. Then run() heals torn pages and applies the changes to pages that are older
/// than these. It writes through the store as everybody does, with images in the log before pages,
/// so that recovery may be killed too.
class StoreRedo {
 public:
  StoreRedo(const layout::StoreCheckpoint& checkpoint, std::filesystem::path folder)
      : checkpoint_(checkpoint), folder_(std::move(folder)), pages_(checkpoint.pages) {}

  /// Throws Error for a record that is none of a store's.
  void survey(RecordSource& log);
  /// Throws Error that names the page and the file when a page is damaged and the log cannot heal
  /// it, or a change does not fit its page.
  void run(LocalPageStore& store, const std::filesystem::path& log_folder);
  const StoreRecovery& found() const { return found_; }

 private:
  /// The last record that holds a whole page.
  struct WholePage {
    wal::Position begin = 0;
    bool image = false;
  };

  void decode(const wal::LogRecord& record);
  void remember(const wal::LogRecord& record);
  void make_room(LocalPageStore& store);
  void heal_pages(LocalPageStore& store, const std::filesystem::path& log_folder);
  bool is_torn(PageNumber page);
  void heal(Frame& frame, PageNumber page, const std::filesystem::path& log_folder);
  void redo_record(const wal::LogRecord& record);
  void redo_part(const layout::StorePart& part, wal::Position end);
  Frame& fetch(PageNumber page);
  Frame& claim(PageNumber page);
  Status read(Frame& frame, PageNumber page);
  [[noreturn]] void fail(PageNumber page, Status status) const;

  const layout::StoreCheckpoint checkpoint_;
  const std::filesystem::path folder_;
  PageNumber pages_;       ///< of the checkpoint and the log
  wal::Position end_ = 0;  ///< of the log that is redone
  std::map<PageNumber, WholePage> whole_;
  layout::StoreRecord record_;
  StoreRecovery found_;
  LocalPageStore* store_ = nullptr;
  std::unique_ptr<disk::DiskEngine> engine_;
  std::vector<bool> changed_;  ///< pages
};

}  // namespace farvec::ssd_baseline
