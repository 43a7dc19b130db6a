#include "search/search_core.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "search/cluster_searcher.h"
#include "search/core_loop.h"
#include "search/endpoint_posting_source.h"
#include "search/endpoint_source.h"
#include "search/graph_searcher.h"
#include "search/mapped_posting_source.h"
#include "search/mapped_source.h"
#include "search/read_limits.h"
#include "search/search_index.h"

namespace farvec::search {
namespace {

using GraphByLoad = GraphSearcher<MappedNodeSource>;
using GraphByRead = GraphSearcher<EndpointNodeSource>;
using ClustersByLoad = ClusterSearcher<MappedPostingSource>;
using ClustersByRead = ClusterSearcher<EndpointPostingSource>;

/// Passes it on when its reads can bring what the index asks for.
template <typename Locator>
std::unique_ptr<transport::Endpoint> able(std::unique_ptr<transport::Endpoint> endpoint,
                                          const Locator& locator) {
  require_readable(locator, {endpoint->limits().max_read_bytes, endpoint->description()});
  return endpoint;
}

/// A core whose slots share an endpoint.
template <typename Searcher>
class EndpointCore : public CoreLoop<Searcher> {
 public:
  EndpointCore(std::unique_ptr<transport::Endpoint> endpoint, const DispatcherOptions& lanes,
               const SearchCoreOptions& options)
      : CoreLoop<Searcher>(options), dispatcher_(std::move(endpoint), this->scheduler(), lanes) {
    this->scheduler().set_poller([this] { return poll(); });
  }

  CoreStatistics statistics() const override {
    CoreStatistics result = CoreLoop<Searcher>::statistics();
    result.stalls = dispatcher_.stalls();
    result.late_completions = dispatcher_.late_completions();
    result.in_flight_reads = dispatcher_.in_flight();
    const transport::EndpointUse use = dispatcher_.endpoint().use();
    result.dram_bytes += dispatcher_.dram_bytes() + use.dram_bytes;
    result.device_reads = use.device_reads;
    result.device_bytes = use.device_bytes;
    return result;
  }

 protected:
  ReadDispatcher& dispatcher() { return dispatcher_; }

 private:
  bool poll() {
    if (dispatcher_.closed() && !given_up_) {
      given_up_ = true;  // once: the searches that still run end while run() winds up
      throw Error("reads from {} do not come back: the core gives up",
                  dispatcher_.endpoint().description());
    }
    return dispatcher_.poll();
  }

  ReadDispatcher dispatcher_;
  bool given_up_ = false;
};

class GraphReadCore final : public EndpointCore<GraphByRead> {
 public:
  GraphReadCore(const GraphIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
                const SearchCoreOptions& options)
      : EndpointCore(able(std::move(endpoint), index.locator()),
                     EndpointNodeSource::dispatcher_options(index.locator(), options.slots),
                     options),
        cache_(options.cache_bytes, index.locator().geometry().max_record_bytes()) {
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(std::make_unique<GraphByRead>(
          index, options.max_list, EndpointNodeSource(index.locator(), dispatcher(), s, cache_)));
    }
  }

  CoreStatistics statistics() const override {
    CoreStatistics result = EndpointCore::statistics();
    result.dram_bytes += cache_.dram_bytes();
    return result;
  }

 private:
  RecordCache cache_;
};

class ClusterReadCore final : public EndpointCore<ClustersByRead> {
 public:
  ClusterReadCore(const ClusterIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
                  const SearchCoreOptions& options)
      : EndpointCore(able(std::move(endpoint), index.locator()),
                     EndpointPostingSource::dispatcher_options(index.locator(), options.slots),
                     options) {
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(std::make_unique<ClustersByRead>(index, options,
                                                EndpointPostingSource(index, dispatcher(), s)));
    }
  }
};

class GraphLoadCore final : public CoreLoop<GraphByLoad> {
 public:
  GraphLoadCore(const GraphIndex& index, std::span<const std::byte> region,
                const SearchCoreOptions& options)
      : CoreLoop(options) {
    FARVEC_CHECK(region.size() >= index.locator().region_bytes());
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(std::make_unique<GraphByLoad>(
          index, options.max_list,
          MappedNodeSource(index.locator(), region.data(), scheduler(), options.device.get())));
    }
  }
};

class ClusterLoadCore final : public CoreLoop<ClustersByLoad> {
 public:
  ClusterLoadCore(const ClusterIndex& index, std::span<const std::byte> region,
                  const SearchCoreOptions& options)
      : CoreLoop(options) {
    FARVEC_CHECK(region.size() >= index.locator().region_bytes());
    if (options.device != nullptr) {
      require_readable(index.locator(), {MappedPostingSource::kMostReadBytes,
                                         transport::to_string(options.device->model())});
    }
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(std::make_unique<ClustersByLoad>(
          index, options,
          MappedPostingSource(index, region.data(), scheduler(), options.device.get())));
    }
  }
};

}  // namespace

std::unique_ptr<SearchCore> make_core(const SearchIndex& index, std::span<const std::byte> region,
                                      const SearchCoreOptions& options) {
  FARVEC_CHECK(index.slotted() == nullptr);
  if (index.graph() != nullptr) {
    return std::make_unique<GraphLoadCore>(*index.graph(), region, options);
  }
  return std::make_unique<ClusterLoadCore>(*index.clusters(), region, options);
}

std::unique_ptr<SearchCore> make_core(const SearchIndex& index,
                                      std::unique_ptr<transport::Endpoint> endpoint,
                                      const SearchCoreOptions& options) {
  FARVEC_CHECK(index.slotted() == nullptr);
  if (index.graph() != nullptr) {
    return std::make_unique<GraphReadCore>(*index.graph(), std::move(endpoint), options);
  }
  return std::make_unique<ClusterReadCore>(*index.clusters(), std::move(endpoint), options);
}

}  // namespace farvec::search
