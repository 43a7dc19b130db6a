// An EndpointPart is a part that reads records through an endpoint.
#pragma once

#include <memory>
#include <utility>

#include "base/error.h"
#include "search/core/searcher_part.h"
#include "search/lanes/read_dispatcher.h"
#include "search/lanes/read_limits.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// Passes the endpoint on when its reads can bring what the index asks for.
template <typename Locator>
std::unique_ptr<transport::Endpoint> able(std::unique_ptr<transport::Endpoint> endpoint,
                                          const Locator& locator) {
  require_readable(locator, {endpoint->limits().max_read_bytes, endpoint->description()});
  return endpoint;
}

/// Its slots share an endpoint; slot s has lane s of the dispatcher.
template <typename Searcher>
class EndpointPart : public SearcherPart<Searcher> {
 public:
  EndpointPart(std::unique_ptr<transport::Endpoint> endpoint, const DispatcherOptions& lanes,
               coroutines::Scheduler& scheduler, std::uint32_t request_bytes = 0)
      : SearcherPart<Searcher>(request_bytes), dispatcher_(std::move(endpoint), scheduler, lanes) {}

  bool poll() override {
    if (dispatcher_.closed() && !given_up_) {
      given_up_ = true;  // once: searches that still run end while the error is passed on
      throw Error("reads from {} do not come back: the core gives up",
                  dispatcher_.endpoint().description());
    }
    return dispatcher_.poll();
  }

  CoreStatistics statistics() const override {
    CoreStatistics result = SearcherPart<Searcher>::statistics();
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
  ReadDispatcher dispatcher_;
  bool given_up_ = false;
};

}  // namespace farvec::search
