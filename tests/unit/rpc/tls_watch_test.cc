// What a server's log says about those whom it refuses. The handshakes are gRPC's own.
#include "rpc/tls_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <thread>

#include "tests/unit/rpc/tls_fixture.h"

namespace farvec::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What the process logs as long as this lives.
class LogCapture {
 public:
  LogCapture() : before_(spdlog::default_logger()) {
    sink_ = std::make_shared<Sink>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("captured", sink_));
  }
  ~LogCapture() { spdlog::set_default_logger(before_); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string text() const { return sink_->text(); }
  /// A refusal may be logged a moment after its client has seen it.
  std::string text_with(const std::string& part) const {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (text().find(part) == std::string::npos && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
    return text();
  }

 private:
  class Sink : public spdlog::sinks::base_sink<std::mutex> {
   public:
    std::string text() {
      const std::lock_guard lock(mutex_);
      return text_;
    }

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      text_.append(message.payload.data(), message.payload.size());
      text_ += '\n';
    }
    void flush_() override {}

   private:
    std::string text_;
  };

  std::shared_ptr<spdlog::logger> before_;
  std::shared_ptr<Sink> sink_;
};

class TlsWatchTest : public TlsFixture {
 protected:
  /// Fails to connect with that pair, trusting our authority.
  void knock(TlsFiles files) const {
    files.authority = ours->files("node").authority;
    ConnectOptions options = with(load_unchecked(files));
    options.wait = 5s;
    EXPECT_NE(failure(*server_, options), "");
  }

  LogCapture log_;
  std::unique_ptr<Server> server_ = serve(ours->load("node"));
};

TEST_F(TlsWatchTest, SaysWhoWasRefusedAndWhy) {
  knock(ours->files("expired"));
  EXPECT_THAT(log_.text_with("expired"),
              AllOf(HasSubstr("refused 127.0.0.1:"), HasSubstr("certificate has expired"),
                    HasSubstr("CN=expired")));
  EXPECT_THAT(log_.text(), Not(HasSubstr("self-signed"))) << "and not for another reason";
  knock(foreign->files("client"));
  EXPECT_THAT(log_.text_with("CN=client"), HasSubstr("refused 127.0.0.1:"));
  EXPECT_THAT(log_.text(), Not(HasSubstr("gRPC")));
}

TEST_F(TlsWatchTest, SaysThatThereIsNoCertificateOrNoTls) {
  ConnectOptions plain;
  plain.wait = 5s;
  EXPECT_NE(failure(*server_, plain), "");
  EXPECT_THAT(log_.text_with("speak"), HasSubstr("it does not speak TLS"));
  // tls_trouble() of the connecting end has asked with TLS, and without a certificate.
  EXPECT_THAT(log_.text_with("shows no"), HasSubstr("it shows no certificate"));
}

TEST_F(TlsWatchTest, WhoIsTakenIsNotInTheLog) {
  EXPECT_NE(connect(server_->address(), with(ours->load("client"))), nullptr);
  EXPECT_EQ(log_.text(), "");
}

}  // namespace
}  // namespace farvec::rpc
