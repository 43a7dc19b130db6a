#include "compute_node/service/memory_node_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "compute_node/service/index_session.h"
#include "search/index_loader.h"

namespace farvec::compute_node {
namespace {

/// Attaching may take a node long that registers much memory with a device.
constexpr std::chrono::milliseconds kCallTimeout{15'000};

std::vector<MemoryNodeState> states_of(const tiers::NodeSet& set) {
  std::vector<MemoryNodeState> states;
  for (const tiers::NodeSet::Member& member : set.members()) {
    states.push_back({member.address, member.attached, member.node});
  }
  return states;
}

}  // namespace

MemoryNodeBackend::MemoryNodeBackend(const DaemonOptions& options)
    : options_(options),
      addresses_(rpc::parse_addresses(options.memory_node)),
      tls_(rpc::load_tls(options.tls)),
      tier_(transport::parse_tier(options.tier.empty() ? "shm" : options.tier)) {
  using transport::TierKind;
  const TierKind kind = tier_.kind;
  const bool remote = is_remote(kind);
  if ((kind != TierKind::shm && !remote && kind != TierKind::emulated) ||
      (remote && !tier_.path.empty())) {
    throw Error(
        "--tier {}: with --memory-node the tier is shm, verbs, fabric:PROVIDER or emulated:MODEL",
        options.tier);
  }
}

tiers::NodeSetOptions MemoryNodeBackend::set_options() const {
  tiers::NodeSetOptions options;
  options.addresses = addresses_;
  options.attach.client = fmt::format("farvec-compute-node/{}", getpid());
  options.attach.call_timeout = kCallTimeout;
  options.attach.tier = tier_;
  options.attach.tls = tls_;
  options.attach.cores = options_.threads;
  options.placed.node_timeout = options_.node_timeout;
  options.partial = options_.limits.default_partial;
  return options;
}

std::shared_ptr<tiers::NodeSet> MemoryNodeBackend::attach(std::chrono::milliseconds bound,
                                                   const std::atomic<bool>& stop) {
  if (set_ == nullptr || !set_->alive() || set_->superseded()) {
    set_ = nullptr;  // first: its leases keep old tables in memory
    set_ = std::make_shared<tiers::NodeSet>(set_options());
  }
  try {
    set_->wait_ready(bound, &stop);
  } catch (const search::UnreachableError&) {
    throw;  // who is attached stays so for the next attempt
  } catch (...) {
    set_ = nullptr;
    throw;
  }
  return std::exchange(set_, nullptr);
}

std::unique_ptr<SearchSession> MemoryNodeBackend::open(std::chrono::milliseconds bound,
                                                       const std::atomic<bool>& stop) {
  const std::shared_ptr<tiers::NodeSet> set = attach(bound, stop);
  search::FetchOptions fetch;
  fetch.stop = &stop;
  auto index = std::make_shared<const search::SearchIndex>(
      search::fetch_search_index(set->manifest(), *set->make_endpoint(), fetch));
  IndexSessionOptions session;
  session.core = core_options(options_);
  if (!set->manifest().placement) {
    session.core.merge_gap_bytes = transport::bytes_per_request(tier_);
  }
  session.cores = options_.threads;
  session.tier = transport::to_string(tier_);
  session.generation = set->generation();
  session.alive = [set] { return set->alive(); };
  session.superseded = [set] { return set->superseded(); };
  session.owner = set;
  session.memory_nodes = [set] { return states_of(*set); };
  const auto make_endpoint = [set] { return set->make_endpoint(); };
  const auto regions = set->regions();
  if (regions != nullptr) {
    session.records = regions->front().bytes();
  } else {
    session.make_endpoint = make_endpoint;
  }
  if (tier_.kind == transport::TierKind::emulated) {
    if (regions == nullptr && tier_.model.reached_by_loads()) {
      throw Error(
          "--tier {}: loads need the index in one piece, and it is placed over {} memory "
          "nodes; take shm or emulated:rdma",
          options_.tier, set->manifest().memory_nodes());
    }
    session.emulate(tier_.model, make_endpoint);
  }
  return std::make_unique<IndexSession>(std::move(index), set->manifest(), std::move(session));
}

}  // namespace farvec::compute_node
