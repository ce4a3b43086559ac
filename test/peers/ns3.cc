#include "test/peers/ns3.h"

#include <ns3/data-rate.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/header.h>
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-nix-vector-helper.h>
#include <ns3/ipv4.h>
#include <ns3/net-device-container.h>
#include <ns3/node.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "bench/measure.h"

namespace chakra::peers {
namespace {

constexpr uint32_t kPpp = 2;            // bytes that a device adds
constexpr uint32_t kUdpIp = 20 + 8;     // an IPv4 and a UDP header
constexpr uint16_t kProtocol = 0x0800;  // one that the device knows
constexpr uint16_t kPort = 9;

uint64_t PacketsOf(const Ns3Case& what, const Ns3Flow& f) { return (f.bytes + what.mtu - 1) / what.mtu; }

// The windows of all flows of a simulation: the packets to send, and the times when flows are complete.
class Windows {
 public:
  explicit Windows(const Ns3Case& what) : what_(what), state_(what.flows.size()) {
    received_.assign(what.flows.size(), -1);
    acked_.assign(what.flows.size(), -1);
  }

  // The bytes on a link of the flow's next packet, if its window has room; otherwise 0.
  uint32_t Next(size_t flow) {
    const Ns3Flow& f = what_.flows[flow];
    State& s = state_[flow];
    if (s.sent == PacketsOf(what_, f) || s.sent - s.acked == f.window) return 0;
    const uint64_t rest = f.bytes - s.sent++ * what_.mtu;
    return static_cast<uint32_t>(std::min<uint64_t>(rest, what_.mtu)) + what_.header;
  }
  void Received(size_t flow) {
    if (++state_[flow].received == PacketsOf(what_, what_.flows[flow])) received_[flow] = Now();
  }
  void Acked(size_t flow) {
    if (++state_[flow].acked == PacketsOf(what_, what_.flows[flow])) acked_[flow] = Now();
  }
  void Report(Ns3Result* result) const {
    result->received = received_;
    result->acked = acked_;
  }

 private:
  struct State {
    uint64_t sent = 0, received = 0, acked = 0;  // packets
  };
  static int64_t Now() { return ns3::Simulator::Now().GetPicoSeconds(); }

  const Ns3Case& what_;
  std::vector<State> state_;
  std::vector<int64_t> received_, acked_;
};

// The flow of a packet; the first header after the device's own.
class FlowHeader : public ns3::Header {
 public:
  static constexpr uint32_t kBytes = 5;
  FlowHeader() = default;
  FlowHeader(uint32_t flow, bool ack) : flow_(flow), ack_(ack) {}
  static ns3::TypeId GetTypeId() {
    static const ns3::TypeId id =
        ns3::TypeId("chakra::FlowHeader").SetParent<ns3::Header>().AddConstructor<FlowHeader>();
    return id;
  }
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  uint32_t GetSerializedSize() const override { return kBytes; }
  void Serialize(ns3::Buffer::Iterator at) const override {
    at.WriteU8(ack_ ? 1 : 0);
    at.WriteU32(flow_);
  }
  uint32_t Deserialize(ns3::Buffer::Iterator at) override {
    ack_ = at.ReadU8() != 0;
    flow_ = at.ReadU32();
    return kBytes;
  }
  void Print(std::ostream& out) const override { out << flow_ << (ack_ ? " ack" : " data"); }
  uint32_t flow() const { return flow_; }
  bool ack() const { return ack_; }

 private:
  uint32_t flow_ = 0;
  bool ack_ = false;
};

// The queue of a port, without limit: acknowledgements before data.
class ControlFirst : public ns3::Queue<ns3::Packet> {
 public:
  bool Enqueue(ns3::Ptr<ns3::Packet> p) override {
    uint8_t start[kPpp + 1];
    p->CopyData(start, sizeof(start));
    if (start[kPpp] == 0) return DoEnqueue(GetContainer().end(), p);
    return DoEnqueue(std::next(GetContainer().begin(), control_++), p);
  }
  ns3::Ptr<ns3::Packet> Dequeue() override {
    control_ = std::max<std::ptrdiff_t>(control_ - 1, 0);
    return DoDequeue(GetContainer().begin());
  }
  ns3::Ptr<ns3::Packet> Remove() override {
    control_ = std::max<std::ptrdiff_t>(control_ - 1, 0);
    return DoRemove(GetContainer().begin());
  }
  ns3::Ptr<const ns3::Packet> Peek() const override { return DoPeek(GetContainer().begin()); }

 private:
  std::ptrdiff_t control_ = 0;  // acknowledgements in it, all in front
};

ns3::Ptr<ns3::PointToPointNetDevice> MakeDevice(ns3::Ptr<ns3::Queue<ns3::Packet>> queue, uint64_t rate) {
  auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
  queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, 1u << 31));
  device->SetQueue(queue);
  device->SetDataRate(ns3::DataRate(rate * 8));
  return device;
}

void Connect(ns3::Ptr<ns3::PointToPointNetDevice> a, ns3::Ptr<ns3::PointToPointNetDevice> b, int64_t delay) {
  auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
  channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(delay)));
  a->Attach(channel);
  b->Attach(channel);
}

std::vector<ns3::Ptr<ns3::Node>> Nodes(const Ns3Case& what) {
  uint32_t last = 0;
  for (const Ns3Link& l : what.links) last = std::max({last, l.from, l.to});
  std::vector<ns3::Ptr<ns3::Node>> nodes(last + 1);
  for (auto& n : nodes) n = ns3::CreateObject<ns3::Node>();
  return nodes;
}

// Ns3Stack::kDevices. Each direction of a link has its own devices.
class Devices {
 public:
  explicit Devices(const Ns3Case& what) : what_(what), windows_(what), nodes_(Nodes(what)) {
    for (size_t i = 0; i < what.links.size(); ++i) {
      const Ns3Link& l = what.links[i];
      auto head = MakeDevice(ns3::CreateObject<ControlFirst>(), l.rate);
      auto tail = MakeDevice(ns3::CreateObject<ControlFirst>(), l.rate);
      head->SetNode(nodes_[l.from]);
      tail->SetNode(nodes_[l.to]);
      tail->SetIfIndex(static_cast<uint32_t>(i));
      tail->SetReceiveCallback(ns3::MakeCallback(&Devices::Receive, this));
      Connect(head, tail, l.delay);
      ports_.push_back(head);
    }
    for (uint32_t f = 0; f < what.flows.size(); ++f) {
      ns3::Simulator::Schedule(ns3::PicoSeconds(what.flows[f].start), &Devices::Fill, this, f);
    }
  }
  void Report(Ns3Result* result) const {
    windows_.Report(result);
    result->hops = hops_;
  }

 private:
  void Send(uint32_t flow, bool ack, uint32_t wire) {
    const Ns3Flow& f = what_.flows[flow];
    auto p = ns3::Create<ns3::Packet>(wire - kPpp - FlowHeader::kBytes);
    p->AddHeader(FlowHeader(flow, ack));
    Put(ack ? f.back.front() : f.way.front(), p);
  }
  void Put(uint32_t link, ns3::Ptr<ns3::Packet> p) { ports_[link]->Send(p, ns3::Address(), kProtocol); }
  void Fill(uint32_t flow) {
    while (const uint32_t wire = windows_.Next(flow)) Send(flow, false, wire);
  }
  bool Receive(ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<const ns3::Packet> p, uint16_t,
               const ns3::Address&) {
    ++hops_;
    FlowHeader h;
    p->PeekHeader(h);
    const Ns3Flow& f = what_.flows[h.flow()];
    const std::vector<uint32_t>& way = h.ack() ? f.back : f.way;
    size_t at = 0;
    while (way[at] != device->GetIfIndex()) ++at;
    if (at + 1 < way.size()) {
      Put(way[at + 1], p->Copy());
    } else if (h.ack()) {
      windows_.Acked(h.flow());
      Fill(h.flow());
    } else {
      windows_.Received(h.flow());
      Send(h.flow(), true, what_.ack);
    }
    return true;
  }

  const Ns3Case& what_;
  Windows windows_;
  std::vector<ns3::Ptr<ns3::Node>> nodes_;
  std::vector<ns3::Ptr<ns3::PointToPointNetDevice>> ports_;  // where each link begins
  uint64_t hops_ = 0;
};

// Ns3Stack::kUdp
class Udp {
 public:
  explicit Udp(const Ns3Case& what) : what_(what), windows_(what), nodes_(Nodes(what)) {
    const ns3::Ipv4NixVectorHelper routing;
    ns3::InternetStackHelper stack;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    for (const auto& n : nodes_) stack.Install(n);
    Link();
    for (uint32_t f = 0; f < what.flows.size(); ++f) Begin(f);
  }
  void Report(Ns3Result* result) const {
    windows_.Report(result);
    for (const Ns3Flow& f : what_.flows) {
      result->hops += PacketsOf(what_, f) * (f.way.size() + f.back.size());
    }
  }

 private:
  // Two links in opposite directions are one cable.
  void Link() {
    ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, int64_t>, uint32_t> open;
    for (const Ns3Link& l : what_.links) {
      if (const auto back = open.find({l.to, l.from, l.rate, l.delay});
          back != open.end() && back->second > 0) {
        --back->second;
        continue;
      }
      ++open[{l.from, l.to, l.rate, l.delay}];
      auto a = MakeDevice(ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>(), l.rate);
      auto b = MakeDevice(ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>(), l.rate);
      for (const auto& d : {a, b}) {
        d->SetAddress(ns3::Mac48Address::Allocate());
        d->SetMtu(static_cast<uint16_t>(std::max(what_.mtu + what_.header, what_.ack) - kPpp));
      }
      nodes_[l.from]->AddDevice(a);
      nodes_[l.to]->AddDevice(b);
      Connect(a, b, l.delay);
      ns3::NetDeviceContainer both(a);
      both.Add(b);
      addresses.Assign(both);
      addresses.NewNetwork();
    }
  }
  ns3::Ptr<ns3::Socket> Bound(uint32_t vertex, uint16_t port) {
    auto s = ns3::Socket::CreateSocket(nodes_[vertex], ns3::TypeId::LookupByName("ns3::UdpSocketFactory"));
    s->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    return s;
  }
  void Begin(uint32_t flow) {
    const Ns3Flow& f = what_.flows[flow];
    const uint32_t dst = what_.links[f.way.back()].to;
    const auto port = static_cast<uint16_t>(kPort + flow);
    senders_.push_back(Bound(what_.links[f.way.front()].from, 0));
    receivers_.push_back(Bound(dst, port));
    flow_of_[ns3::PeekPointer(senders_.back())] = flow_of_[ns3::PeekPointer(receivers_.back())] = flow;
    senders_.back()->Connect(
        ns3::InetSocketAddress(nodes_[dst]->GetObject<ns3::Ipv4>()->GetAddress(1, 0).GetLocal(), port));
    senders_.back()->SetRecvCallback(ns3::MakeCallback(&Udp::TakeAck, this));
    receivers_.back()->SetRecvCallback(ns3::MakeCallback(&Udp::TakeData, this));
    ns3::Simulator::ScheduleWithContext(nodes_[what_.links[f.way.front()].from]->GetId(),
                                        ns3::PicoSeconds(f.start), &Udp::Fill, this, flow);
  }
  void Fill(uint32_t flow) {
    while (const uint32_t wire = windows_.Next(flow)) {
      senders_[flow]->Send(ns3::Create<ns3::Packet>(wire - kPpp - kUdpIp));
    }
  }
  void TakeData(ns3::Ptr<ns3::Socket> socket) {
    const uint32_t flow = flow_of_.at(ns3::PeekPointer(socket));
    ns3::Address from;
    while (socket->RecvFrom(from)) {
      windows_.Received(flow);
      socket->SendTo(ns3::Create<ns3::Packet>(what_.ack - kPpp - kUdpIp), 0, from);
    }
  }
  void TakeAck(ns3::Ptr<ns3::Socket> socket) {
    const uint32_t flow = flow_of_.at(ns3::PeekPointer(socket));
    while (socket->Recv()) windows_.Acked(flow);
    Fill(flow);
  }

  const Ns3Case& what_;
  Windows windows_;
  std::vector<ns3::Ptr<ns3::Node>> nodes_;
  std::vector<ns3::Ptr<ns3::Socket>> senders_, receivers_;
  std::map<const ns3::Socket*, uint32_t> flow_of_;
};

template <typename Stack>
Ns3Result SimulateNs3(const Ns3Case& what) {
  ns3::Time::SetResolution(ns3::Time::PS);
  Stack stack(what);
  Ns3Result result;
  result.seconds = SecondsOf([] { ns3::Simulator::Run(); });
  stack.Report(&result);
  return result;
}

// The error of a case; empty: none.
std::string Check(const Ns3Case& what, Ns3Stack stack) {
  const uint32_t least = kPpp + (stack == Ns3Stack::kUdp ? kUdpIp : FlowHeader::kBytes);
  if (what.mtu == 0 || what.mtu > 65535 - what.header || what.header > 10000) return "no such packet size";
  if (what.header < least || what.ack < least) return "headers take " + std::to_string(least) + " bytes";
  for (const Ns3Link& l : what.links) {
    if (l.rate == 0 || l.rate > (uint64_t{1} << 60) || l.delay < 0) return "a link without rate or time";
  }
  if (stack == Ns3Stack::kUdp && what.flows.size() > 60000) return "more flows than ports";
  const auto leads = [&](const std::vector<uint32_t>& way) {
    for (size_t i = 0; i < way.size(); ++i) {
      if (way[i] >= what.links.size()) return false;
      if (i > 0 && what.links[way[i - 1]].to != what.links[way[i]].from) return false;
    }
    return !way.empty();
  };
  for (const Ns3Flow& f : what.flows) {
    if (f.bytes == 0 || f.window == 0 || f.start < 0) return "a flow without bytes or window";
    if (!leads(f.way) || !leads(f.back)) return "a way that does not lead along links";
    if (what.links[f.way.front()].from != what.links[f.back.back()].to ||
        what.links[f.way.back()].to != what.links[f.back.front()].from) {
      return "a way back that does not lead back";
    }
  }
  return "";
}

bool WriteAll(int to, const std::vector<int64_t>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  size_t left = values.size() * sizeof(int64_t);
  while (left > 0) {
    const ssize_t n = write(to, bytes, left);
    if (n <= 0) return false;
    bytes += n;
    left -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

Ns3Result RunNs3(const Ns3Case& what, Ns3Stack stack) {
  Ns3Result result;
  result.error = Check(what, stack);
  if (!result.error.empty()) return result;
  const auto failed = [](const char* error) {
    Ns3Result r;
    r.error = error;
    return r;
  };
  int ends[2];
  if (pipe(ends) != 0) return failed("no pipe");
  fflush(nullptr);  // otherwise the child prints waiting output a second time
  const pid_t child = fork();
  if (child < 0) return failed("no process");
  if (child == 0) {
    close(ends[0]);
    const Ns3Result r = stack == Ns3Stack::kUdp ? SimulateNs3<Udp>(what) : SimulateNs3<Devices>(what);
    const auto nanos = static_cast<int64_t>(r.seconds * 1e9);
    std::vector<int64_t> values = {static_cast<int64_t>(r.hops), nanos};
    values.insert(values.end(), r.received.begin(), r.received.end());
    values.insert(values.end(), r.acked.begin(), r.acked.end());
    _exit(WriteAll(ends[1], values) ? 0 : 1);
  }
  close(ends[1]);
  const size_t flows = what.flows.size();
  std::vector<int64_t> values(2 + 2 * flows);
  const size_t size = values.size() * sizeof(int64_t);
  auto* bytes = reinterpret_cast<char*>(values.data());
  size_t got = 0;
  while (got < size) {
    const ssize_t n = read(ends[0], bytes + got, size - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != size || status != 0) return failed("ns-3 stopped");
  result.hops = static_cast<uint64_t>(values[0]);
  result.seconds = static_cast<double>(values[1]) * 1e-9;
  const auto begin = values.begin() + 2, middle = begin + static_cast<std::ptrdiff_t>(flows);
  result.received.assign(begin, middle);
  result.acked.assign(middle, values.end());
  if (std::min(*std::min_element(values.begin(), values.end()), int64_t{0}) < 0) {
    result.error = "ns-3 did not end a flow";
  }
  return result;
}

}  // namespace chakra::peers
