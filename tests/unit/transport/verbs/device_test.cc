#include "transport/verbs/device.h"

#include <gtest/gtest.h>

#include "transport/verbs/queue_pair.h"

namespace farvec::transport {
namespace {

ibv_async_event event_of(ibv_event_type type) {
  ibv_async_event event{};
  event.event_type = type;
  return event;
}

TEST(DeviceEvents, PortsAreTold) {
  ibv_async_event event = event_of(IBV_EVENT_PORT_ERR);
  event.element.port_num = 2;
  EXPECT_EQ(classify(event).kind, DeviceEventKind::port_down);
  EXPECT_EQ(classify(event).port, 2);
  event.event_type = IBV_EVENT_PORT_ACTIVE;
  EXPECT_EQ(classify(event).kind, DeviceEventKind::port_up);
  EXPECT_EQ(classify(event).port, 2);
}

TEST(DeviceEvents, FailedQueuesAreTold) {
  int queue = 0;
  for (const auto type : {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
                          IBV_EVENT_PATH_MIG_ERR}) {
    ibv_async_event event = event_of(type);
    event.element.qp = reinterpret_cast<ibv_qp*>(&queue);
    EXPECT_EQ(classify(event).kind, DeviceEventKind::queue_pair_failed);
    EXPECT_EQ(classify(event).object, &queue);
    EXPECT_EQ(classify(event).type, type);
  }
  ibv_async_event event = event_of(IBV_EVENT_CQ_ERR);
  event.element.cq = reinterpret_cast<ibv_cq*>(&queue);
  EXPECT_EQ(classify(event).kind, DeviceEventKind::completion_queue_failed);
  EXPECT_EQ(classify(event).object, &queue);
}

TEST(DeviceEvents, ADeviceThatIsGoneIsTold) {
  EXPECT_EQ(classify(event_of(IBV_EVENT_DEVICE_FATAL)).kind, DeviceEventKind::device_gone);
}

TEST(DeviceEvents, TheRestEndsNothing) {
  for (const auto type :
       {IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG, IBV_EVENT_LID_CHANGE,
        IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_SRQ_ERR, IBV_EVENT_SRQ_LIMIT_REACHED,
        IBV_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE}) {
    EXPECT_EQ(classify(event_of(type)).kind, DeviceEventKind::other) << type;
  }
}

TEST(DeviceEvents, AreCounted) {
  DeviceEventCounts counts;
  counts.add(DeviceEventKind::port_down);
  counts.add(DeviceEventKind::port_up);
  counts.add(DeviceEventKind::port_down);
  counts.add(DeviceEventKind::queue_pair_failed);
  counts.add(DeviceEventKind::completion_queue_failed);
  counts.add(DeviceEventKind::device_gone);
  counts.add(DeviceEventKind::other);
  EXPECT_EQ(counts.port_down, 2u);
  EXPECT_EQ(counts.port_up, 1u);
  EXPECT_EQ(counts.queue_failed, 2u);
  EXPECT_EQ(counts.device_gone, 1u);
  EXPECT_EQ(counts.other, 1u);
}

TEST(PathMtu, IsOneOfFive) {
  for (const std::uint32_t bytes : {256u, 512u, 1024u, 2048u, 4096u}) {
    EXPECT_TRUE(is_path_mtu(bytes)) << bytes;
  }
  for (const std::uint32_t bytes : {0u, 128u, 1000u, 1500u, 8192u, ~0u}) {
    EXPECT_FALSE(is_path_mtu(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace farvec::transport
