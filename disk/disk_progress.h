// A DiskProgress follows one request from its first submission to its end, over as many results as
// that takes.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/status.h"

namespace farvec::disk {

/// Decides what a result of the kernel means for a request.
class DiskProgress {
 public:
  DiskProgress() = default;
  /// `asked` bytes in whole blocks, of which `wanted` are inside the file.
  DiskProgress(std::uint32_t asked, std::uint32_t wanted) : asked_(asked), wanted_(wanted) {}

  /// Takes bytes or -errno. True when the rest, from done() on, has to be submitted again: at most
  /// once per block, and kMaxRetries times without progress.
  bool take(std::int32_t result, std::uint32_t block_bytes) {
    if (result < 0) return take_error(-result);
    done_ += static_cast<std::uint32_t>(result);
    if (done_ >= wanted_) return false;
    // The end of a file gives no bytes or a part of a block.
    if (result == 0 || done_ % block_bytes != 0) {
      status_ = StatusCode::data_loss;
      return false;
    }
    retries_ = 0;
    return true;
  }

  std::uint32_t done() const { return done_; }
  std::uint32_t rest() const { return asked_ - done_; }
  /// Says how many of the wanted bytes are done.
  std::uint32_t arrived() const { return done_ < wanted_ ? done_ : wanted_; }
  StatusCode status() const { return status_; }
  /// Returns the errno of a request that failed, 0 of one that ended early.
  std::int32_t error() const { return error_; }

 private:
  static constexpr std::uint32_t kMaxRetries = 8;

  bool take_error(std::int32_t error) {
    const bool again = error == EAGAIN || error == EINTR;
    if (again && ++retries_ <= kMaxRetries) return true;
    error_ = error;
    status_ = status_of(error);
    return false;
  }

  static StatusCode status_of(std::int32_t error) {
    switch (error) {
      case ECANCELED:
        return StatusCode::cancelled;
      case EAGAIN:
      case EINTR:
      case ENOMEM:
      case ENOSPC:
      case EDQUOT:
        return StatusCode::resource_exhausted;
      case ENODEV:
      case ENXIO:
        return StatusCode::unavailable;
      case EINVAL:
        return StatusCode::invalid_argument;
      default:  // usually EIO
        return StatusCode::data_loss;
    }
  }

  std::uint32_t asked_ = 0;
  std::uint32_t wanted_ = 0;
  std::uint32_t done_ = 0;
  std::uint32_t retries_ = 0;  ///< since the last progress
  std::int32_t error_ = 0;
  StatusCode status_ = StatusCode::ok;
};

}  // namespace farvec::disk
