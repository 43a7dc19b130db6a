#include "tiers/attach/attachment.h"

#include <utility>

#include "base/error.h"
#include "layout/region/region_header.h"
#include "tiers/attach/live_endpoint.h"
#include "tiers/attach/node_lease.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

/// A region must be what the manifest says, before anything is read by the manifest's offsets.
void check_region(const v1::Region& region, std::uint32_t id, std::uint64_t expected) {
  if (region.id() == id && region.bytes() == expected) return;
  throw Error("the memory node serves region {} with {} bytes where its manifest has {} with {}",
              region.id(), region.bytes(), id, expected);
}

/// A segment has a file of ids, and one of attributes; an index has a schema and such a file, or
/// none; a catalogue is a file.
constexpr std::size_t kMostFiles = 2;

/// Returns the bytes of the files after the regions of the index.
std::vector<std::uint64_t> check_files(const v1::AttachResponse& response, std::size_t regions) {
  std::vector<std::uint64_t> files;
  for (std::size_t id = regions; id < static_cast<std::size_t>(response.regions_size()); ++id) {
    const v1::Region& file = response.regions(static_cast<int>(id));
    if (file.id() != id || file.bytes() == 0) {
      throw Error("the memory node serves region {} with {} bytes where a file is due", file.id(),
                  file.bytes());
    }
    files.push_back(file.bytes());
  }
  return files;
}

/// Returns the bytes of the files after the regions.
std::vector<std::uint64_t> check_regions(const v1::AttachResponse& response,
                                         const layout::Manifest& manifest) {
  const std::uint32_t regions = manifest.held_regions();
  const auto served = static_cast<std::size_t>(response.regions_size());
  if (served < regions || served > regions + kMostFiles) {
    throw Error("the memory node serves {} regions and its manifest has {}{}", served, regions,
                served < regions && manifest.second_copy
                    ? ", with the second copy of its vectors: it may run an older farvec"
                    : "");
  }
  if (response.node() >= manifest.memory_nodes()) {
    throw Error("the memory node says that it is node {}, and its manifest places the index on {}",
                response.node(), manifest.memory_nodes());
  }
  for (std::uint32_t id = 0; id < regions; ++id) {
    check_region(response.regions(static_cast<int>(id)), id,
                 manifest.node_bytes(response.node(), id));
  }
  return check_files(response, regions);
}

/// Returns the manifest of the answer; a catalogue has no index, so it gives an empty one.
layout::Manifest manifest_of(const v1::AttachResponse& response, const AttachOptions& options) {
  if (options.segment && options.segment->number == layout::kCatalogueNumber) return {};
  return layout::manifest_from_json(response.manifest_json(), "the memory node's manifest");
}

std::shared_ptr<const transport::RegionSet> map_regions(const NodeLease& held,
                                                        const layout::Manifest& manifest) {
  auto regions = std::make_shared<transport::RegionSet>();
  for (std::uint32_t id = 0; id < held.regions.size(); ++id) {
    const v1::Region& region = held.response.regions(static_cast<int>(id));
    regions->push_back(transport::MappedRegion::map_fd(
        held.regions[id].get(), region.bytes(), transport::Access::read_only, region.offset()));
    if (id >= manifest.regions.size()) continue;  // the second copy, or a file
    layout::decode_region_header(regions->back().bytes(), fmt::format("attached region {}", id));
  }
  return regions;
}

LeaseCall index_call() {
  LeaseCall call;
  call.attach = [](v1::MemoryNode::Stub& stub, grpc::ClientContext& context,
                   const v1::AttachRequest& request, v1::AttachResponse& response) {
    return stub.Attach(&context, request, &response);
  };
  return call;
}

LeaseCall segment_call(const layout::SegmentKey& key) {
  LeaseCall call;
  call.attach = [key](v1::MemoryNode::Stub& stub, grpc::ClientContext& context,
                      const v1::AttachRequest& client, v1::AttachResponse& response) {
    v1::AttachSegmentRequest request;
    *request.mutable_client() = client;
    request.mutable_name()->set_collection(key.collection);
    request.mutable_name()->set_number(key.number);
    return stub.AttachSegment(&context, request, &response);
  };
  return call;
}

}  // namespace

std::unique_ptr<Attachment> Attachment::attach(const AttachOptions& options) {
  NodeLease held =
      take_lease(options, options.segment ? segment_call(*options.segment) : index_call());
  std::unique_ptr<Attachment> attachment(new Attachment);
  attachment->liveness_ = std::make_shared<Liveness>();
  // This comes first, so that whatever fails from here on gives the lease back.
  attachment->keeper_ = std::make_unique<LeaseKeeper>(std::move(held.lease), attachment->liveness_);
  attachment->manifest_ = manifest_of(held.response, options);
  attachment->node_ = held.response.node();
  attachment->generation_ = held.response.generation();
  attachment->file_bytes_ = check_regions(held.response, attachment->manifest_);
  if (options.reads.kind != ReadPathKind::mapped) {
    attachment->open_endpoint_ =
        remote_endpoints(held.response, {options.reads, lease_bytes(held.response, options),
                                         rpc::to_string(options.memory_node),
                                         options.connect_timeout, options.tuning, options.cores});
  } else {
    attachment->regions_ = map_regions(held, attachment->manifest_);
    attachment->open_endpoint_ = [regions = attachment->regions_] {
      return std::make_unique<transport::MappedEndpoint>(regions);
    };
  }
  return attachment;
}

Attachment::~Attachment() = default;

bool Attachment::alive() const {
  return liveness_->alive.load(std::memory_order_relaxed);
}

bool Attachment::draining() const {
  return liveness_->draining.load(std::memory_order_relaxed);
}

bool Attachment::superseded() const {
  const auto newest = liveness_->newest_generation.load(std::memory_order_relaxed);
  return newest != 0 && newest != generation_;
}

void Attachment::give_up() const {
  liveness_->alive.store(false, std::memory_order_relaxed);
}

std::unique_ptr<transport::Endpoint> Attachment::make_endpoint() const {
  return std::make_unique<LiveEndpoint>(open_endpoint_(), liveness_);
}

}  // namespace farvec::tiers
