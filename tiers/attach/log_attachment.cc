#include "tiers/attach/log_attachment.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/unreachable_error.h"
#include "tiers/attach/live_endpoint.h"
#include "tiers/attach/live_writer.h"
#include "tiers/attach/node_lease.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/mapped/mapped_writer.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

/// Returns AttachLog in the form of the call that take_lease() makes. It writes the epoch to
/// `epoch`.
LeaseCall log_call(const LogWriting* writing, const std::string& writer_lease,
                   std::uint64_t& epoch) {
  LeaseCall call;
  if (writing != nullptr) call.taken_wait = writing->writer_wait;
  call.attach = [writing, &writer_lease, &epoch](
                    v1::MemoryNode::Stub& stub, grpc::ClientContext& context,
                    const v1::AttachRequest& client, v1::AttachResponse& attached) {
    v1::AttachLogRequest request;
    *request.mutable_client() = client;
    request.set_access(writing != nullptr ? v1::LOG_WRITE : v1::LOG_READ);
    if (writing != nullptr) request.set_epoch_above(writing->epoch_above);
    request.set_writer_lease(writer_lease);
    v1::AttachLogResponse response;
    grpc::Status status = stub.AttachLog(&context, request, &response);
    attached.Swap(response.mutable_attached());
    epoch = response.epoch();
    return status;
  };
  return call;
}

const v1::Region& log_region(const v1::AttachResponse& response, const AttachOptions& options) {
  if (response.regions_size() == 1 && response.regions(0).bytes() > 0) return response.regions(0);
  throw Error("the memory node at {} granted {} regions where a log is one that is not empty",
              rpc::to_string(options.memory_node), response.regions_size());
}

Descriptor duplicate(const Descriptor& descriptor) {
  Descriptor made(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  if (!made.valid()) throw SystemError(errno, "duplicating descriptor {}", descriptor.get());
  return made;
}

transport::RegionSet one_region(transport::MappedRegion region) {
  transport::RegionSet regions;
  regions.push_back(std::move(region));
  return regions;
}

}  // namespace

std::unique_ptr<LogAttachment> LogAttachment::for_reading(const AttachOptions& options) {
  return attach(options, nullptr);
}

std::unique_ptr<LogAttachment> LogAttachment::for_writing(const AttachOptions& options,
                                                          const LogWriting& writing) {
  return attach(options, &writing);
}

std::unique_ptr<LogAttachment> LogAttachment::beside(const LogAttachment& writer,
                                                     const AttachOptions& options) {
  return attach(options, nullptr, writer.lease_);
}

std::unique_ptr<LogAttachment> LogAttachment::attach(const AttachOptions& options,
                                                     const LogWriting* writing,
                                                     const std::string& writer_lease) {
  std::unique_ptr<LogAttachment> made(new LogAttachment);
  NodeLease held = take_lease(options, log_call(writing, writer_lease, made->epoch_));
  made->lease_ = held.lease.id;
  const bool mapped = options.reads.kind == ReadPathKind::mapped;
  if (mapped) made->node_ = duplicate(held.lease.grant_socket);
  made->liveness_ = std::make_shared<Liveness>();
  // This comes first, so that whatever fails from here on gives the lease back.
  made->keeper_ = std::make_unique<LeaseKeeper>(std::move(held.lease), made->liveness_);
  const v1::Region& log = log_region(held.response, options);
  made->bytes_ = log.bytes();
  made->generation_ = held.response.generation();
  if (writing != nullptr && made->epoch_ <= writing->epoch_above) {
    throw Error("the memory node at {} gave epoch {} where one above {} was asked for",
                rpc::to_string(options.memory_node), made->epoch_, writing->epoch_above);
  }
  if (mapped) {
    made->open_mapped(std::move(held.regions.front()), log.offset(), writing != nullptr);
    return made;
  }
  const RemoteReads remote{options.reads,
                           lease_bytes(held.response, options),
                           rpc::to_string(options.memory_node),
                           options.connect_timeout,
                           options.tuning,
                           options.cores};
  if (writing != nullptr) {
    made->open_writer_ = remote_writers(held.response, remote);
  } else {
    made->open_endpoint_ = remote_endpoints(held.response, remote);
  }
  return made;
}

void LogAttachment::open_mapped(Descriptor log, std::uint64_t offset, bool writes) {
  using transport::Access;
  using transport::MappedRegion;
  if (!writes) {
    auto region = MappedRegion::map_fd(log.get(), bytes_, Access::read_only, offset);
    auto regions = std::make_shared<const transport::RegionSet>(one_region(std::move(region)));
    open_endpoint_ = [regions = std::move(regions)] {
      return std::make_unique<transport::MappedEndpoint>(regions);
    };
    return;
  }
  auto shared = std::make_shared<const Descriptor>(std::move(log));
  open_writer_ = [this, shared = std::move(shared), offset] {
    auto region = MappedRegion::map_fd(shared->get(), bytes_, Access::read_write, offset);
    return std::make_unique<transport::MappedWriter>(one_region(std::move(region)),
                                                     duplicate(node_));
  };
}

LogAttachment::~LogAttachment() = default;

bool LogAttachment::alive() const {
  return liveness_->alive.load(std::memory_order_relaxed);
}

bool LogAttachment::draining() const {
  return liveness_->draining.load(std::memory_order_relaxed);
}

std::unique_ptr<transport::Endpoint> LogAttachment::make_endpoint() const {
  FARVEC_CHECK(open_endpoint_ != nullptr, "the log was attached for writing");
  return std::make_unique<LiveEndpoint>(open_endpoint_(), liveness_);
}

std::unique_ptr<transport::RegionWriter> LogAttachment::make_writer() const {
  FARVEC_CHECK(open_writer_ != nullptr, "the log was attached for reading");
  return std::make_unique<LiveWriter>(open_writer_(), liveness_);
}

}  // namespace farvec::tiers
