// Writes a valid grant.
#include <filesystem>
#include <span>
#include <string>

#include "tests/fuzz/seed_files.h"
#include "transport/fabric/grant.h"

int main(int argc, char** argv) {
  using namespace farvec;
  return fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    transport::FabricGrant grant;
    grant.provider = "tcp";
    grant.address.resize(16, std::byte{1});
    grant.max_message_bytes = 1u << 20;
    grant.regions = {{0x10000, 8192, 7}, {0x20000, 4096, 8}};
    const std::string bytes = transport::encode_grant(grant);
    fuzz::write_seed(fuzz::seed_path(folder, "transport_fabric_grant_fuzz", "tcp"),
                     std::as_bytes(std::span(bytes)));
  });
}
