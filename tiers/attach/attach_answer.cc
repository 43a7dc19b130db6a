#include "tiers/attach/attach_answer.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "transport/grant.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

std::string regions_fault(const v1::AttachResponse& response) {
  const auto regions = static_cast<std::size_t>(response.regions_size());
  if (regions == 0 || regions > transport::kMaxGrantedRegions) {
    return fmt::format("it sent {} regions, where 1 to {} can be", regions,
                       transport::kMaxGrantedRegions);
  }
  for (const v1::Region& region : response.regions()) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - region.offset();
    if (region.bytes() <= most) continue;
    return fmt::format("it sent region {} of {} bytes at offset {}, which cannot be", region.id(),
                       region.bytes(), region.offset());
  }
  return {};
}

std::string grant_fault(const v1::AttachResponse& response) {
  if (response.has_mapped() && response.mapped().socket_path().empty()) {
    return "it sent an empty socket_path";
  }
  if (!response.has_verbs()) return {};
  const v1::VerbsGrant& verbs = response.verbs();
  if (verbs.host().empty()) return "it sent an empty host for RDMA";
  if (verbs.port() >= 1 && verbs.port() <= std::numeric_limits<std::uint16_t>::max()) return {};
  return fmt::format("it sent port {} for RDMA, where 1 to 65535 can be", verbs.port());
}

}  // namespace

std::string fault_of(const v1::AttachResponse& response) {
  if (response.lease_id().size() != sizeof(transport::GrantLease)) {
    return fmt::format("it sent a lease id of {} bytes, where {} are due",
                       response.lease_id().size(), sizeof(transport::GrantLease));
  }
  if (response.lease_ms() == 0) return "it sent lease_ms 0: the lease ends before it begins";
  std::string fault = regions_fault(response);
  return fault.empty() ? grant_fault(response) : fault;
}

}  // namespace farvec::tiers
