// Tier emulated: a modelled device in front of records in memory.
#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "tiers/kinds.h"
#include "tiers/memory_tier.h"
#include "tiers/node_tier.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::tiers {
namespace {

using transport::DeviceModel;

class EmulatedTier final : public Tier {
 public:
  EmulatedTier(std::unique_ptr<Tier> below, std::shared_ptr<transport::Device> device,
               std::uint32_t gap_bytes)
      : below_(std::move(below)), device_(std::move(device)), gap_bytes_(gap_bytes) {}

  std::string description() const override {
    return "emulated(" + transport::to_string(device_->model()) + ")";
  }
  void load() const override { below_->load(); }
  std::span<const std::byte> loads() const override {
    return device_->model().reached_by_loads() ? below_->loads() : std::span<const std::byte>();
  }
  std::shared_ptr<transport::Device> device() const override { return device_; }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return std::make_unique<transport::EmulatedEndpoint>(below_->make_endpoint(), device_);
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override {
    if (!below_->merge_gap_bytes()) return std::nullopt;
    return gap_bytes_;
  }
  bool alive() const override { return below_->alive(); }
  bool superseded() const override { return below_->superseded(); }
  std::vector<NodeSet::Member> memory_nodes() const override { return below_->memory_nodes(); }

 private:
  const std::unique_ptr<Tier> below_;
  const std::shared_ptr<transport::Device> device_;  ///< shared by all cores
  const std::uint32_t gap_bytes_;
};

class EmulatedSpec final : public TierSpec {
 public:
  explicit EmulatedSpec(const DeviceModel& model) : model_(model) {}

  std::string name() const override {
    const std::string part = model_.cores > 0 ? fmt::format(",cores={}", model_.cores) : "";
    if (model_.name != "custom") return "emulated:" + model_.name + part;
    std::string name =
        fmt::format("emulated:latency={}us,bandwidth={}GB/s,rate={}M/s,block={}", model_.latency_us,
                    model_.bandwidth_gbps, model_.requests_per_us, model_.block_bytes);
    if (model_.header_bytes > 0) name += fmt::format(",header={}", model_.header_bytes);
    if (model_.interruption_us > 0) {
      name += fmt::format(",interruption={}us", model_.interruption_us);
    }
    return name + part;
  }
  TierTraits traits() const override {
    return {.loads = model_.reached_by_loads(),
            .own_memory = true,
            .over_nodes = true,
            .bytes_per_request = model_.bytes_per_request()};
  }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    return std::make_unique<EmulatedTier>(below(context),
                                          context.device ? context.device : make_device(),
                                          traits().bytes_per_request);
  }
  std::shared_ptr<transport::Device> make_device() const override {
    return std::make_shared<transport::Device>(model_);
  }

 private:
  /// For an index in this process, the memory is private and in huge pages, which is what tier dram
  /// uses: so only the model makes a difference.
  std::unique_ptr<Tier> below(const TierContext& context) const {
    if (context.nodes == nullptr) {
      FARVEC_CHECK(context.memory != nullptr);
      return std::make_unique<MemoryTier>([memory = context.memory] { return memory->dram(); },
                                          "this process's DRAM", context);
    }
    if (model_.reached_by_loads() && context.nodes->regions() == nullptr) {
      throw Error(
          "--tier {}: loads need the index in one piece, and it is placed over {} memory "
          "nodes; take shm or emulated:rdma",
          name(), context.nodes->manifest().memory_nodes());
    }
    return std::make_unique<NodeTier>(context.nodes, *this);
  }

  const DeviceModel model_;
};

}  // namespace

TierSpecPointer read_emulated(std::string_view rest) {
  const std::string_view model = after_colon(rest);
  return model.empty() ? nullptr : emulated_tier(transport::parse_device_model(model));
}

TierSpecPointer emulated_tier(const DeviceModel& model) {
  return std::make_shared<const EmulatedSpec>(model);
}

}  // namespace farvec::tiers
