// DiskPages read the pages of an index file for one core's pool: they start the pool's reads as
// loads of the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "disk/load_queue.h"
#include "ssd_baseline/slotted/pool/page_loader.h"

namespace farvec::slotted {

/// The place of the pages: page p is at offset + p * page_bytes of file 0.
struct PageFile {
  std::uint64_t offset = 0;
  std::uint32_t page_bytes = 4096;
};

/// The queue must outlive it, and is closed by its destructor.
class DiskPages final : public PageLoader, private disk::LoadListener {
 public:
  /// `tickets` is how many reads may be under way.
  DiskPages(disk::LoadQueue& queue, const PageFile& file, std::uint32_t tickets);
  ~DiskPages() override;

  /// The sink must be set before the first start() and outlive this.
  void set_sink(PageSink& sink) { sink_ = &sink; }

  Status start(std::span<const PageRequest> requests) override;
  void poll() override { (void)queue_.poll(); }

 private:
  void load_ended(disk::Load& load) override;
  void load_returned(disk::Load& load) override;
  std::uint32_t ticket_of(const disk::Load& load) const {
    return static_cast<std::uint32_t>(&load - loads_.get());
  }

  disk::LoadQueue& queue_;
  const PageFile file_;
  PageSink* sink_ = nullptr;
  std::unique_ptr<disk::Load[]> loads_;  ///< one for each ticket
  std::vector<disk::Load*> starting_;    ///< scratch of start()
};

}  // namespace farvec::slotted
