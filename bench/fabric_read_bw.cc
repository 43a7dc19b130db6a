// A bare loop of libfabric reads, beside which `farvec bench transport` shows what an endpoint
// adds. It does what fi_rma_bw of the fabtests does, which Debian does not have: a process that
// serves one buffer, and looks all the time unless it is told to wait, and one that reads it.
#include <poll.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/error.h"
#include "transport/fabric/port.h"

namespace farvec::transport {
namespace {

constexpr double kPatienceUs = 10e6;  ///< without any completion

struct Options {
  std::string provider = "tcp";
  std::string host = "127.0.0.1";
  std::uint32_t payload = 256;
  std::uint32_t depth = 64;
  std::uint32_t refill = 1;
  double seconds = 1;
  bool wait = false;
};

/// Where the reads go, as the serving process tells it.
struct Target {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint32_t format = 0;
  std::uint32_t endpoint_bytes = 0;
  std::array<std::byte, 256> endpoint{};
};

/// Reader and server each have a processor where there are two.
void pin(std::size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  (void)sched_setaffinity(0, sizeof(set), &set);
}

FabricRegion require_memory(FabricPort& port, std::span<const std::byte> memory,
                            std::uint64_t access) {
  int error = 0;
  FabricRegion region = port.register_memory(memory, access, 1, error);
  if (!region) throw Error("registering {} bytes: {}", memory.size(), fabric_error(error));
  return region;
}

/// Until the provider has something to do; at once where it has no descriptor.
void wait_for(FabricPort& port) {
  fid* waited = &port.queue().fid;
  if (port.descriptor() < 0 || fi_trywait(&port.fabric(), &waited, 1) != FI_SUCCESS) return;
  pollfd ready{port.descriptor(), POLLIN, 0};
  (void)poll(&ready, 1, 50);
}

/// Until it is killed.
[[noreturn]] void serve(const Options& options, int out) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(1);
  FabricQuery query;
  query.provider = options.provider;
  query.capabilities = FI_RMA | FI_REMOTE_READ;
  query.host = options.host;
  FabricPort port(query_fabric(query), options.wait);
  const std::vector<std::byte> memory(options.payload, std::byte{1});
  const FabricRegion region = require_memory(port, memory, FI_REMOTE_READ);
  const std::vector<std::byte> endpoint = port.address();
  Target target{port.remote_address(memory.data()),
                fi_mr_key(region.get()),
                port.info().addr_format,
                static_cast<std::uint32_t>(endpoint.size()),
                {}};
  std::copy(endpoint.begin(), endpoint.end(), target.endpoint.begin());
  if (write(out, &target, sizeof(target)) != sizeof(target)) _exit(1);
  for (;;) {
    fi_cq_entry ignored;
    (void)fi_cq_read(&port.queue(), &ignored, 1);
    if (options.wait) wait_for(port);
  }
}

class Reader {
 public:
  Reader(const Options& options, const Target& target)
      : options_(options),
        target_(target),
        port_(query_fabric(query_of(options, target)), false),
        buffer_(std::size_t{options.depth} * options.payload),
        region_(require_memory(port_, buffer_, FI_READ)),
        contexts_(options.depth) {
    if (fi_av_insert(&port_.peers(), target.endpoint.data(), 1, &peer_, 0, nullptr) != 1) {
      throw Error("the provider does not take the server's address");
    }
    for (fi_context2& context : contexts_) free_.push_back(&context);
  }

  /// Reads per second, counted once every slot has been used.
  double run() {
    post_all();
    while (done_ < options_.depth) turn();
    const std::uint64_t before = done_;
    const Ticks start = now_ticks();
    const Ticks end = start + us_to_ticks(options_.seconds * 1e6);
    Ticks now = start;
    for (; now < end; now = now_ticks()) turn();
    const double rate = static_cast<double>(done_ - before) / ticks_to_us(now - start) * 1e6;
    while (free_.size() < options_.depth) reap();
    return rate;
  }

 private:
  static FabricQuery query_of(const Options& options, const Target& target) {
    FabricQuery query;
    query.provider = options.provider;
    query.capabilities = FI_RMA | FI_READ;
    query.address_format = target.format;
    query.peer = std::span(target.endpoint).first(target.endpoint_bytes);
    return query;
  }

  void turn() {
    reap();
    if (free_.size() >= options_.refill) post_all();
  }

  void post_all() {
    while (!free_.empty()) {
      const ssize_t result = post(*free_.back(), free_.size() > 1 ? FI_MORE : 0);
      if (result == -FI_EAGAIN) return;
      if (result != 0) throw Error("fi_readmsg: {}", fabric_error(result));
      free_.pop_back();
    }
  }

  ssize_t post(fi_context2& context, std::uint64_t more) {
    const auto slot = static_cast<std::size_t>(&context - contexts_.data());
    const iovec local{buffer_.data() + slot * options_.payload, options_.payload};
    const fi_rma_iov remote{target_.address, options_.payload, target_.key};
    void* descriptor = fi_mr_desc(region_.get());
    const fi_msg_rma message{&local, &descriptor, 1, peer_, &remote, 1, &context, 0};
    return fi_readmsg(&port_.endpoint(), &message, FI_COMPLETION | more);
  }

  void reap() {
    std::array<fi_cq_entry, 16> entries;
    const ssize_t count = fi_cq_read(&port_.queue(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return check_patience();
    if (count < 0) throw Error("fi_cq_read: {}", fabric_error(count));
    for (const fi_cq_entry& entry : std::span(entries).first(static_cast<std::size_t>(count))) {
      free_.push_back(static_cast<fi_context2*>(entry.op_context));
    }
    done_ += static_cast<std::uint64_t>(count);
    last_progress_ = now_ticks();
  }

  void check_patience() const {
    if (ticks_to_us(now_ticks() - last_progress_) > kPatienceUs) {
      throw Error("no read completed within {} s", kPatienceUs / 1e6);
    }
  }

  const Options& options_;
  const Target& target_;
  FabricPort port_;
  std::vector<std::byte> buffer_;
  FabricRegion region_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::vector<fi_context2> contexts_;
  std::vector<fi_context2*> free_;
  std::uint64_t done_ = 0;
  Ticks last_progress_ = now_ticks();
};

Target start_server(const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) throw SystemError(errno, "making a pipe");
  const pid_t server = fork();
  if (server < 0) throw SystemError(errno, "starting the serving process");
  if (server == 0) {
    try {
      serve(options, ends[1]);
    } catch (const std::exception& error) {
      fmt::print(stderr, "fabric_read_bw: serving: {}\n", error.what());
      _exit(1);
    }
  }
  close(ends[1]);
  Target target;
  if (read(ends[0], &target, sizeof(target)) != sizeof(target)) {
    throw Error("the serving process ended");
  }
  close(ends[0]);
  return target;
}

int run(int argc, char** argv) {
  Options options;
  CommandLine app("Reads of one buffer through bare libfabric: prints reads per second.");
  app.add_option("--provider", options.provider, "libfabric's").show_default();
  app.add_option("--host", options.host, "An address of this machine").show_default();
  app.add_option("--payload", options.payload, "Bytes per read").positive();
  app.add_option("--depth", options.depth, "Reads in flight").positive();
  app.add_option("--refill", options.refill,
                 "Reads that have to have completed before more are posted; as many as --depth is "
                 "what fi_rma_bw does");
  app.add_flag("--wait", options.wait, "The server sleeps until there is something to do");
  app.add_option("--seconds", options.seconds, "Length").positive();
  if (const auto status = app.parse(argc, argv)) return *status;
  options.refill = std::clamp(options.refill, 1u, options.depth);
  try {
    const Target target = start_server(options);
    pin(0);
    Reader reader(options, target);
    fmt::print("{:.0f}\n", reader.run());
  } catch (const std::exception& error) {
    fmt::print(stderr, "fabric_read_bw: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace farvec::transport

int main(int argc, char** argv) {
  return farvec::transport::run(argc, argv);
}
