// Who writes to a collection through its node, and remembers what it was told.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "rpc/collection.grpc.pb.h"

namespace farvec::tests {

namespace wire = collection::v1;

constexpr std::uint32_t kDimension = 12;
constexpr std::uint64_t kIdsOfWriter = 400;
constexpr std::chrono::seconds kPatience{60};

using Row = std::vector<float>;
/// What an id may hold: nothing, or a row.
using State = std::optional<Row>;

inline std::string bytes_of(const Row& row) {
  return {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float)};
}

/// Inserts and deletes ids of its own, and remembers what it was told.
class Writer {
 public:
  Writer(std::shared_ptr<grpc::Channel> channel, std::uint64_t number)
      : Writer(std::move(channel), number, number, nullptr) {}
  /// Goes on with the ids of `former`, of the same number, where there is one.
  Writer(std::shared_ptr<grpc::Channel> channel, std::uint64_t number, std::uint64_t seed,
         const Writer* former)
      : stub_(wire::Collection::NewStub(std::move(channel))),
        first_(number << 40),  // more than 32 bits, but for the first writer's
        random_(seed + 1) {
    if (former == nullptr) return;
    told = former->told;
    asked = former->asked;
  }

  /// Until a call fails, or it is to stop.
  void run() {
    while (!stop && (random_.below(4) == 0 ? erase() : insert())) ++acknowledged;
  }

  std::atomic<int> acknowledged{0};
  std::atomic<bool> stop{false};
  std::map<std::uint64_t, State> told;  ///< by acknowledged calls
  /// By calls that failed since, which may be in or not.
  std::map<std::uint64_t, std::vector<State>> asked;

  bool may_have(std::uint64_t id, const State& state) const {
    const auto found = asked.find(id);
    return found != asked.end() &&
           std::find(found->second.begin(), found->second.end(), state) != found->second.end();
  }

 private:
  std::map<std::uint64_t, State> choose(bool erased) {
    std::map<std::uint64_t, State> chosen;
    for (int i = 0; i < 25; ++i) {
      State& state = chosen[first_ + random_.below(kIdsOfWriter)];
      if (erased) continue;
      state.emplace(kDimension);
      for (float& x : *state) x = static_cast<float>(random_.uniform());
    }
    return chosen;
  }
  bool end(const grpc::Status& status, const std::map<std::uint64_t, State>& changes) {
    for (const auto& [id, state] : changes) {
      if (status.ok()) {
        told[id] = state;
        asked.erase(id);
      } else {
        asked[id].push_back(state);
      }
    }
    return status.ok();
  }
  bool insert() {
    const auto changes = choose(false);
    wire::InsertRequest request;
    request.set_type(wire::ELEMENT_TYPE_F32);
    request.set_dimension(kDimension);
    for (const auto& [id, state] : changes) {
      request.add_ids(id);
      request.mutable_rows()->append(bytes_of(*state));
    }
    wire::InsertResponse response;
    return end(stub_->Insert(&context(), request, &response), changes);
  }
  bool erase() {
    const auto changes = choose(true);
    wire::DeleteRequest request;
    for (const auto& [id, state] : changes) request.add_ids(id);
    wire::DeleteResponse response;
    return end(stub_->Delete(&context(), request, &response), changes);
  }
  grpc::ClientContext& context() {
    context_.emplace();
    context_->set_deadline(std::chrono::system_clock::now() + kPatience);
    return *context_;
  }

  const std::unique_ptr<wire::Collection::Stub> stub_;
  const std::uint64_t first_;
  Random random_;
  std::optional<grpc::ClientContext> context_;
};

/// Writers of many lives, one after the other, of which each goes on with the ids of the fourth
/// before it: were there more and more rows, a search would miss one in some 50,000.
class Writers {
 public:
  Writer& next(const std::shared_ptr<grpc::Channel>& channel) {
    const std::uint64_t place = count_ % writers_.size();
    const auto former = std::move(writers_[place]);
    writers_[place] = std::make_unique<Writer>(channel, place + 1, count_++, former.get());
    return *writers_[place];
  }
  /// Of all ids.
  void for_each(const std::function<void(const Writer&)>& visit) const {
    for (const auto& writer : writers_) {
      if (writer != nullptr) visit(*writer);
    }
  }

 private:
  std::array<std::unique_ptr<Writer>, 4> writers_;
  std::uint64_t count_ = 0;
};

}  // namespace farvec::tests
