#include "transport/emulated/device_presets.h"

#include <array>

namespace farvec::transport {

// "Study": the second-tier memory study. Latency and bandwidth are its Table 1, blocks its section
// 4
// ("block size of 64 B, 64 B and 256 B respectively, SSD has a larger block size of 512 B"). What
// it gives as a curve or a loss alone is fitted, and says so: its figures 6 (bandwidth against
// payload) and 7 (reads of 128 B among larger ones, here of 4 KB) as far as its text has their
// numbers. docs/results/020 has the models beside the figures.

namespace {

/// BlueField-3, 200 Gb/s.
const DeviceModel kRdma{
    .name = "rdma",
    .latency_us = 2.8,       // Study, Table 1.
    .bandwidth_gbps = 25,    // Study, Tables 1 and 3.
    .requests_per_us = 100,  // A 200 Gb/s ConnectX-6 peaks at about 110 M small reads a second.
    .block_bytes = 64,       // Study, section 4.
    // Fitted to figure 6: the least payload within a tenth of the bandwidth is 4 KB, as of 228 to
    // 455 B. "Increased network protocol overhead for each request" (study, section 4): of a read
    // of 4 KB in packets of 1 KB, the request and four headers.
    .header_bytes = 250,
    // Fitted to figure 7: at most 48.8% lost, with half of the reads small. Assumed to be that one
    // queue pair's answers leave in order, so that a small read waits for, and breaks, a stream.
    .interruption_us = 0.150,
};

/// CXL 2.0 expander, PCIe 5.0 x8.
const DeviceModel kCxl{
    .name = "cxl",
    .latency_us = 0.3,     // Study, Table 1.
    .bandwidth_gbps = 32,  // Study, Tables 1 and 3.
    // Fitted to figure 6: reads of 128 B have all of the bandwidth and those of 64 B have not, as
    // of 250 to 450 M/s.
    .requests_per_us = 400,
    .block_bytes = 64,  // Study, section 4.
};

/// Eight Optane 200 modules.
const DeviceModel kNvm{
    .name = "nvm",
    .latency_us = 0.4,       // Study, Table 1.
    .bandwidth_gbps = 60,    // Study, Tables 1 and 3.
    .requests_per_us = 234,  // Study, figure 6: 256 B at full bandwidth, 60 GB/s / 256 B.
    .block_bytes = 256,      // Study, section 4: the medium's own lines.
    // Fitted to figure 7: 37.5% lost with nine small reads of ten. Assumed to be that a small read
    // takes a line of a module's buffer, which a stream then fetches again.
    .interruption_us = 0.033,
};

/// Intel D7-P5520.
const DeviceModel kSsd{
    .name = "ssd",
    .latency_us = 75,       // Study, Table 1.
    .bandwidth_gbps = 5.3,  // Study, Table 1; equation 3: what reads of clusters are bound by.
    // Study, equation 2 (queries a second = reads a second / hops), with its section 3: 1,900
    // queries of 350 hops a second (665 K reads) to 15,200 of 37 (562 K). Reads of 4 KB at full
    // bandwidth, as figure 6 has them, would be 1.3 M/s: `ssd,rate=1.7M/s` redraws the figures.
    .requests_per_us = 0.6,
    .block_bytes = 512,  // Study, section 4.
};

}  // namespace

std::span<const DeviceModel> device_presets() {
  static const std::array all = {kRdma, kCxl, kNvm, kSsd};
  return all;
}

}  // namespace farvec::transport
