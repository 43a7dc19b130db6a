#include "rpc/unix_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::rpc {
namespace {

struct Pair {
  Pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) throw SystemError(errno, "socketpair");
    a.reset(fds[0]);
    b.reset(fds[1]);
  }
  Descriptor a, b;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(UnixSocket, DescriptorsArriveWithTheBytes) {
  Pair pair;
  tests::TemporaryFolder folder;
  std::ofstream(folder.file("x")) << "hello";
  const Descriptor file(open(folder.file("x").c_str(), O_RDONLY));
  const int fds[] = {file.get(), file.get()};
  send_message(pair.a.get(), bytes_of("abc"), fds);

  std::array<std::byte, 3> received{};
  const auto descriptors = receive_message(pair.b.get(), received);
  ASSERT_EQ(descriptors.size(), 2u);
  EXPECT_EQ(static_cast<char>(received[2]), 'c');
  char content[5];
  EXPECT_EQ(pread(descriptors[1].get(), content, 5, 0), 5);
  EXPECT_EQ(std::string(content, 5), "hello");
  EXPECT_NE(fcntl(descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(UnixSocket, ReceiveGathersPieces) {
  Pair pair;
  send_message(pair.a.get(), bytes_of("ab"), {});
  send_message(pair.a.get(), bytes_of("cd"), {});
  std::array<std::byte, 4> received{};
  EXPECT_TRUE(receive_message(pair.b.get(), received).empty());
  EXPECT_EQ(static_cast<char>(received[3]), 'd');
}

TEST(UnixSocket, ReceiveIsBoundedAndSeesTheEnd) {
  Pair pair;
  set_socket_timeout(pair.b.get(), std::chrono::milliseconds(20));
  std::array<std::byte, 4> received{};
  try {
    receive_message(pair.b.get(), received);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code, ETIMEDOUT);
  }
  send_message(pair.a.get(), bytes_of("ab"), {});
  pair.a.reset();
  try {
    receive_message(pair.b.get(), received);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code, ECONNRESET);
  }
}

TEST(UnixSocket, SendToAClosedPeerThrows) {
  Pair pair;
  pair.b.reset();
  EXPECT_THROW(send_message(pair.a.get(), bytes_of("ab"), {}), SystemError);
}

TEST(UnixSocket, ReplacesAStaleFileButNotAListener) {
  tests::TemporaryFolder folder;
  const std::string path = folder.file("s");
  EXPECT_FALSE(someone_listens(path));
  {
    const Descriptor first = listen_unix(path);
    EXPECT_TRUE(someone_listens(path));
    EXPECT_THROW(listen_unix(path), Error);
  }
  EXPECT_FALSE(someone_listens(path));
  EXPECT_TRUE(listen_unix(path).valid());
}

TEST(UnixSocket, LeavesAnotherFileAlone) {
  tests::TemporaryFolder folder;
  const std::string path = folder.file("data");
  std::ofstream(path) << "precious";
  EXPECT_THROW(listen_unix(path), Error);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST(UnixSocket, AFullBacklogIsNotWaitedForForEver) {
  tests::TemporaryFolder folder;
  const std::string path = folder.file("s");
  const Descriptor listener = listen_unix(path);
  std::vector<Descriptor> waiting;  // nobody accepts them
  try {
    while (waiting.size() < 10'000) {
      waiting.push_back(connect_unix(path, std::chrono::milliseconds(20)));
    }
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code, ETIMEDOUT);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
  EXPECT_FALSE(waiting.empty());
  EXPECT_TRUE(someone_listens(path));
}

TEST(UnixSocket, ConnectSaysWhere) {
  try {
    connect_unix("/nonexistent/socket");
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code, ENOENT);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/socket"), std::string::npos);
  }
}

}  // namespace
}  // namespace farvec::rpc
