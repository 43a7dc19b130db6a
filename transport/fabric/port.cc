#include "transport/fabric/port.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "base/error.h"

namespace farvec::transport {
namespace {

/// Debian 12 and Ubuntu 24.04 have 1.17.
constexpr std::uint32_t kApiVersion = FI_VERSION(1, 15);
/// Since this version `tcp` is the code that was `net` before.
constexpr std::uint32_t kSoundTcp = FI_VERSION(1, 18);
constexpr int kServedMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT;

char* duplicate(const std::string& text) {
  return strdup(text.c_str());  // fi_freeinfo() frees it
}

FabricInfo make_hints(const FabricQuery& query) {
  FabricInfo hints(fabric_library().dupinfo(nullptr));
  if (!hints) throw Error("out of memory for libfabric");
  hints->caps = query.capabilities;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;  // every request has room for the provider's own notes
  hints->addr_format = query.address_format;
  hints->tx_attr->op_flags = query.transmit_flags;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = kServedMemoryModes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  if (!query.provider.empty())
    hints->fabric_attr->prov_name = duplicate(provider_for(query.provider));
  if (!query.peer.empty()) {
    hints->dest_addr = std::malloc(query.peer.size());
    if (hints->dest_addr == nullptr) throw Error("out of memory for libfabric");
    std::memcpy(hints->dest_addr, query.peer.data(), query.peer.size());
    hints->dest_addrlen = query.peer.size();
  }
  return hints;
}

/// Null when there is no answer; then `error` has the reason.
FabricInfo ask(const FabricQuery& query, int& error) {
  const FabricInfo hints = make_hints(query);
  const KeptSignalHandlers kept;  // the first call makes the providers initialise themselves
  fi_info* found = nullptr;
  const char* node = query.host.empty() ? nullptr : query.host.c_str();
  error = fabric_library().getinfo(kApiVersion, node, nullptr, node != nullptr ? FI_SOURCE : 0,
                                   hints.get(), &found);
  return FabricInfo(error == 0 ? found : nullptr);
}

template <typename Result>
void check(Result result, const char* step, const fi_info& info) {
  if (result == 0) return;
  throw Error("libfabric, provider {}: {}: {}", info.fabric_attr->prov_name, step,
              fabric_error(result));
}

std::set<std::string> provider_names() {
  FabricQuery query;
  query.capabilities = FI_RMA | FI_READ | FI_REMOTE_READ;
  int error = 0;
  const FabricInfo found = ask(query, error);
  std::set<std::string> names;
  for (const fi_info* info = found.get(); info != nullptr; info = info->next) {
    names.insert(info->fabric_attr->prov_name);
  }
  return names;
}

}  // namespace

std::string provider_for(const std::string& name) {
  if (name != "tcp" || FI_VERSION_GE(fabric_library().version(), kSoundTcp)) return name;
  static const bool has_net = provider_names().contains("net");
  return has_net ? "net" : name;
}

void wake_fabric() {
  static std::once_flag once;
  std::call_once(once, [] { (void)find_fabric({}); });
}

std::string fabric_providers() {
  std::string text;
  for (const std::string& name : provider_names()) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

FabricInfo find_fabric(const FabricQuery& query) {
  int ignored = 0;
  return ask(query, ignored);
}

FabricInfo query_fabric(const FabricQuery& query) {
  int error = 0;
  if (FabricInfo found = ask(query, error)) return found;
  FabricQuery anywhere;
  anywhere.provider = query.provider;
  anywhere.capabilities = query.capabilities;
  int ignored = 0;
  if (!ask(anywhere, ignored)) {
    throw Error("libfabric has no provider '{}' here that reads remote memory ({}); there are: {}",
                query.provider, fabric_error(error), fabric_providers());
  }
  if (!query.host.empty()) {
    throw Error(
        "libfabric's provider {} cannot listen on '{}': {} (give the address of one of "
        "this machine's interfaces)",
        query.provider, query.host, fabric_error(error));
  }
  throw Error("libfabric's provider {} has no way to the peer's address: {}", query.provider,
              fabric_error(error));
}

FabricPort::FabricPort(FabricInfo info, bool wants_descriptor) : info_(std::move(info)) {
  const KeptSignalHandlers kept;  // shm takes the signal handlers with its first endpoint
  fid_fabric* fabric = nullptr;
  check(fabric_library().fabric(info_->fabric_attr, &fabric, nullptr), "opening the fabric",
        *info_);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  check(fi_domain(fabric, info_.get(), &domain, nullptr), "opening a domain", *info_);
  domain_.reset(domain);
  fi_av_attr peers{};
  peers.type = info_->domain_attr->av_type;
  fid_av* opened = nullptr;
  check(fi_av_open(domain, &peers, &opened, nullptr), "making a table of peers", *info_);
  peers_.reset(opened);
  open_queue(wants_descriptor);
  fid_ep* endpoint = nullptr;
  check(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "making an endpoint", *info_);
  endpoint_.reset(endpoint);
  check(fi_ep_bind(endpoint, &peers_->fid, 0), "binding the table of peers", *info_);
  // Completions are asked for one by one: where their order is promised, not all are needed.
  check(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
        "binding the completion queue", *info_);
  check(fi_enable(endpoint), "enabling the endpoint", *info_);
}

void FabricPort::open_queue(bool wants_descriptor) {
  fi_cq_attr attributes{};
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  attributes.wait_obj = wants_descriptor ? FI_WAIT_FD : FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  int error = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (error != 0 && wants_descriptor) {
    attributes.wait_obj = FI_WAIT_NONE;
    wants_descriptor = false;
    error = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  }
  check(error, "making a completion queue", *info_);
  queue_.reset(queue);
  if (wants_descriptor && fi_control(&queue->fid, FI_GETWAIT, &descriptor_) != 0) descriptor_ = -1;
}

FabricRegion FabricPort::register_memory(std::span<const std::byte> memory, std::uint64_t access,
                                         std::uint64_t key, int& error) {
  fid_mr* opened = nullptr;
  error =
      fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, key, 0, &opened, nullptr);
  if (error != 0) return nullptr;
  FabricRegion region(opened);
  if (has_mode(FI_MR_ENDPOINT)) {
    error = fi_mr_bind(opened, &endpoint_->fid, 0);
    if (error == 0) error = fi_mr_enable(opened);
    if (error != 0) return nullptr;
  }
  return region;
}

std::uint64_t FabricPort::remote_address(const std::byte* begin) const {
  return has_mode(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(begin) : 0;
}

std::vector<std::byte> FabricPort::address() const {
  std::vector<std::byte> bytes(256);
  std::size_t size = bytes.size();
  check(fi_getname(&endpoint_->fid, bytes.data(), &size), "asking for the endpoint's address",
        *info_);
  bytes.resize(size);
  return bytes;
}

}  // namespace farvec::transport
