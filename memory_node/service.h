// The Service is the control plane: it answers from what the node knows, and moves no index bytes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "memory_node/lease_table.h"
#include "memory_node/load_folders.h"
#include "memory_node/node_state.h"
#include "memory_node/publisher.h"
#include "rpc/memory_node.grpc.pb.h"

namespace farvec::memory_node {

struct ServiceOptions {
  BackingKind backing = BackingKind::dram;
  /// The names in the certificates of those who may publish, and write the log, over TLS. Callers
  /// of this machine without a certificate always may.
  std::vector<std::string> publishers;
  bool has_log = false;             ///< the node has a log, now or once its memory has been taken
  std::uint64_t segment_bytes = 0;  ///< see PublisherOptions
  /// What callers may have loaded is below them. Without `folders_named`, callers through a Unix
  /// socket, which belongs to its owner alone, may name any folder: they can read as much
  /// themselves.
  LoadFolders folders = {};
  bool folders_named = false;
};

class Service final : public v1::MemoryNode::Service {
 public:
  /// State and publisher are borrowed.
  Service(NodeState& state, Publisher& publisher, ServiceOptions options)
      : state_(state), publisher_(publisher), options_(std::move(options)) {}

  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeResponse* response) override;
  grpc::Status Attach(grpc::ServerContext* context, const v1::AttachRequest* request,
                      v1::AttachResponse* response) override;
  grpc::Status AttachLog(grpc::ServerContext* context, const v1::AttachLogRequest* request,
                         v1::AttachLogResponse* response) override;
  grpc::Status Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override;
  grpc::Status Detach(grpc::ServerContext* context, const v1::DetachRequest* request,
                      v1::DetachResponse* response) override;
  grpc::Status Stats(grpc::ServerContext*, const v1::StatsRequest*,
                     v1::StatsResponse* response) override;
  grpc::Status Load(grpc::ServerContext* context, const v1::LoadRequest* request,
                    v1::LoadResponse* response) override;
  grpc::Status LoadSegment(grpc::ServerContext* context, const v1::LoadSegmentRequest* request,
                           v1::LoadSegmentResponse* response) override;
  grpc::Status DropSegment(grpc::ServerContext* context, const v1::DropSegmentRequest* request,
                           v1::DropSegmentResponse* response) override;
  grpc::Status AttachSegment(grpc::ServerContext* context, const v1::AttachSegmentRequest* request,
                             v1::AttachResponse* response) override;
  grpc::Status ListSegments(grpc::ServerContext*, const v1::ListSegmentsRequest* request,
                            v1::ListSegmentsResponse* response) override;
  grpc::Status LoadCatalogue(grpc::ServerContext* context, const v1::LoadCatalogueRequest* request,
                             v1::LoadSegmentResponse* response) override;
  grpc::Status ListCollections(grpc::ServerContext*, const v1::ListCollectionsRequest*,
                               v1::ListCollectionsResponse* response) override;

 private:
  grpc::Status check_publisher(const grpc::ServerContext& context,
                               const std::string& act = "publish") const;
  /// Returns a bad status when no client like this caller can get such a lease now.
  grpc::Status check_log_request(const grpc::ServerContext& context,
                                 const v1::AttachLogRequest& request) const;
  /// Grants a lease on the publication, and tells its holder what it has to know.
  grpc::Status lease(const std::shared_ptr<const Publication>& publication,
                     const v1::AttachRequest& request, const grpc::ServerContext& context,
                     v1::AttachResponse& response);
  /// Returns a bad status when this caller may not load now. Replaces the paths by the places to
  /// which they lead, at which there may be nothing. A null `file` is not checked, nor is an empty
  /// `index` when there is a file.
  grpc::Status check_load(const grpc::ServerContext& context, std::string& index,
                          std::span<HeldFile> files) const;
  bool may_name_any(const grpc::ServerContext& context) const;
  grpc::Status check_index(const grpc::ServerContext& context, std::string& index) const;
  grpc::Status check_file(const grpc::ServerContext& context, HeldFile& file) const;
  grpc::Status in_no_folder(const grpc::ServerContext& context, const std::string& path) const;
  grpc::Status check_segments() const;
  grpc::Status load_part(const grpc::ServerContext& context, Publisher::Part part,
                         v1::LoadSegmentResponse& response);
  grpc::Status offer(ReadPath& path, const LeaseId& lease, const grpc::ServerContext& context,
                     v1::AttachResponse& response);

  NodeState& state_;
  Publisher& publisher_;
  const ServiceOptions options_;
};

}  // namespace farvec::memory_node
