#include "compute_node/backends/memory_node_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "compute_node/backends/index_session.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/index_attributes.h"
#include "tiers/tier.h"

namespace farvec::compute_node {
namespace {

/// Attaching may take long on a node that registers much memory with a device.
constexpr std::chrono::milliseconds kCallTimeout{15'000};

}  // namespace

MemoryNodeBackend::MemoryNodeBackend(const MemoryNodeSource& source, const BackendOptions& options)
    : source_(source),
      largest_(with_cache(options.largest, source.cache_bytes)),
      addresses_(rpc::parse_addresses(source.nodes)),
      tls_(options.tls),
      tier_(tiers::parse_tier(source.tier)) {
  if (!tier_->traits().over_nodes) {
    throw Error("--tier {}: with --memory-node the tier is {}", source.tier,
                tiers::tier_usage(tiers::TierUse::over_nodes));
  }
}

tiers::PlacedNodesOptions MemoryNodeBackend::set_options() const {
  tiers::PlacedNodesOptions options;
  options.addresses = addresses_;
  options.attach.client = fmt::format("farvec-compute-node/{}", getpid());
  options.attach.call_timeout = kCallTimeout;
  options.attach.reads = tier_->read_path();
  options.attach.tls = tls_;
  options.attach.cores = largest_.cores;
  options.placed.node_timeout = source_.node_timeout;
  options.partial = source_.partial;
  // A partial answer needs no copy of what a silent node has.
  if (source_.partial) options.placed.last_copy_timeout = source_.node_timeout;
  return options;
}

std::shared_ptr<tiers::PlacedNodes> MemoryNodeBackend::attach(std::chrono::milliseconds bound,
                                                              const std::atomic<bool>& stop) {
  if (set_ == nullptr || !set_->alive() || set_->superseded()) {
    set_ = nullptr;  // dropped first, because its leases keep old tables in memory
    set_ = std::make_shared<tiers::PlacedNodes>(set_options());
  }
  try {
    set_->wait_ready(bound, &stop);
  } catch (const UnreachableError&) {
    throw;  // attached nodes stay attached for the next attempt
  } catch (...) {
    set_ = nullptr;
    throw;
  }
  return std::exchange(set_, nullptr);
}

std::unique_ptr<SearchSession> MemoryNodeBackend::open(std::chrono::milliseconds bound,
                                                       const std::atomic<bool>& stop) {
  const std::shared_ptr<tiers::PlacedNodes> set = attach(bound, stop);
  search::FetchOptions fetch;
  fetch.stop = &stop;
  search::SearchIndex fetched =
      search::fetch_search_index(set->manifest(), *set->make_endpoint(), fetch);
  tiers::fetch_attributes(set, fetch, fetched);
  auto index = std::make_shared<const search::SearchIndex>(std::move(fetched));
  IndexSessionOptions session;
  session.shape = largest_;
  session.tier = tier_->name();
  session.generation = set->generation();
  return std::make_unique<IndexSession>(std::move(index), set->manifest(),
                                        tiers::Tier::open(*tier_, {.index = &*index, .nodes = set}),
                                        std::move(session));
}

}  // namespace farvec::compute_node
