#include "memory_node/read_path.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "memory_node/publication.h"
#include "transport/fabric/fabric_listener.h"
#include "transport/verbs/verbs_listener.h"

namespace farvec::memory_node {
namespace {

constexpr std::size_t kSpareGrants = 16;
constexpr std::size_t kLeastConnectionsPerLease = 64;

transport::GrantedRegions bytes_of(const RegionTable& table) {
  transport::GrantedRegions regions;
  for (const Region& region : table.regions) regions.push_back(region.backing->bytes());
  return regions;
}

/// A lease opens the table that it was granted for and no other.
transport::Authorise holder_check(const ReadPathInputs& inputs, LeaseKind kind) {
  return [&leases = inputs.leases, generation = inputs.table.generation,
          kind](const transport::GrantLease& lease) {
    if (!leases.holds(lease, LeaseTable::Clock::now(), kind)) return false;
    const auto reads = leases.reads(lease);
    return reads != nullptr && reads->table->generation == generation;
  };
}

transport::WritableRegions writable_of(const ReadPathInputs& inputs) {
  if (!inputs.writable) return {};
  transport::WritableRegions writable;
  for (const Region& region : inputs.table.regions) {
    writable.regions.push_back(region.backing->bytes());
  }
  writable.authorise = holder_check(inputs, LeaseKind::write);
  return writable;
}

class MappedPath final : public ReadPath {
 public:
  explicit MappedPath(std::string socket_path) : socket_path_(std::move(socket_path)) {}
  v1::Transport transport() const override { return v1::TRANSPORT_MAPPED; }
  void offer(const LeaseId&, v1::AttachResponse& response) override {
    response.mutable_mapped()->set_socket_path(socket_path_);
  }
  void revoke(const LeaseId&) override {}

 private:
  const std::string socket_path_;
};

class VerbsPath final : public ReadPath {
 public:
  VerbsPath(const ReadPathInputs& inputs, const std::string& host, std::uint16_t port)
      : host_(host),
        listener_({host, port, inputs.connections_per_lease}, bytes_of(inputs.table),
                  holder_check(inputs, LeaseKind::read), writable_of(inputs)) {
    spdlog::info("RDMA on {}:{}{}, device {}, up to {} connections for each of {} leases", host_,
                 listener_.port(), inputs.writable ? " for the log" : "", listener_.device().device,
                 inputs.connections_per_lease, inputs.max_leases);
  }
  v1::Transport transport() const override { return v1::TRANSPORT_VERBS; }
  void offer(const LeaseId&, v1::AttachResponse& response) override {
    response.mutable_verbs()->set_host(host_);
    response.mutable_verbs()->set_port(listener_.port());
  }
  void revoke(const LeaseId& lease) override { listener_.revoke(lease); }

 private:
  const std::string host_;
  transport::VerbsListener listener_;
};

transport::FabricListenerOptions fabric_options(const std::string& spec) {
  transport::FabricListenerOptions options;
  const std::size_t colon = spec.find(':');
  options.provider = spec.substr(0, colon);
  if (colon != std::string::npos) options.host = spec.substr(colon + 1);
  if (options.provider.empty() || (colon != std::string::npos && options.host.empty())) {
    throw Error("--fabric '{}': give PROVIDER or PROVIDER:HOST; libfabric has {} here", spec,
                transport::fabric_providers());
  }
  return options;
}

class FabricPath final : public ReadPath {
 public:
  FabricPath(const ReadPathInputs& inputs, transport::FabricListenerOptions options)
      : listener_(std::move(options), bytes_of(inputs.table), holder_check(inputs, LeaseKind::read),
                  writable_of(inputs)) {
    spdlog::info("libfabric{}, provider {}", inputs.writable ? " for the log" : "",
                 listener_.description());
  }
  v1::Transport transport() const override { return v1::TRANSPORT_FABRIC; }
  void offer(const LeaseId& lease, v1::AttachResponse& response) override {
    response.mutable_fabric()->set_grant(listener_.grant(lease));
  }
  void revoke(const LeaseId& lease) override { listener_.revoke(lease); }

 private:
  transport::FabricListener listener_;
};

}  // namespace

std::size_t default_connections_per_lease(std::size_t processors) {
  return std::max(kLeastConnectionsPerLease, 2 * processors);
}

std::unique_ptr<ReadPath> mapped_read_path(std::string socket_path) {
  return std::make_unique<MappedPath>(std::move(socket_path));
}

std::unique_ptr<ReadPath> verbs_read_path(const ReadPathInputs& inputs, const std::string& host,
                                          std::uint16_t port) {
  return std::make_unique<VerbsPath>(inputs, host, port);
}

std::unique_ptr<ReadPath> fabric_read_path(const ReadPathInputs& inputs, const std::string& spec) {
  auto options = fabric_options(spec);
  // The number is doubled because endpoints that have ended are still counted for some 50 ms.
  options.max_grants = 2 * inputs.max_leases + kSpareGrants;
  return std::make_unique<FabricPath>(inputs, std::move(options));
}

std::vector<std::unique_ptr<ReadPath>> open_read_paths(const PathOptions& options,
                                                       const ReadPathInputs& inputs,
                                                       std::uint16_t rdma_port) {
  std::vector<std::unique_ptr<ReadPath>> paths;
  paths.push_back(mapped_read_path(options.grant_path));
  if (!options.rdma.empty()) paths.push_back(verbs_read_path(inputs, options.rdma, rdma_port));
  if (!options.fabric.empty()) paths.push_back(fabric_read_path(inputs, options.fabric));
  return paths;
}

void check_fabric(const std::string& spec) {
  const transport::FabricListenerOptions options = fabric_options(spec);
  try {
    (void)transport::FabricListener::probe(options);
  } catch (const Error& error) {
    throw Error("--fabric {}: {}", spec, error.what());
  }
}

}  // namespace farvec::memory_node
