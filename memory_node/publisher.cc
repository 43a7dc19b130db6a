#include "memory_node/publisher.h"

#include <spdlog/spdlog.h>

#include <limits>
#include <utility>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

/// Two tables cannot listen on one port.
std::uint16_t rdma_port(const PublisherOptions& options, std::uint32_t slot) {
  if (options.rdma_port == 0) return 0;
  const std::uint64_t port = std::uint64_t{options.rdma_port} + slot;
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error("--rdma-port {}: there is no port for {} tables at a time", options.rdma_port,
                slot + 1);
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::shared_ptr<const RegionTable> Publisher::publish(const std::string& index,
                                                      const std::function<bool()>& cancelled) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) throw PublisherBusy();
  const std::uint64_t loaded_before = state_.loaded_bytes.load(kRelaxed);
  const std::uint64_t total_before = state_.total_bytes.load(kRelaxed);
  try {
    const auto publication = load(index, cancelled);
    state_.publications.publish(publication);
    spdlog::info("published {}, generation {}", index, publication->table->generation);
    return publication->table;
  } catch (...) {
    state_.loaded_bytes.store(loaded_before, kRelaxed);
    state_.total_bytes.store(total_before, kRelaxed);
    throw;
  }
}

std::shared_ptr<const Publication> Publisher::load(const std::string& index,
                                                   const std::function<bool()>& cancelled) {
  const auto directory = layout::IndexDirectory::open(index);
  layout::require_memory_layout(directory.manifest(), index);
  state_.loaded_bytes.store(0, kRelaxed);
  state_.total_bytes.store(bytes_to_load(directory.manifest()), kRelaxed);
  auto publication = std::make_shared<Publication>();
  publication->slot = state_.publications.free_slot();
  LoadRequest request = options_.load;
  request.slot = publication->slot;
  request.loaded_bytes = &state_.loaded_bytes;
  request.stop = [this, &cancelled] {
    return (options_.stop != nullptr && options_.stop->load(kRelaxed)) ||
           (cancelled && cancelled());
  };
  publication->table = load_index(directory, request);
  open_paths(*publication);
  return publication;
}

void Publisher::open_paths(Publication& publication) const {
  const ReadPathInputs inputs{*publication.table, state_.leases, options_.max_leases,
                              options_.connections_per_lease};
  auto& paths = publication.paths;
  paths.push_back(mapped_read_path(options_.grant_path));
  if (!options_.rdma.empty()) {
    paths.push_back(verbs_read_path(inputs, options_.rdma, rdma_port(options_, publication.slot)));
  }
  if (!options_.fabric.empty()) paths.push_back(fabric_read_path(inputs, options_.fabric));
}

}  // namespace farvec::memory_node
