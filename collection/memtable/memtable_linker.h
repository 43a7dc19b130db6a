// A MemtableLinker links the rows of memtables when they come, for processes that search them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collection/memtable/memtable.h"
#include "collection/memtable/rest.h"

namespace farvec::collection {

/// It is a thread from construction until destruction, with a lower priority than searches.
class MemtableLinker {
 public:
  /// Returns the present memtables. It is called on that thread, without locks.
  using Source = std::function<std::vector<std::shared_ptr<Memtable>>()>;

  /// It links nothing while `rest` lasts, which must outlive it.
  explicit MemtableLinker(Source source, const Rest& rest = kNoRest);
  ~MemtableLinker();
  MemtableLinker(const MemtableLinker&) = delete;
  MemtableLinker& operator=(const MemtableLinker&) = delete;

  /// Says that there are rows to link; any thread may call it. Without it the thread looks from
  /// time to time.
  void wake();

 private:
  void run();
  bool may_link() const;
  bool link_all(LinkScratch& scratch);
  bool try_link_all(LinkScratch& scratch);

  const Source source_;
  const Rest& rest_;
  std::atomic<bool> stop_{false};  ///< relaxed: it saves work and orders nothing
  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;
  std::thread thread_;
};

}  // namespace farvec::collection
