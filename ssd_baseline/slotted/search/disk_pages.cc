#include "ssd_baseline/slotted/search/disk_pages.h"

namespace farvec::slotted {

DiskPages::DiskPages(disk::LoadQueue& queue, const PageFile& file, std::uint32_t tickets)
    : queue_(queue), file_(file), loads_(std::make_unique<disk::Load[]>(tickets)) {
  starting_.reserve(tickets);
  for (std::uint32_t ticket = 0; ticket < tickets; ++ticket) loads_[ticket].listener = this;
}

DiskPages::~DiskPages() {
  queue_.close();
}

Status DiskPages::start(std::span<const PageRequest> requests) {
  starting_.clear();
  for (const PageRequest& request : requests) {
    disk::Load& load = loads_[request.ticket];
    load.read = {.token = 0,
                 .offset = file_.offset + std::uint64_t{request.page} * file_.page_bytes,
                 .memory = request.destination,
                 .deadline = request.deadline,
                 .bytes = file_.page_bytes,
                 .file = 0};
    starting_.push_back(&load);
  }
  return queue_.start(starting_);
}

void DiskPages::load_ended(disk::Load& load) {
  Status status = load.status();
  if (status.ok() && load.bytes() < file_.page_bytes) {
    status = {StatusCode::data_loss, "the file ends within a page"};
  }
  sink_->page_ended(ticket_of(load), status, load.destination_out());
}

void DiskPages::load_returned(disk::Load& load) {
  sink_->page_returned(ticket_of(load));
}

}  // namespace farvec::slotted
