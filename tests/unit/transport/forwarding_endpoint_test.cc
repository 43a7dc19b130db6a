#include "transport/forwarding_endpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::transport {
namespace {

/// Answers every question with a value of its own and notes what it is told.
class Answers final : public Endpoint {
 public:
  explicit Answers(std::vector<std::string>& told) : told_(told) {}
  void register_memory(std::span<std::byte> /*memory*/) override { told_.push_back("register"); }
  Status post(std::span<const ReadRequest> /*reads*/) override {
    return {StatusCode::not_found, "as asked"};
  }
  std::size_t poll(std::span<Completion> /*completions*/) override { return 7; }
  EndpointLimits limits() const override { return {11, 13}; }
  std::uint64_t region_bytes(RegionId region) const override { return 17 + region; }
  EndpointUse use() const override { return {19, 23, 29}; }
  std::string description() const override { return "answers"; }
  double coverage() const override { return 0.31; }
  void peer_lost() override { told_.push_back("lost"); }
  void close() override { told_.push_back("close"); }

 private:
  std::vector<std::string>& told_;
};

class Plain final : public ForwardingEndpoint {
 public:
  explicit Plain(std::unique_ptr<Endpoint> below) : ForwardingEndpoint(std::move(below)) {}
};

TEST(ForwardingEndpoint, PassesEveryCallOn) {
  std::vector<std::string> told;
  Plain endpoint(std::make_unique<Answers>(told));
  endpoint.register_memory({});
  EXPECT_EQ(endpoint.post({}).code(), StatusCode::not_found);
  EXPECT_EQ(endpoint.poll({}), 7u);
  EXPECT_EQ(endpoint.limits().max_outstanding, 11u);
  EXPECT_EQ(endpoint.limits().max_read_bytes, 13u);
  EXPECT_EQ(endpoint.region_bytes(2), 19u);
  EXPECT_EQ(endpoint.use().device_bytes, 29u);
  EXPECT_EQ(endpoint.description(), "answers");
  EXPECT_EQ(endpoint.coverage(), 0.31);
  endpoint.peer_lost();
  endpoint.close();
  EXPECT_EQ(told, (std::vector<std::string>{"register", "lost", "close"}));
}

/// What a device was asked for does not depend on what stands before it.
TEST(ForwardingEndpoint, DecoratorsTellTheUseOfWhatIsBelow) {
  std::vector<std::string> told;
  const EmulatedEndpoint emulated(std::make_unique<Answers>(told),
                                  std::make_shared<Device>(DeviceModel{"quick", 3, 10, 50, 64}));
  const FaultyEndpoint faulty(std::make_unique<Answers>(told));
  for (const Endpoint* endpoint :
       {static_cast<const Endpoint*>(&emulated), static_cast<const Endpoint*>(&faulty)}) {
    EXPECT_EQ(endpoint->use().dram_bytes, 19u);
    EXPECT_EQ(endpoint->use().device_reads, 23u);
    EXPECT_EQ(endpoint->use().device_bytes, 29u);
  }
}

}  // namespace
}  // namespace farvec::transport
