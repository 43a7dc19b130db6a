#include "transport/emulated/device_presets.h"

#include <array>

namespace farvec::transport {

// "Study" means the second-tier memory study. Latency and bandwidth are from its Table 1, blocks
// from its section 4 ("block size of 64 B, 64 B and 256 B respectively, SSD has a larger block size
// of 512 B"). Numbers that the study gives only as a curve or a loss are fitted, and their comments
// say so. They are fitted to its figures 6 (bandwidth against payload) and 7 (reads of 128 B among
// larger ones, here of 4 KB), as far as its text has the numbers of these figures. docs/results/020
// shows the models beside the figures.

namespace {

/// BlueField-3, 200 Gb/s.
const DeviceModel kRdma{
    .name = "rdma",
    .latency_us = 2.8,       // Study, Table 1.
    .bandwidth_gbps = 25,    // Study, Tables 1 and 3.
    .requests_per_us = 100,  // A 200 Gb/s ConnectX-6 peaks at about 110 M small reads a second.
    .block_bytes = 64,       // Study, section 4.
    // Fitted to figure 6: the least payload within a tenth of the bandwidth is 4 KB, which headers
    // of 228 to 455 B give. "Increased network protocol overhead for each request" (study, section
    // 4): for a read of 4 KB in packets of 1 KB, these are the request and four headers.
    .header_bytes = 250,
    // Fitted to figure 7: at most 48.8% is lost, when half of the reads are small. The assumed
    // cause is that one queue pair's answers leave in order, so that a small read waits for a
    // stream and breaks it.
    .interruption_us = 0.150,
};

/// CXL 2.0 expander, PCIe 5.0 x8.
const DeviceModel kCxl{
    .name = "cxl",
    .latency_us = 0.3,     // Study, Table 1.
    .bandwidth_gbps = 32,  // Study, Tables 1 and 3.
    // Fitted to figure 6: reads of 128 B have all of the bandwidth and reads of 64 B do not, which
    // rates of 250 to 450 M/s give.
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
    // Fitted to figure 7: 37.5% is lost when nine of ten reads are small. The assumed cause is that
    // a small read takes a line of a module's buffer, which a stream then fetches again.
    .interruption_us = 0.033,
};

/// Intel D7-P5520.
const DeviceModel kSsd{
    .name = "ssd",
    .latency_us = 75,       // Study, Table 1.
    .bandwidth_gbps = 5.3,  // Study, Table 1; equation 3: it limits reads of clusters.
    // Study, equation 2 (queries a second = reads a second / hops), with its section 3: from 1,900
    // queries a second of 350 hops (665 K reads) to 15,200 of 37 hops (562 K). Figure 6 has reads
    // of 4 KB at full bandwidth, which would be 1.3 M/s: `ssd,rate=1.7M/s` redraws the figures.
    .requests_per_us = 0.6,
    .block_bytes = 512,  // Study, section 4.
};

}  // namespace

std::span<const DeviceModel> device_presets() {
  static const std::array all = {kRdma, kCxl, kNvm, kSsd};
  return all;
}

}  // namespace farvec::transport
