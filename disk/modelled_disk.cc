#include "disk/modelled_disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace farvec::disk {
namespace {

/// Mixes all bits of a number (the finalizer of MurmurHash3, which is in the public domain).
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

}  // namespace

ModelledDisk::ModelledDisk(DiskModel model)
    : model_(std::move(model)), die_free_(model_.dies, 0.0) {
  FARVEC_CHECK(model_.dies > 0 && model_.page_bytes > 0 && model_.cores > 0);
}

double ModelledDisk::end_of(double now, const BlockRequest& request) {
  const Access own{request.operation, request.file, request.offset, request.bytes};
  const std::lock_guard lock(mutex_);
  const double end = serve(now, own);
  for (std::uint32_t core = 1; core < model_.cores; ++core) {
    Access other = own;
    other.offset = other_page() * model_.page_bytes + own.offset % model_.page_bytes;
    serve(now, other);
  }
  return end;
}

/// Another core reads somewhere: at a place that no request of this one says.
std::uint64_t ModelledDisk::other_page() {
  return mixed(++others_) >> 24;
}

double ModelledDisk::serve(double now, const Access& access) {
  const double begin = admit(now);
  double end = 0;
  if (access.operation == DiskOperation::sync) {
    end = std::max(begin, written_) + model_.sync_us;
  } else {
    end = read_or_write(begin, access);
  }
  if (access.operation == DiskOperation::write) written_ = std::max(written_, end);
  if (model_.depth > 0) inside_.push(end);
  return end;
}

/// Waits for room and for the controller.
double ModelledDisk::admit(double now) {
  double begin = now;
  if (model_.depth > 0 && inside_.size() == model_.depth) {
    begin = std::max(begin, inside_.top());
    inside_.pop();
  }
  if (model_.requests_per_us > 0) {
    begin = std::max(begin, controller_free_);
    controller_free_ = begin + 1 / model_.requests_per_us;
  }
  return begin;
}

double ModelledDisk::read_or_write(double begin, const Access& access) {
  const double takes = access.operation == DiskOperation::read ? model_.read_us : model_.write_us;
  const std::uint64_t first = access.offset / model_.page_bytes;
  const std::uint64_t last = (access.offset + access.bytes - 1) / model_.page_bytes;
  double end = begin;
  for (std::uint64_t page = first; page <= last; ++page) {
    double& free = die_free_[mixed(page + (std::uint64_t{access.file} << 48)) % model_.dies];
    free = std::max(free, begin) + takes;
    end = std::max(end, free);
  }
  if (model_.bytes_per_us == 0) return end;
  const double transfer = access.bytes / model_.bytes_per_us;
  link_free_ = std::max(link_free_, begin) + transfer;
  return std::max(end + transfer, link_free_);
}

}  // namespace farvec::disk
