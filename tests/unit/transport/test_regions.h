// Regions of known bytes for the tests of endpoints.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "transport/grant.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::transport {

/// A memfd region of `bytes` random bytes, mapped for writing.
inline MappedRegion random_region(std::size_t bytes, std::uint64_t seed) {
  const int fd = memfd_create("farvec-test", MFD_CLOEXEC);
  FARVEC_CHECK(fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0);
  MappedRegion region = MappedRegion::map_fd(fd, 0, Access::read_write);
  ::close(fd);
  Random random(seed);
  for (std::byte& byte : region.writable_bytes()) byte = static_cast<std::byte>(random.next());
  return region;
}

/// Region 0 has 1 MiB, region 1 has 1000 bytes.
inline std::shared_ptr<const RegionSet> random_regions() {
  RegionSet regions;
  regions.push_back(random_region(1u << 20, 1));
  regions.push_back(random_region(1000, 2));
  return std::make_shared<const RegionSet>(std::move(regions));
}

/// What a listener grants.
inline GrantedRegions spans_of(const RegionSet& regions) {
  GrantedRegions spans;
  for (const MappedRegion& region : regions) spans.push_back(region.bytes());
  return spans;
}

/// Polls until `count` completions have come, or a million polls brought none more.
inline std::vector<Completion> collect(Endpoint& endpoint, std::size_t count) {
  std::vector<Completion> found;
  Completion some[7];
  for (std::size_t idle = 0; found.size() < count && idle < 1'000'000; ++idle) {
    const std::size_t n = endpoint.poll(some);
    found.insert(found.end(), some, some + n);
    if (n > 0) idle = 0;
  }
  return found;
}

}  // namespace farvec::transport
