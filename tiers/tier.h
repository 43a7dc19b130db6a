// A tier that was opened: where an index's records are read from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coroutines/scheduler.h"
#include "disk/disk_engine.h"
#include "rpc/tls.h"
#include "search/core/core_part.h"
#include "search/core/search_core.h"
#include "search/core/search_shape.h"
#include "search/disk/disk_memory.h"
#include "search/index/search_index.h"
#include "tiers/attach/node_set.h"
#include "tiers/record_memory.h"
#include "tiers/tier_spec.h"
#include "transport/emulated/device.h"
#include "transport/endpoint.h"

namespace farvec::tiers {

/// How a tier comes to memory nodes that it names itself.
struct RemoteAccess {
  rpc::TlsFiles tls = {};
  std::uint32_t cores = 1;             ///< that will read at once
  transport::VerbsTuning tuning = {};  ///< of verbs
};

/// What a tier is opened for. Everything it points to must outlive the tier and its cores.
struct TierContext {
  /// The index's records in this process, or bare bytes; null over `nodes`.
  RecordMemory* memory = nullptr;
  /// What is going to be searched, which other copies of it are held against. Null: bare bytes of
  /// one memory node, a file or `memory`, which are read and not searched.
  const search::SearchIndex* index = nullptr;
  std::shared_ptr<NodeSet> nodes = nullptr;  ///< attached already; null: the tier's own
  RemoteAccess remote = {};
  /// The modelled device that other indexes are behind too, as TierSpec::make_device() made it;
  /// null: one of its own, or none.
  std::shared_ptr<transport::Device> device = nullptr;
  /// `owner`: each core is made by the thread that runs it.
  disk::DiskThread disk_thread = disk::DiskThread::any;
};

/// The cores of one shape, and what they share, which each of them keeps alive.
class CoreSet {
 public:
  virtual ~CoreSet() = default;
  /// Searches in flight on each core.
  virtual std::uint32_t slots() const = 0;
  /// What one core searches with, for a scheduler that may have more to do. Connects and registers
  /// what it needs. Throws Error. Any thread.
  virtual std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const = 0;
  /// A core of its own around such a part. Throws Error. Any thread.
  std::unique_ptr<search::SearchCore> make_core() const;
};

class Tier {
 public:
  /// Throws Error when the tier cannot be opened, or holds another index.
  static std::unique_ptr<Tier> open(const TierSpec& spec, const TierContext& context);

  virtual ~Tier() = default;
  Tier(const Tier&) = delete;
  Tier& operator=(const Tier&) = delete;

  /// What stands behind the name, a modelled device with all its parameters. May open an endpoint
  /// to find it out.
  virtual std::string description() const = 0;
  /// Brings the records into memory, where that is left to their first use. Throws Error. Any
  /// thread.
  virtual void load() const {}
  /// Region 0 from its header on, where records are loads; else empty. As load().
  virtual std::span<const std::byte> loads() const { return {}; }
  /// The modelled device that loads take their time from; null: none.
  virtual std::shared_ptr<transport::Device> device() const { return nullptr; }
  /// For one core, over region 0. Throws Error. Any thread.
  virtual std::unique_ptr<transport::Endpoint> make_endpoint() const = 0;
  /// Gap of bytes up to which one read is cheaper than two; none where a merged read might lie on
  /// two memory nodes.
  virtual std::optional<std::uint32_t> merge_gap_bytes() const = 0;

  /// What the searches of a shape keep in memory at most; none where only a disk has a budget.
  /// Throws Error when that of the shape is too small.
  virtual std::optional<search::DiskMemory> plan(const search::SearchIndex& index,
                                                 const search::SearchShape& shape) const;
  /// Loads. Refuses what plan() refuses, and what the tier's reads cannot bring. Tier and index
  /// must outlive it and its cores.
  virtual std::unique_ptr<const CoreSet> prepare(const search::SearchIndex& index,
                                                 const search::SearchShape& shape) const;

  // Any thread, without blocking:

  /// False once the records can no longer be read, for good.
  virtual bool alive() const { return true; }
  /// There is a newer index where this one came from.
  virtual bool superseded() const { return false; }
  /// None where the records lie in this process or on this machine.
  virtual std::vector<NodeSet::Member> memory_nodes() const { return {}; }

 protected:
  Tier() = default;
};

}  // namespace farvec::tiers
