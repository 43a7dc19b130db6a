#include "collection/followers.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "base/error.h"
#include "rpc/probe_counts.h"

namespace farvec::collection {
namespace {

constexpr std::chrono::milliseconds kPatience{1'000};

}  // namespace

std::size_t Followers::add_probes(std::uint64_t segment, search::ProbeTally& sum,
                                  const std::function<bool()>& interrupted) const {
  std::size_t answered = 0;
  for (const rpc::Address& node : nodes_) {
    if (interrupted()) break;
    try {
      const auto theirs = rpc::ask_probe_counts(node, {segment, kPatience, tls_});
      search::add_probes({theirs.dataset(),
                          theirs.centroids_xxh3(),
                          {theirs.counts().begin(), theirs.counts().end()}},
                         rpc::to_string(node), sum);
      ++answered;
    } catch (const Error& error) {
      spdlog::warn("segment {} is grouped without the probes of a follower: {}", segment,
                   error.what());
    }
  }
  return answered;
}

}  // namespace farvec::collection
