// What an endpoint costs its caller: a post of one read, an empty poll, a read from post to poll.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::transport {
namespace {

constexpr std::uint64_t kRegionBytes = 64u << 20;

std::shared_ptr<const RegionSet> make_regions() {
  const int fd = memfd_create("farvec-bench", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, kRegionBytes) != 0) throw SystemError(errno, "cannot make a memfd");
  RegionSet regions;
  regions.push_back(MappedRegion::map_fd(fd, 0, Access::read_write));
  close(fd);
  for (std::byte& byte : regions[0].writable_bytes()) byte = std::byte{1};
  return std::make_shared<const RegionSet>(std::move(regions));
}

std::unique_ptr<Endpoint> make_mapped() {
  return std::make_unique<MappedEndpoint>(make_regions());
}
std::unique_ptr<Endpoint> make_emulated(const char* model) {
  return std::make_unique<EmulatedEndpoint>(make_mapped(),
                                            std::make_shared<Device>(parse_device_model(model)));
}

void empty_poll(benchmark::State& state, Endpoint& endpoint) {
  Completion completions[16];
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(endpoint.poll(completions));
}

// 16 reads of 256 B posted one by one, then polled: time per read, the model's own waiting included
// only where the device is the bound.
void read(benchmark::State& state, Endpoint& endpoint) {
  constexpr std::size_t kReads = 16;
  std::vector<std::byte> buffer(kReads * 256);
  std::vector<Completion> completions(kReads);
  Random random(1);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < kReads; ++i) {
      const ReadRequest request{.bytes = 256,
                                .offset = random.below(kRegionBytes - 256),
                                .destination = &buffer[i * 256]};
      if (!endpoint.post({&request, 1}).ok()) state.SkipWithError("post");
    }
    for (std::size_t done = 0; done < kReads;) done += endpoint.poll(completions);
  }
  state.SetItemsProcessed(state.iterations() * kReads);
}

// Only the post is timed.
void post_one(benchmark::State& state, Endpoint& endpoint) {
  std::vector<Completion> completions(512);
  Random random(1);
  while (state.KeepRunningBatch(512)) {
    for (int i = 0; i < 512; ++i) {
      const ReadRequest request{.bytes = 64, .offset = random.next() % 4096 * 64};
      if (!endpoint.post({&request, 1}).ok()) state.SkipWithError("post");
    }
    state.PauseTiming();
    for (std::size_t done = 0; done < 512;) done += endpoint.poll(completions);
    state.ResumeTiming();
  }
}

void mapped_read(benchmark::State& state) {
  read(state, *make_mapped());
}
void mapped_post(benchmark::State& state) {
  post_one(state, *make_mapped());
}
void rdma_read(benchmark::State& state) {
  read(state, *make_emulated("rdma"));
}
void rdma_post(benchmark::State& state) {
  post_one(state, *make_emulated("rdma"));
}
void instant_read(benchmark::State& state) {
  read(state, *make_emulated("latency=1ns,bandwidth=1000GB/s,rate=10G/s"));
}
void rdma_poll_empty(benchmark::State& state) {
  empty_poll(state, *make_emulated("rdma"));
}
void rdma_poll_not_ready(benchmark::State& state) {
  const auto endpoint = make_emulated("rdma,latency=60000ms");
  const ReadRequest request{.bytes = 64};
  if (!endpoint->post({&request, 1}).ok()) state.SkipWithError("post");
  empty_poll(state, *endpoint);
}
BENCHMARK(mapped_post);
BENCHMARK(mapped_read);
BENCHMARK(rdma_post);
BENCHMARK(rdma_read);
BENCHMARK(instant_read);
BENCHMARK(rdma_poll_empty);
BENCHMARK(rdma_poll_not_ready);

}  // namespace
}  // namespace farvec::transport
