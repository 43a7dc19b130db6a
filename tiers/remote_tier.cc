// Tiers verbs and fabric: records are read from memory nodes through a device.
#include <charconv>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "rpc/address.h"
#include "search/index/second_copy.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/placed_nodes.h"
#include "tiers/kinds.h"
#include "tiers/node_tier.h"

namespace farvec::tiers {
namespace {

/// The wait for memory nodes that are just coming up.
constexpr std::chrono::milliseconds kPatience{10'000};

/// Reads region 0 of one memory node: all of it, or what the index's placement gives to the node.
class BareNodeTier final : public Tier {
 public:
  explicit BareNodeTier(const AttachOptions& options) : attachment_(Attachment::attach(options)) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return attachment_->make_endpoint();
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override { return std::nullopt; }
  bool alive() const override { return attachment_->alive(); }

 private:
  const std::unique_ptr<Attachment> attachment_;
};

/// Throws Error unless the nodes have this second copy, of whatever index.
void require_same_second(const NodeSet& nodes, const search::SecondCopy& second,
                         const std::string& addresses) {
  const auto& theirs = nodes.manifest().second_copy;
  if (theirs && theirs->header_checksum == second.form().header_checksum()) return;
  throw Error("the memory node at {} does not have this second copy of the index's vectors: {}",
              addresses, theirs ? "it has another" : "it serves an index that has none");
}

/// Throws Error when the nodes serve another index than this one.
void require_same_index(const NodeSet& nodes, const TierContext& context,
                        const std::string& addresses) {
  const layout::IndexDirectory& directory = *context.memory->directory();
  const layout::Manifest& theirs = nodes.manifest();
  if (theirs.region(layout::kRecordsRegion).checksums !=
      directory.manifest().region(layout::kRecordsRegion).checksums) {
    throw Error("the memory node at {} serves another index ({}, {} vectors) than '{}'", addresses,
                theirs.dataset.name, theirs.count, directory.path().string());
  }
  if (theirs.placement) search::check_placement(*theirs.placement, *context.index);
  const search::SecondCopy* const second = context.index->second();
  if (second != nullptr && theirs.second_copy) require_same_second(nodes, *second, addresses);
}

class RemoteSpec final : public TierSpec {
 public:
  /// `path` has the addresses of the memory nodes' control planes, separated by commas; it is empty
  /// where they are known.
  RemoteSpec(ReadPath reads, std::string path) : reads_(std::move(reads)), path_(std::move(path)) {}

  std::string name() const override;
  ReadPath read_path() const override { return reads_; }
  TierTraits traits() const override {
    // The numbers allow for posting and polling a read, which takes a core tens of nanoseconds, and
    // microseconds on sockets.
    constexpr std::uint32_t kVerbs = 1024;
    constexpr std::uint32_t kFabric = 4096;
    return {.over_nodes = path_.empty(),
            .spans_nodes = path_.find(',') != std::string::npos,
            .bytes_per_request = reads_.kind == ReadPathKind::verbs ? kVerbs : kFabric};
  }

  std::unique_ptr<Tier> open(const TierContext& context) const override {
    if (context.nodes != nullptr) return std::make_unique<NodeTier>(context.nodes, *this);
    const PlacedNodesOptions options = placed_options(context.remote);
    if (context.index == nullptr && context.second == nullptr) return open_bare(options);
    auto nodes = std::make_shared<PlacedNodes>(options);
    nodes->wait_ready(kPatience);
    if (context.second != nullptr) {
      require_same_second(*nodes, *context.second, path_);
    } else {
      require_same_index(*nodes, context, path_);
    }
    return std::make_unique<NodeTier>(std::move(nodes), *this);
  }

 private:
  /// Returns "verbs" or "fabric:PROVIDER".
  std::string word() const {
    std::string word(to_string(reads_.kind));
    if (reads_.kind == ReadPathKind::fabric) word += ":" + reads_.provider;
    return word;
  }

  PlacedNodesOptions placed_options(const RemoteAccess& access) const {
    if (path_.empty()) {
      throw Error("--tier {0}: name the memory node, {0}:HOST:PORT or {0}:unix:PATH", word());
    }
    PlacedNodesOptions options;
    options.addresses = rpc::parse_addresses(path_);
    options.await_absent = false;
    options.attach.client = "farvec";
    options.attach.reads = reads_;
    options.attach.tls = rpc::load_tls(access.tls);
    options.attach.tuning = access.tuning;
    options.attach.cores = access.cores;
    return options;
  }

  static std::unique_ptr<Tier> open_bare(const PlacedNodesOptions& nodes) {
    if (nodes.addresses.size() > 1) throw Error("a bench reads one memory node: name one");
    AttachOptions attach = nodes.attach;
    attach.memory_node = nodes.addresses.front();
    return std::make_unique<BareNodeTier>(attach);
  }

  const ReadPath reads_;
  const std::string path_;
};

std::string RemoteSpec::name() const {
  std::string text = word();
  if (!path_.empty()) text += ":" + path_;
  const transport::VerbsDevice& device = reads_.device;
  if (!device.name.empty()) text += ",device=" + device.name;
  if (device.gid_index) text += fmt::format(",gid={}", *device.gid_index);
  if (device.read_budget > 0) text += fmt::format(",reads={}", device.read_budget);
  return text;
}

/// Takes ",device=NAME", ",gid=INDEX" and ",reads=BUDGET" off the end. Throws Error for any other
/// option, and when one is given twice.
std::string_view take_device(std::string_view text, transport::VerbsDevice& device) {
  for (std::size_t comma = 0; (comma = text.rfind(',')) != std::string_view::npos;) {
    const std::string_view part = text.substr(comma + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.find(':') != std::string_view::npos) break;
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
    const bool is_number = error == std::errc() && end == value.end();
    if (key == "device" && !value.empty() && device.name.empty()) {
      device.name = value;
    } else if (key == "gid" && is_number && !device.gid_index) {
      device.gid_index = number;
    } else if (key == "reads" && is_number && number > 0 && device.read_budget == 0) {
      device.read_budget = number;
    } else {
      throw Error("'{}': verbs takes device=NAME, gid=INDEX and reads=BUDGET, each once", part);
    }
    text = text.substr(0, comma);
  }
  return text;
}

}  // namespace

TierSpecPointer read_verbs(std::string_view rest) {
  ReadPath reads{.kind = ReadPathKind::verbs};
  rest = take_device(rest, reads.device);
  const std::string_view path = after_colon(rest);
  if (path.empty() && !rest.empty()) return nullptr;
  return std::make_shared<const RemoteSpec>(std::move(reads), std::string(path));
}

/// Reads PROVIDER or PROVIDER:ADDRESS; an address may hold colons.
TierSpecPointer read_fabric(std::string_view rest) {
  rest = after_colon(rest);
  const std::size_t colon = rest.find(':');
  const std::string_view provider = rest.substr(0, colon);
  const bool has_path = colon != std::string_view::npos;
  const std::string_view path = has_path ? rest.substr(colon + 1) : std::string_view();
  if (provider.empty() || has_path == path.empty()) return nullptr;
  return std::make_shared<const RemoteSpec>(
      ReadPath{.kind = ReadPathKind::fabric, .provider = std::string(provider)}, std::string(path));
}

}  // namespace farvec::tiers
