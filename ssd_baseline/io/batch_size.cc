#include "ssd_baseline/io/batch_size.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

namespace farvec::ssd_baseline {
namespace {

/// Random reads one after the other into one buffer.
class LatencyMeter {
 public:
  LatencyMeter(DiskEngine& engine, const LatencyProbe& probe)
      : engine_(engine), probe_(probe), file_(*engine.files().at(probe.file)), random_(probe.seed) {
    if (file_.size() == 0 || probe.reads == 0 || probe.bytes == 0) {
      throw Error("'{}' gives no latency: no reads, or none of any bytes", file_.path());
    }
    const std::size_t file_bytes = round_up(file_.size(), file_.block_bytes());
    bytes_ = std::min<std::size_t>(round_up(probe.bytes, file_.block_bytes()), file_bytes);
    places_ = (file_bytes - bytes_) / file_.block_bytes() + 1;
    buffer_ = HugeBuffer(bytes_);
  }

  double mean_us() {
    const Ticks begin = now_ticks();
    const Ticks end = begin + us_to_ticks(probe_.limit_us);
    std::uint32_t done = 0;
    Ticks now = begin;
    do {
      read_one(now + us_to_ticks(probe_.limit_us));
      now = now_ticks();
    } while (++done < probe_.reads && now < end);
    return ticks_to_us(now - begin) / done;
  }

 private:
  void read_one(Ticks deadline) {
    const DiskRead read{.offset = random_.below(places_) * file_.block_bytes(),
                        .destination = buffer_.data(),
                        .deadline = deadline,
                        .bytes = static_cast<std::uint32_t>(bytes_),
                        .file = probe_.file};
    if (const Status status = engine_.post({&read, 1}); !status.ok()) fail(status.code(), read);
    DiskCompletion completion;
    while (engine_.poll({&completion, 1}) == 0) {
    }
    if (completion.status != StatusCode::ok) fail(completion.status, read);
  }

  /// Closes the engine first when it may still write to the buffer, which goes now.
  [[noreturn]] void fail(StatusCode code, const DiskRead& read) {
    if (engine_.outstanding() > 0) engine_.close();
    throw Error("measuring the latency of '{}': a read of {} bytes at offset {} failed: {}",
                file_.path(), read.bytes, read.offset, to_string(code));
  }

  DiskEngine& engine_;
  const LatencyProbe& probe_;
  const DiskFile& file_;
  Random random_;
  std::size_t bytes_ = 0;
  std::uint64_t places_ = 0;
  HugeBuffer buffer_;
};

}  // namespace

double mean_read_latency_us(DiskEngine& engine, const LatencyProbe& probe) {
  return LatencyMeter(engine, probe).mean_us();
}

std::uint32_t batch_size(const BatchModel& model) {
  if (!(model.compute_us > 0)) return std::max(model.most, 1u);
  const double wanted = std::ceil(model.alpha * model.latency_us / model.compute_us);
  // Compared so that what is no number gives 1.
  if (!(wanted > 1)) return 1;
  return wanted < model.most ? static_cast<std::uint32_t>(wanted) : std::max(model.most, 1u);
}

}  // namespace farvec::ssd_baseline
