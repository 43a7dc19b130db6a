#include "measure/bench/fio.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "measure/program.h"

namespace farvec::measure {
namespace {

constexpr const char* kReport = R"(note: something first
{"fio version": "fio-3.33", "jobs": [{"error": 0, "read": {"iops": 40123.5,
 "lat_ns": {"mean": 24500.5, "percentile": {"50.000000": 23000, "99.000000": 61000}}}}]})";

TEST(Fio, ReadsItsReport) {
  const FioResult result = parse_fio(kReport);
  EXPECT_DOUBLE_EQ(result.reads_per_s, 40123.5);
  EXPECT_DOUBLE_EQ(result.mean_us, 24.5005);
  EXPECT_DOUBLE_EQ(result.p50_us, 23);
  EXPECT_DOUBLE_EQ(result.p99_us, 61);
}

TEST(Fio, AReportThatIsNoneIsNamed) {
  EXPECT_THROW(parse_fio(""), Error);
  EXPECT_THROW(parse_fio("fio: failed"), Error);
  EXPECT_THROW(parse_fio("{"), Error);
  EXPECT_THROW(parse_fio("{\"jobs\": []}"), Error);
  EXPECT_THROW(parse_fio("{\"jobs\": [{\"error\": 5}]}"), SystemError);
}

TEST(Fio, IsSetAsOursIs) {
  const auto options = fio_options({.path = "/x", .depth = 32, .threads = 2, .run_ms = 250});
  EXPECT_THAT(options, testing::IsSupersetOf({"--filename=/x", "--iodepth=32", "--numjobs=2",
                                              "--bs=4096", "--direct=1", "--runtime=250ms",
                                              "--ioengine=io_uring", "--readonly"}));
  const auto mixed = fio_options({.path = "/x", .small_bytes = 512, .small_share = 0.9});
  EXPECT_THAT(mixed, testing::Contains("--bssplit=512/90:4096/10"));
}

TEST(Program, GivesItsOutputAndItsStatus) {
  const ProgramResult result = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, 60e3);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, 60e3).status, 128 + 9);
}

TEST(Program, ThatIsNotThere) {
  EXPECT_THROW(run_program({"/nonexistent/fio"}, 60e3), SystemError);
}

TEST(Program, ThatDoesNotEndIsKilled) {
  EXPECT_THROW(run_program({"sleep", "600"}, 20), Error);
}

}  // namespace
}  // namespace farvec::measure
