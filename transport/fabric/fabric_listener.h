// A FabricListener is a memory node's end of libfabric. It has one endpoint per lease: readers'
// leases may read its regions, one lease may write.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "transport/fabric/grant.h"
#include "transport/fabric/poll_set.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"

namespace farvec::transport {

struct FabricListenerOptions {
  std::string provider;  ///< "tcp", "verbs;ofi_rxm", "shm", "efa", ...
  /// The address of one interface. Empty only for providers whose addresses are not those of IP
  /// interfaces (shm, efa): other providers would choose one that other machines may reach.
  std::string host;
  std::size_t max_grants = 256;
};

/// Each lease has its own domain, endpoint and registrations, with random keys where the provider
/// does not choose them: nothing in it serves another lease, and all of it is closed when the lease
/// ends. A reader's registrations can only be read (FI_REMOTE_READ), and neither its endpoint nor
/// its domain may be written. A writer's can be read and written, and cover only the writable
/// regions. The code that grants leases has to see that there is only one writer at a time. Where
/// the provider moves bytes only while it is called ("manual progress"), the listener's thread
/// calls it. The thread sleeps on the providers' descriptors or, where they have none, looks every
/// 50 us while there are grants.
class FabricListener {
 public:
  /// The regions' memory is borrowed and must outlive the listener. Throws Error when there is no
  /// such provider (naming those that there are), or when the host is not this machine's.
  FabricListener(FabricListenerOptions options, GrantedRegions regions, Authorise authorise,
                 WritableRegions writable = {});
  ~FabricListener();  ///< ends every grant
  FabricListener(const FabricListener&) = delete;
  FabricListener& operator=(const FabricListener&) = delete;

  /// Opens an endpoint and closes it again, so that a problem shows now and not when a client
  /// comes. Returns the provider's own name. Throws Error like the constructor; also when the host
  /// is missing, or is not a single address (0.0.0.0): clients are told where to connect.
  static std::string probe(const FabricListenerOptions& options);

  /// Opens an endpoint for the lease. The lease is for writing when the writable regions'
  /// `authorise` says so. Returns what its client has to know, encoded by encode_grant(). From then
  /// on the lease is checked every 50 ms, and the grant ends when it is not held. Any thread. Pins
  /// the regions where the device needs it, which takes time. Throws Error.
  std::string grant(const GrantLease& lease);
  /// Closes the endpoints of a lease: their keys are invalid when this returns. Any thread.
  void revoke(const GrantLease& lease);
  std::size_t grants() const;
  /// Returns the provider's own name: "tcp;ofi_rxm".
  const std::string& description() const { return description_; }

 private:
  struct Client;
  using Clients = std::map<std::uint64_t, std::unique_ptr<Client>>;

  /// A Pace is what the thread does until its next turn.
  enum class Pace { wait, nap, go_on };

  std::unique_ptr<Client> open_client(const GrantLease& lease) const;
  const GrantedRegions& regions_of(const Client& client) const;
  FabricGrant describe(const Client& client) const;
  bool is_authorised(const Client& client) const;
  void add(std::unique_ptr<Client> client);
  void run();
  static void serve(Client& client);
  Pace serve_others(bool all);
  /// Removes the matching clients and returns them. The caller destroys them without the lock,
  /// because that may take long.
  template <typename Condition>
  Clients take(Condition condition);

  const FabricListenerOptions options_;
  const GrantedRegions regions_;
  const Authorise authorise_;
  const GrantedRegions writable_;
  const Authorise authorise_writer_;  ///< empty: there are no writers
  std::string description_;
  PollSet ready_;
  /// Held, before mutex_, by code that removes clients until they are closed. So revoke() also
  /// waits for a lease that the thread is just ending.
  std::mutex closing_mutex_;
  mutable std::mutex mutex_;  ///< guards what follows, and every client's port
  Clients clients_;
  std::uint64_t next_client_ = 1;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace farvec::transport
