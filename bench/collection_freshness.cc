// How long after its acknowledgement an insert is seen by a reader that follows the files, or with
// --log-nodes the log on memory nodes.
//   build/release/bin/collection_freshness --data base.u8bin --folder /tmp/set --rows 100000
//     --batch 64 --pace-us 10000 --durability commit
// Writer and reader are threads of one process that share nothing but the collection's files; the
// reader's newest version is looked at every 50 us. Times are negative where a reader sees a batch
// before the writer hears that it is durable.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "bench/run_bench.h"
#include "collection/nodes/log_nodes.h"
#include "collection/read/collection_follower.h"
#include "collection/write/collection.h"
#include "dataset/vector_set.h"
#include "measure/report/machine.h"
#include "measure/report/statistics.h"
#include "measure/runbook/collection_write.h"

namespace farvec {
namespace {

using collection::Collection;
using collection::CollectionFollower;

constexpr double kPatienceUs = 600e6;
constexpr auto kLook = std::chrono::microseconds(50);

struct Arguments {
  std::string data, folder, metric = "l2", durability = "commit", log_nodes, log_tier = "shm";
  std::uint64_t rows = 100'000;
  std::uint32_t batch = 64;
  double pace_us = 10'000;
  layout::CollectionOptions options;
  collection::FollowOptions follow;
};

/// When which version was there.
struct Event {
  std::uint64_t version = 0;
  Ticks at = 0;
};

/// Writes the versions of a follower down as they come.
class Watcher {
 public:
  explicit Watcher(const CollectionFollower& follower)
      : thread_([this, &follower] {
          // Once more when it is to end: what was waited for is seen.
          for (bool last = false; !last;) {
            last = stop_.load(std::memory_order_relaxed);
            const std::uint64_t version = follower.view()->version;
            if (events_.empty() || version > events_.back().version) {
              events_.push_back({version, now_ticks()});
            }
            std::this_thread::sleep_for(kLook);
          }
        }) {}
  ~Watcher() {
    if (thread_.joinable()) (void)stop();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  std::vector<Event> stop() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
    return std::move(events_);
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<Event> events_;
  std::thread thread_;
};

std::vector<Event> insert_paced(Collection& set, const dataset::VectorSet& rows,
                                const Arguments& arguments, std::vector<Event>& begun) {
  std::vector<Event> acknowledged;
  const Ticks pace = us_to_ticks(arguments.pace_us);
  Ticks due = now_ticks();
  for (std::uint64_t next = 0; next < rows.count(); next += arguments.batch) {
    const std::uint64_t count = std::min<std::uint64_t>(arguments.batch, rows.count() - next);
    std::vector<std::uint64_t> ids(count);
    std::iota(ids.begin(), ids.end(), next);
    const VectorView part = rows.view().part(next, count);
    changes::Receipt receipt;
    begun.push_back({0, now_ticks()});
    set.insert({part, ids}, {.until = now_ticks() + us_to_ticks(kPatienceUs)}, receipt);
    acknowledged.push_back({receipt.version, now_ticks()});
    due += pace;
    while (now_ticks() < due) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return acknowledged;
}

std::vector<float> delays_us(const std::vector<Event>& acknowledged,
                             const std::vector<Event>& seen) {
  std::vector<float> delays;
  std::size_t next = 0;
  for (const Event& event : acknowledged) {
    while (next < seen.size() && seen[next].version < event.version) ++next;
    if (next == seen.size()) throw Error("version {} was never seen", event.version);
    const Ticks at = seen[next].at;
    delays.push_back(static_cast<float>(at >= event.at ? ticks_to_us(at - event.at)
                                                       : -ticks_to_us(event.at - at)));
  }
  return delays;
}

void wait_for(const CollectionFollower& follower, std::uint64_t version) {
  const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
  while (follower.view()->version < version) {
    if (now_ticks() >= deadline) throw Error("it does not follow: {}", follower.state().failure);
    std::this_thread::sleep_for(kLook);
  }
}

std::shared_ptr<collection::LogNodes> log_nodes(const Arguments& arguments) {
  if (arguments.log_nodes.empty()) return nullptr;
  collection::LogNodesOptions options;
  options.nodes = rpc::parse_addresses(arguments.log_nodes);
  options.attach.reads = tiers::parse_node_tier(arguments.log_tier)->read_path();
  return std::make_shared<collection::LogNodes>(std::move(options));
}

std::vector<float> waits_us(const std::vector<Event>& begun,
                            const std::vector<Event>& acknowledged) {
  std::vector<float> waits;
  for (std::size_t i = 0; i < begun.size(); ++i) {
    waits.push_back(static_cast<float>(ticks_to_us(acknowledged[i].at - begun[i].at)));
  }
  return waits;
}

void run(const Arguments& arguments) {
  const dataset::VectorSet rows = dataset::load(arguments.data, {.max_rows = arguments.rows});
  layout::CollectionManifest shape;
  shape.metric = parse_metric(arguments.metric);
  shape.source_type = rows.type();
  shape.dimension = rows.dimension();
  shape.options = arguments.options;
  Collection::create(arguments.folder, shape);
  collection::CollectionAccess access =
      measure::write_access({.durability = arguments.durability, .build_threads = 1});
  access.segments = collection::SegmentAccess::on("dram");
  const auto nodes = log_nodes(arguments);
  access.log_nodes = nodes;
  Collection set(arguments.folder, access);
  collection::FollowOptions follow = arguments.follow;
  follow.log_nodes = nodes;
  const CollectionFollower follower(arguments.folder, access.segments, follow);
  Watcher watcher(follower);
  const Ticks begin = now_ticks();
  std::vector<Event> begun;
  const std::vector<Event> acknowledged = insert_paced(set, rows, arguments, begun);
  const double seconds = ticks_to_us(now_ticks() - begin) / 1e6;
  wait_for(follower, acknowledged.back().version);
  std::vector<float> delays = delays_us(acknowledged, watcher.stop());
  std::vector<float> waits = waits_us(begun, acknowledged);
  const collection::FollowState state = follower.state();
  const nlohmann::ordered_json json{{"rows", rows.count()},
                                    {"batch", arguments.batch},
                                    {"inserts_per_s", rows.count() / seconds},
                                    {"delay_p50_us", measure::percentile(delays, 0.5)},
                                    {"delay_p99_us", measure::percentile(delays, 0.99)},
                                    {"delay_most_us", measure::percentile(delays, 1)},
                                    {"insert_p50_us", measure::percentile(waits, 0.5)},
                                    {"insert_p99_us", measure::percentile(waits, 0.99)},
                                    {"switches", state.switches},
                                    {"failures", state.failures},
                                    {"host", measure::host_description()}};
  fmt::print("{}\n", json.dump());
}

void add_options(CommandLine& app, Arguments& a) {
  app.add_option("--data", a.data, "Vector file").required();
  app.add_option("--folder", a.folder, "Of the collection, which stays").required();
  app.add_option("--metric", a.metric, "l2, ip or cosine").show_default();
  app.add_option("--rows", a.rows, "The first so many of the file").show_default();
  app.add_option("--batch", a.batch, "Rows of an insert").show_default();
  app.add_option("--pace-us", a.pace_us, "From one insert to the next; 0: none").show_default();
  app.add_option("--durability", a.durability, "Of inserts").show_default();
  app.add_option("--memtable-rows", a.options.memtable_rows, "Of a memtable").show_default();
  app.add_option("--log-nodes", a.log_nodes, "Memory nodes of the log, separated by commas");
  app.add_option("--log-tier", a.log_tier, "shm, fabric:PROVIDER or verbs").show_default();
  app.add_option("--poll-us", a.follow.poll_us, "Between looks at the log").show_default();
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::CommandLine app("How soon a reader sees what was inserted", "collection_freshness");
  farvec::Arguments arguments;
  farvec::add_options(app, arguments);
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
