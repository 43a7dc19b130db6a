// A Tier that was opened is where an index's records are read from.
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
#include "search/core/core_loop.h"
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

/// A RemoteAccess says how a tier connects to memory nodes that it names itself.
struct RemoteAccess {
  rpc::TlsFiles tls = {};
  std::uint32_t cores = 1;             ///< cores that will read at once
  transport::VerbsTuning tuning = {};  ///< for verbs
};

/// A TierContext is what a tier is opened with. Everything it points to must outlive the tier and
/// its cores.
struct TierContext {
  /// The index's records in this process, or bare bytes; null over `nodes`.
  RecordMemory* memory = nullptr;
  /// The index that is going to be searched; other copies of it are compared with it. Null: bare
  /// bytes of one memory node, a file or `memory`, which are read and not searched.
  const search::SearchIndex* index = nullptr;
  /// Where the second copy of the index's vectors is read from; null: the tier of the records.
  TierSpecPointer second_tier = nullptr;
  /// The bytes are those of this second copy, and `memory` has them. `index` is null then.
  const search::SecondCopy* second = nullptr;
  std::shared_ptr<NodeSet> nodes = nullptr;  ///< attached already; null: the tier attaches its own
  RemoteAccess remote = {};
  /// The modelled device that other indexes share, made by TierSpec::make_device(). Null: the tier
  /// makes its own, or has none.
  std::shared_ptr<transport::Device> device = nullptr;
  /// That of `second_tier`, in the same way.
  std::shared_ptr<transport::Device> second_device = nullptr;
  /// `owner`: each core is made by the thread that runs it.
  disk::DiskThread disk_thread = disk::DiskThread::any;
};

/// A CoreSet has the cores of one shape, and what they share, which each of them keeps alive.
class CoreSet {
 public:
  virtual ~CoreSet() = default;
  /// How many searches are in flight on each core.
  virtual std::uint32_t slots() const = 0;
  /// What a core of its own has fibers for.
  virtual search::CoreFibers fibers() const { return {slots()}; }
  /// Makes what one core searches with, for a scheduler that may have more to do. Connects and
  /// registers what it needs. Throws Error. It may be called from any thread.
  virtual std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const = 0;
  /// Makes a core of its own around such a part. Throws Error. It may be called from any thread.
  std::unique_ptr<search::SearchCore> make_core() const;
};

class SecondRows;

class Tier {
 public:
  /// Throws Error when the tier cannot be opened, or holds another index.
  static std::unique_ptr<Tier> open(const TierSpec& spec, const TierContext& context);

  virtual ~Tier();
  Tier(const Tier&) = delete;
  Tier& operator=(const Tier&) = delete;

  /// Describes the device behind the name; a modelled one with all its parameters. It may open an
  /// endpoint to find out.
  virtual std::string description() const = 0;
  /// Brings the records into memory, where that is otherwise left to their first use. Throws Error.
  /// It may be called from any thread.
  virtual void load() const {}
  /// Region 0 from its header on, where records are loads; otherwise empty. It loads in the way of
  /// load().
  virtual std::span<const std::byte> loads() const { return {}; }
  /// The modelled device that loads take their time from; null: none.
  virtual std::shared_ptr<transport::Device> device() const { return nullptr; }
  /// Makes an endpoint for one core, over region 0. Throws Error. It may be called from any thread.
  virtual std::unique_ptr<transport::Endpoint> make_endpoint() const = 0;
  /// Returns the region of these endpoints that has the second copy of the index's vectors. None:
  /// the tier brings records alone, and the copy has a tier of its own, as region 0.
  virtual std::optional<transport::RegionId> second_region() const { return std::nullopt; }
  /// Returns the gap in bytes up to which one read is cheaper than two; none where a merged read
  /// might reach over two memory nodes.
  virtual std::optional<std::uint32_t> merge_gap_bytes() const = 0;

  /// Returns what the searches of a shape keep in memory at most, with what ranking by a second
  /// copy takes; none where only a disk has a budget. Throws Error when the shape's budget is too
  /// small.
  std::optional<search::DiskMemory> plan(const search::SearchIndex& index,
                                         const search::SearchShape& shape) const;
  /// Returns the bytes of one endpoint's own buffers, where a budget counts them.
  virtual std::size_t endpoint_bytes() const { return 0; }
  /// Returns the device behind the second copy of the vectors; empty where there is none.
  std::string second_description() const;
  /// Loads, and returns the cores. Refuses what plan() refuses, and what the tier's reads cannot
  /// bring. Tier and index must outlive the set and its cores.
  std::unique_ptr<const CoreSet> prepare(const search::SearchIndex& index,
                                         const search::SearchShape& shape) const;

  // These may be called from any thread, and do not block:

  /// False once the records can no longer be read, for good.
  virtual bool alive() const { return true; }
  /// Returns true when there is a newer index where this one came from.
  virtual bool superseded() const { return false; }
  /// Returns nothing where the records are in this process or on this machine.
  virtual std::vector<NodeSet::Member> memory_nodes() const { return {}; }

 protected:
  Tier();
  /// Plans the searches of the records alone, for plan() and prepare_cores().
  virtual std::optional<search::DiskMemory> plan_records(const search::SearchIndex& index,
                                                         const search::SearchShape& shape) const;
  /// Makes the cores for prepare(), which adds the second copy where the index has one, and
  /// conditions where the rows have attributes.
  virtual std::unique_ptr<const CoreSet> prepare_cores(const search::SearchIndex& index,
                                                       const search::SearchShape& shape) const;

 private:
  /// Returns the searches of the records that a search of this shape makes.
  search::SearchShape shape_of_records(const search::SearchShape& shape) const;

  std::unique_ptr<const SecondRows> second_;  ///< null where the index has no second copy
};

}  // namespace farvec::tiers
