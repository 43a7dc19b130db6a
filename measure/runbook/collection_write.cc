#include "measure/runbook/collection_write.h"

#include "base/parallel.h"
#include "wal/durability_option.h"

namespace farvec::measure {

collection::CollectionAccess write_access(const CollectionWrite& write) {
  wal::LogOptions log;
  wal::parse_durability(write.durability, log);
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.segments.threads = write.build_threads;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = resolve_threads(write.build_threads);
  access.merge_threads = access.build_threads;
  access.merge_bytes_per_s = static_cast<double>(write.merge_bytes_per_s);
  return access;
}

}  // namespace farvec::measure
