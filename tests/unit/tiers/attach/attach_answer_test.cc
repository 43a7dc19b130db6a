#include "tiers/attach/attach_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace farvec::tiers {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Answer = memory_node::v1::AttachResponse;

Answer sound() {
  Answer answer;
  answer.set_lease_id(std::string(16, 'l'));
  answer.set_lease_ms(10'000);
  answer.add_regions()->set_bytes(4096);
  answer.mutable_verbs()->set_host("10.0.0.1");
  answer.mutable_verbs()->set_port(18515);
  return answer;
}

TEST(AttachAnswer, EveryKindOfGrantCanBe) {
  EXPECT_THAT(fault_of(sound()), IsEmpty());
  Answer mapped = sound();
  mapped.mutable_mapped()->set_socket_path("/run/grant");
  EXPECT_THAT(fault_of(mapped), IsEmpty());
  Answer none = sound();
  none.clear_grant();
  EXPECT_THAT(fault_of(none), IsEmpty()) << "whoever reads says what it lacks";
}

TEST(AttachAnswer, WhatCannotBeIsNamed) {
  using Change = std::function<void(Answer&)>;
  const std::vector<std::pair<const char*, Change>> wrong{
      {"lease id of 0 bytes", [](auto& answer) { answer.clear_lease_id(); }},
      {"lease id of 17 bytes", [](auto& answer) { answer.set_lease_id(std::string(17, 'l')); }},
      {"lease_ms 0", [](auto& answer) { answer.set_lease_ms(0); }},
      {"0 regions", [](auto& answer) { answer.clear_regions(); }},
      {"17 regions",
       [](auto& answer) {
         while (answer.regions_size() < 17) answer.add_regions()->set_bytes(1);
       }},
      {"at offset 18446744073709551615",
       [](auto& answer) { answer.mutable_regions(0)->set_offset(~0ull); }},
      {"socket_path", [](auto& answer) { answer.mutable_mapped(); }},
      {"empty host", [](auto& answer) { answer.mutable_verbs()->clear_host(); }},
      {"port 0", [](auto& answer) { answer.mutable_verbs()->set_port(0); }},
      {"port 65536", [](auto& answer) { answer.mutable_verbs()->set_port(65'536); }}};
  for (const auto& [what, change] : wrong) {
    Answer answer = sound();
    change(answer);
    EXPECT_THAT(fault_of(answer), HasSubstr(what));
  }
}

}  // namespace
}  // namespace farvec::tiers
