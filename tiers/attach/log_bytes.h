// LogBytes reads and writes the bytes of a memory node's log; each call waits for its own end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tiers/attach/log_attachment.h"
#include "transport/endpoint.h"
#include "transport/region_writer.h"

namespace farvec::tiers {

/// LogBytes are used by one thread at a time. Every call throws UnreachableError naming the node
/// when it does not answer in time; after that no call succeeds any more.
class LogBytes {
 public:
  /// Connects. `writes` is null for reading only. Throws what LogAttachment::make_endpoint()
  /// throws.
  LogBytes(std::string name, std::shared_ptr<LogAttachment> reads,
           std::shared_ptr<LogAttachment> writes);
  ~LogBytes();
  LogBytes(const LogBytes&) = delete;
  LogBytes& operator=(const LogBytes&) = delete;

  std::uint64_t bytes() const { return reads_->bytes(); }
  void read(std::uint64_t offset, std::span<std::byte> to);
  /// Writes are made in the order of the calls. CHECKs that the log was attached for writing.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Returns when all that was written is in the node's memory.
  void flush();

 private:
  void require(const Status& status, const char* what) const;
  void read_part(std::uint64_t offset, std::span<std::byte> to);

  const std::string name_;
  const std::shared_ptr<LogAttachment> writes_;  ///< ends after the attachment that reads beside it
  const std::shared_ptr<LogAttachment> reads_;
  std::vector<std::byte> room_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  std::unique_ptr<transport::RegionWriter> writer_;
};

}  // namespace farvec::tiers
