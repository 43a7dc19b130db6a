#include "transport/fabric/fabric_listener.h"

#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookPeriod{50};
/// The time between two looks at providers without descriptors: a few hundredths of a processor,
/// and some 1% more per grant.
constexpr std::chrono::microseconds kNap{50};
constexpr int kMaxRounds = 64;
constexpr int kKeyTries = 8;

/// Not larger than the provider's keys.
std::uint64_t random_key(std::size_t key_bytes) {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof(key), 0) != sizeof(key)) {
    throw SystemError(errno, "getting a random key from the kernel");
  }
  return key_bytes >= sizeof(key) ? key : key & ((std::uint64_t{1} << (8 * key_bytes)) - 1);
}

FabricRegion register_remote(FabricPort& port, std::span<const std::byte> memory,
                             std::uint64_t access) {
  int error = 0;
  for (int i = 0; i < kKeyTries; ++i) {
    const std::uint64_t key = random_key(port.info().domain_attr->mr_key_size);
    FabricRegion region = port.register_memory(memory, access, key, error);
    if (region) return region;
    if (error != -FI_ENOKEY) break;  // the key is not the problem
  }
  throw Error(
      "registering {} bytes with libfabric's provider {}: {} (when it is out of memory, "
      "raise the limit on locked memory: ulimit -l, LimitMEMLOCK= in a unit)",
      memory.size(), port.info().fabric_attr->prov_name, fabric_error(error));
}

/// The rights of a peer.
std::uint64_t access_of(bool writes) {
  return writes ? FI_REMOTE_READ | FI_REMOTE_WRITE : FI_REMOTE_READ;
}

FabricQuery listener_query(const FabricListenerOptions& options, bool writes) {
  FabricQuery query;
  query.provider = options.provider;
  query.capabilities = FI_RMA | access_of(writes);
  query.host = options.host;
  return query;
}

bool stands_for_every_interface(std::span<const std::byte> address) {
  sockaddr_storage place{};
  std::memcpy(&place, address.data(), std::min(address.size(), sizeof(place)));
  if (place.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(place).sin_addr.s_addr == htonl(INADDR_ANY);
  }
  return place.ss_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(place).sin6_addr);
}

void require_one_interface(const FabricPort& port, const FabricListenerOptions& options) {
  const std::uint32_t format = port.info().addr_format;
  if (format != FI_SOCKADDR && format != FI_SOCKADDR_IN && format != FI_SOCKADDR_IN6) return;
  if (!options.host.empty() && !stands_for_every_interface(port.address())) return;
  throw Error(
      "{} goes over this machine's network interfaces: give the address of one, {}:HOST "
      "(127.0.0.1 for clients of this machine alone). A client is told one address, so there is "
      "no listening on every interface",
      port.info().fabric_attr->prov_name, options.provider);
}

}  // namespace

struct FabricListener::Client {
  Client(FabricInfo info, const GrantLease& held, bool is_writer)
      : lease(held), writes(is_writer), port(std::move(info), true) {}
  /// Closes the connection first, where the provider allows it: a read without its registration
  /// would be told that it is not allowed, and not that the lease is over.
  ~Client() {
    if (!port.has_mode(FI_MR_ENDPOINT)) port.close_endpoint();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const GrantLease lease;
  const bool writes;
  FabricWelcome welcome;
  FabricPort port;
  // Closed before the endpoint where they are bound to it.
  std::vector<FabricRegion> registered;
  FabricRegion registered_welcome;
  bool busy = false;  ///< has more to do than one turn allows
};

FabricListener::FabricListener(FabricListenerOptions options, GrantedRegions regions,
                               Authorise authorise, WritableRegions writable)
    : options_(std::move(options)),
      regions_(std::move(regions)),
      authorise_(std::move(authorise)),
      writable_(writable.regions.begin(), writable.regions.end()),
      authorise_writer_(std::move(writable.authorise)) {
  if (regions_.empty() || regions_.size() > kMaxGrantedRegions ||
      writable_.size() > kMaxGrantedRegions) {
    throw Error("{} regions, and {} for a writer, cannot be granted over libfabric: from 1 to {}",
                regions_.size(), writable_.size(), kMaxGrantedRegions);
  }
  description_ = probe(options_);
  thread_ = std::thread([this] { run(); });
}

std::string FabricListener::probe(const FabricListenerOptions& options) {
  try {
    const FabricPort port(query_fabric(listener_query(options, false)), true);
    require_one_interface(port, options);
    return port.info().fabric_attr->prov_name;
  } catch (const Error& error) {
    throw Error("listening with libfabric on {}: {}",
                options.host.empty() ? "the provider's own choice" : options.host, error.what());
  }
}

FabricListener::~FabricListener() {
  stop_.store(true, std::memory_order_relaxed);  // the thread sees it within one period
  thread_.join();
}

std::string FabricListener::grant(const GrantLease& lease) {
  if (grants() >= options_.max_grants) {
    throw Error("{} libfabric grants are out, the most that there may be", options_.max_grants);
  }
  auto client = open_client(lease);
  std::string bytes = encode_grant(describe(*client));
  add(std::move(client));
  return bytes;
}

/// Takes no lock: pinning memory may take long, and other clients go on reading.
std::unique_ptr<FabricListener::Client> FabricListener::open_client(const GrantLease& lease) const {
  const bool writes = authorise_writer_ && !writable_.empty() && authorise_writer_(lease);
  auto client =
      std::make_unique<Client>(query_fabric(listener_query(options_, writes)), lease, writes);
  const GrantedRegions& regions = regions_of(*client);
  client->welcome.regions = static_cast<std::uint16_t>(regions.size());
  client->welcome.lease = lease;
  for (const auto& region : regions) {
    client->registered.push_back(register_remote(client->port, region, access_of(writes)));
  }
  client->registered_welcome =
      register_remote(client->port, std::as_bytes(std::span(&client->welcome, 1)), FI_REMOTE_READ);
  return client;
}

const GrantedRegions& FabricListener::regions_of(const Client& client) const {
  return client.writes ? writable_ : regions_;
}

bool FabricListener::is_authorised(const Client& client) const {
  return client.writes ? authorise_writer_(client.lease) : authorise_(client.lease);
}

FabricGrant FabricListener::describe(const Client& client) const {
  const fi_info& info = client.port.info();
  FabricGrant grant;
  grant.provider = options_.provider;
  grant.protocol = info.ep_attr->protocol;
  grant.address_format = info.addr_format;
  grant.address = client.port.address();
  grant.max_message_bytes = info.ep_attr->max_msg_size;
  const auto* welcome = reinterpret_cast<const std::byte*>(&client.welcome);
  grant.welcome_address = client.port.remote_address(welcome);
  grant.welcome_key = fi_mr_key(client.registered_welcome.get());
  const GrantedRegions& regions = regions_of(client);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    grant.regions.push_back({client.port.remote_address(regions[i].data()), regions[i].size(),
                             fi_mr_key(client.registered[i].get())});
  }
  return grant;
}

void FabricListener::add(std::unique_ptr<Client> client) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = next_client_++;
  const int descriptor = client->port.descriptor();
  if (descriptor >= 0) ready_.add(descriptor, number);
  serve(*client);
  clients_.emplace(number, std::move(client));
}

void FabricListener::run() {
  std::array<epoll_event, 32> events;
  auto next_look = Clock::now();
  auto pace = Pace::wait;
  while (!stop_.load(std::memory_order_relaxed)) {
    const int timeout = pace == Pace::wait ? static_cast<int>(kLookPeriod.count()) : 0;
    const std::size_t count = ready_.wait(events, timeout);
    if (pace == Pace::nap) std::this_thread::sleep_for(kNap);
    // While revoke() closes clients, the look waits for the next turn.
    std::unique_lock closing(closing_mutex_, std::defer_lock);
    const bool look = Clock::now() >= next_look && closing.try_lock();
    Clients ended;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = clients_.find(events[i].data.u64);
      if (found != clients_.end()) serve(*found->second);
    }
    if (look) {
      next_look = Clock::now() + kLookPeriod;
      ended = take([this](const Client& client) { return !is_authorised(client); });
    }
    pace = serve_others(look);
  }
}

/// Serves the clients that were not ready; those that were have been served.
FabricListener::Pace FabricListener::serve_others(bool all) {
  Pace pace = Pace::wait;
  for (auto& [number, client] : clients_) {
    const bool napped_for = client->port.descriptor() < 0;
    if (all || client->busy || napped_for) serve(*client);
    if (client->busy) {
      pace = Pace::go_on;
    } else if (napped_for && pace == Pace::wait) {
      pace = Pace::nap;
    }
  }
  return pace;
}

/// Lets the provider move bytes until it has no more to do; then its descriptor may be waited for.
void FabricListener::serve(Client& client) {
  FabricPort& port = client.port;
  client.busy = false;
  for (int i = 0; i < kMaxRounds; ++i) {
    std::array<fi_cq_entry, 8> ignored;  // reads by peers make no entries, but errors may
    if (fi_cq_read(&port.queue(), ignored.data(), ignored.size()) == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      (void)fi_cq_readerr(&port.queue(), &error, 0);
    }
    if (port.descriptor() < 0) return;
    fid* waited = &port.queue().fid;
    if (fi_trywait(&port.fabric(), &waited, 1) == FI_SUCCESS) return;
  }
  client.busy = true;
}

template <typename Condition>
FabricListener::Clients FabricListener::take(Condition condition) {
  Clients taken;
  for (auto next = clients_.begin(); next != clients_.end();) {
    const auto current = next++;
    if (!condition(*current->second)) continue;
    const int descriptor = current->second->port.descriptor();
    if (descriptor >= 0) ready_.remove(descriptor);
    taken.insert(clients_.extract(current));
  }
  return taken;
}

void FabricListener::revoke(const GrantLease& lease) {
  const std::lock_guard closing(closing_mutex_);
  Clients ended;
  const std::lock_guard lock(mutex_);
  ended = take([&](const Client& client) { return client.lease == lease; });
}

std::size_t FabricListener::grants() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

}  // namespace farvec::transport
