// An endpoint whose failures a test names one by one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "transport/endpoint.h"

namespace farvec::search {

/// What a test says of the endpoint that a dispatcher or a core owns.
struct Script {
  std::size_t posts = 0;                         ///< so far, the refused ones too
  std::function<bool(std::size_t post)> absent;  ///< whether a post() ends with `unavailable`
  bool full = false;                             ///< a post() ends with `resource_exhausted`
  StatusCode ends = StatusCode::ok;              ///< of every read
  bool silent = false;                           ///< takes reads and completes none
  std::size_t registered_bytes = 0;              ///< so far
};

class ScriptedEndpoint final : public transport::Endpoint {
 public:
  ScriptedEndpoint(std::unique_ptr<transport::Endpoint> below, Script& script)
      : below_(std::move(below)), script_(script) {}

  void register_memory(std::span<std::byte> memory) override {
    script_.registered_bytes += memory.size();
  }
  Status post(std::span<const transport::ReadRequest> reads) override {
    const std::size_t number = script_.posts++;
    if (script_.absent && script_.absent(number)) {
      return {StatusCode::unavailable, "nobody is there"};
    }
    if (script_.full) return {StatusCode::resource_exhausted, "no room"};
    return below_->post(reads);
  }
  std::size_t poll(std::span<transport::Completion> completions) override {
    const std::size_t count = script_.silent ? 0 : below_->poll(completions);
    for (auto& completion : completions.first(count)) completion.status = script_.ends;
    return count;
  }
  transport::EndpointLimits limits() const override { return below_->limits(); }
  std::uint64_t region_bytes(transport::RegionId region) const override {
    return below_->region_bytes(region);
  }
  std::string description() const override { return "scripted"; }
  void close() override { below_->close(); }

 private:
  std::unique_ptr<transport::Endpoint> below_;
  Script& script_;
};

}  // namespace farvec::search
