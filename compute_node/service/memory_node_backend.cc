#include "compute_node/service/memory_node_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include "compute_node/attach/attachment.h"
#include "compute_node/index_loader.h"
#include "compute_node/service/graph_session.h"

namespace farvec::compute_node {
namespace {

/// Codes and offsets. A node that dies meanwhile may come back: worth another try.
GraphIndex fetch(const Attachment& attachment, const std::atomic<bool>& stop) {
  FetchOptions options;
  options.stop = &stop;
  try {
    const auto endpoint = attachment.make_endpoint();
    return fetch_graph_index(attachment.manifest(), *endpoint, options);
  } catch (const Error& error) {
    if (attachment.alive() && !stop.load(std::memory_order_relaxed)) throw;
    throw UnreachableError("{}", error.what());
  }
}

}  // namespace

MemoryNodeBackend::MemoryNodeBackend(const DaemonOptions& options)
    : options_(options),
      address_(rpc::parse_address(options.memory_node)),
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

std::unique_ptr<SearchSession> MemoryNodeBackend::open(std::chrono::milliseconds bound,
                                                       const std::atomic<bool>& stop) {
  const bool remote = is_remote(tier_.kind);
  AttachOptions attach;
  attach.memory_node = address_;
  attach.client = fmt::format("farvec-compute-node/{}", getpid());
  attach.wait = bound;
  attach.call_timeout = bound;
  attach.tier = tier_;
  attach.stop = &stop;
  attach.tls = tls_;
  const std::shared_ptr<Attachment> attachment = Attachment::attach(attach);
  GraphIndex index = fetch(*attachment, stop);
  GraphSessionOptions session;
  session.core = core_options(options_);
  session.cores = options_.threads;
  session.tier = transport::to_string(tier_);
  session.generation = attachment->generation();
  if (!remote) session.records = attachment->regions()->front().bytes();
  session.alive = [attachment] { return attachment->alive() && !attachment->draining(); };
  session.owner = attachment;
  if (tier_.kind == transport::TierKind::emulated) {
    session.emulate(tier_.model, [attachment] { return attachment->make_endpoint(); });
  }
  if (remote) session.make_endpoint = [attachment] { return attachment->make_endpoint(); };
  return std::make_unique<GraphSession>(std::move(index), attachment->manifest(),
                                        std::move(session));
}

}  // namespace farvec::compute_node
