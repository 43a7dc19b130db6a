// A LogAttachment is a hold on a memory node's log, for writing it or for following its writer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/lease_keeper.h"
#include "transport/endpoint.h"
#include "transport/region_writer.h"

namespace farvec::tiers {

/// A LogWriting is what a writer asks for besides the node.
struct LogWriting {
  /// The epoch is to be greater than this one too, at most 2^62. For a log on several nodes, it is
  /// the newest that any of them tells.
  std::uint64_t epoch_above = 0;
  /// How long to wait for another writer's lease to end.
  std::chrono::milliseconds writer_wait{0};
};

/// Holds a lease, renews it on a thread of its own and gives it back when destroyed. The log is
/// region 0 of its endpoints and writers. These may outlive it, and answer `unavailable` then.
/// Members may be called from any thread.
class LogAttachment {
 public:
  /// The functions that attach wait for a node that is absent or starting, within options.wait.
  /// They throw UnreachableError that says which node they waited for or why the node refused (it
  /// has no log; for writing: the caller may not, or there is a writer, and how long its lease
  /// runs), and Error when what the node grants cannot be used.
  static std::unique_ptr<LogAttachment> for_reading(const AttachOptions& options);
  /// Attaches, for the holder of `writer`, what `writer` writes. A node whose leases are all taken
  /// grants it too. Both leases end together.
  static std::unique_ptr<LogAttachment> beside(const LogAttachment& writer,
                                               const AttachOptions& options);
  static std::unique_ptr<LogAttachment> for_writing(const AttachOptions& options,
                                                    const LogWriting& writing = {});
  ~LogAttachment();
  LogAttachment(const LogAttachment&) = delete;
  LogAttachment& operator=(const LogAttachment&) = delete;

  /// False once the node has died or the lease was lost; never true again.
  bool alive() const;
  /// The node wants its leases back: it is shutting down.
  bool draining() const;

  std::uint64_t bytes() const { return bytes_; }
  /// Returns the generation of the node's memory for the log. Another generation is another log, of
  /// zeros.
  std::uint64_t generation() const { return generation_; }
  /// Returns, for writing, this writer's epoch, greater than all that the node gave before. It
  /// belongs into what is written, so that readers can tell. For reading it is the epoch of the
  /// newest writer when this attached, 0 when there had been none.
  std::uint64_t epoch() const { return epoch_; }

  /// Makes an endpoint for one thread. CHECKs that the log was attached for reading. Through a
  /// device it connects, and throws UnreachableError when it cannot.
  std::unique_ptr<transport::Endpoint> make_endpoint() const;
  /// Makes a writer for one thread, in the same way. There may be one at a time: over RDMA the node
  /// refuses another while one is connected.
  std::unique_ptr<transport::RegionWriter> make_writer() const;

 private:
  LogAttachment() = default;
  static std::unique_ptr<LogAttachment> attach(const AttachOptions& options,
                                               const LogWriting* writing,
                                               const std::string& writer_lease = {});
  void open_mapped(Descriptor log, std::uint64_t offset, bool writes);

  std::uint64_t bytes_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t epoch_ = 0;
  std::string lease_;            ///< the lease's id
  Descriptor node_;              ///< mapped: another descriptor of the grant's socket, for writers
  EndpointMaker open_endpoint_;  ///< for reading
  WriterMaker open_writer_;      ///< for writing
  std::shared_ptr<Liveness> liveness_;
  std::unique_ptr<LeaseKeeper> keeper_;
};

}  // namespace farvec::tiers
