// Writes a sound answer for every way of reading.
#include <filesystem>
#include <span>
#include <string>

#include "rpc/memory_node.pb.h"
#include "tests/fuzz/seed_files.h"

namespace {

using Answer = farvec::memory_node::v1::AttachResponse;

void write(const std::filesystem::path& folder, const char* name, const Answer& answer) {
  const std::string bytes = answer.SerializeAsString();
  farvec::fuzz::write_seed(farvec::fuzz::seed_path(folder, "tiers_attach_answer_fuzz", name),
                           std::as_bytes(std::span(bytes)));
}

}  // namespace

int main(int argc, char** argv) {
  return farvec::fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    Answer answer;
    answer.set_lease_id(std::string(16, 'l'));
    answer.set_lease_ms(10'000);
    answer.set_generation(7);
    answer.set_manifest_json("{}");
    for (std::uint32_t id = 0; id < 3; ++id) {
      auto& region = *answer.add_regions();
      region.set_id(id);
      region.set_kind("codes");
      region.set_bytes(8192);
      region.set_offset(id * 8192);
    }
    answer.mutable_mapped()->set_socket_path("/run/grant.sock");
    write(folder, "mapped", answer);
    answer.mutable_verbs()->set_host("10.0.0.1");
    answer.mutable_verbs()->set_port(18515);
    write(folder, "verbs", answer);
    answer.mutable_fabric()->set_grant("grant");
    write(folder, "fabric", answer);
  });
}
