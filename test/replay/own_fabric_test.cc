// A user's own fabric: this file has all its parts, and one line registers it by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "replay/report/run_replay.h"
#include "test/replay/engine_testing.h"
#include "trace/base/heap4.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

struct DelayOptions {
  static constexpr OptionSet kSet = {"a delay of messages", "is"};
  bool asked() const { return delay != Time::Zero(); }

  Time delay;
};

// Every message takes the same time, for any size, route and other traffic.
class ConstantDelay final : public Fabric {
 public:
  explicit ConstantDelay(Time delay) : delay_(delay) {}

  FlowId Start(const Flow& flow, Time now) override {
    if (flow.want_sent) ends_.Push({now, order_++, flow.tag, FlowEnd::kSent});
    ends_.Push({now + delay_ + flow.delay, order_++, flow.tag, FlowEnd::kReceived});
    return order_;
  }
  Time NextEvent() override { return ends_.empty() ? Time::Never() : ends_.top().at; }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override {
    for (; !ends_.empty() && ends_.top().at <= t; ends_.Pop()) {
      ended->push_back({ends_.top().tag, ends_.top().at, ends_.top().kind});
    }
  }

 private:
  struct End {
    Time at;
    uint64_t order, tag;
    FlowEnd::Kind kind;
    bool Before(const End& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  Time delay_;
  Heap4<End> ends_;
  uint64_t order_ = 0;
};

const FabricKind& ConstantDelayKind() {
  static const FabricKind kind = {
      .name = "constant-delay",
      .help = "every message takes the same time",
      .make = [](const Topology&, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<ConstantDelay>(options.Get<DelayOptions>().delay);
      },
      .parameters = {{"delay", "1us", "of every message; with its unit"}},
      .read =
          [](const Parameters& given, FabricOptions* options) {
            const absl::StatusOr<Time> delay = given.Latency("delay");
            if (delay.ok()) options->Ask<DelayOptions>().delay = *delay;
            return delay.status();
          },
      .takes = {&DelayOptions::kSet},
      .check =
          [](const Topology&, const FabricOptions& options) {
            return options.Get<DelayOptions>().delay < Time::Zero()
                       ? RefusedByFabric("constant-delay", "a delay below 0")
                       : absl::OkStatus();
          }};
  return kind;
}

// NCCL's part of the time of a message between two A100: the base of direct/simple.
const Time kOfLibrary = Time::Nanos(12600);

class OwnFabric : public ::testing::Test {
 protected:
  OwnFabric() {
    fabrics_.push_back(&ConstantDelayKind());  // registers the fabric
    options_.cluster = "dgx-a100:gpus_per_node=2";
    options_.fabric = "constant-delay";
    options_.fabrics = &fabrics_;
    options_.fabric_options.Ask<DelayOptions>().delay = Time::Micros(7);
    TraceBuilder b(2);
    b.Send(0, 1, 1000000, 0);
    b.Recv(1, 0, 1000000, 0);
    traces_.set = *b.Build();
  }

  FabricKinds fabrics_ = Fabrics();
  RunOptions options_;
  LoadedTraces traces_;
};

TEST_F(OwnFabric, RunsByName) {
  const auto report = RunReplay(traces_, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->fabric(), "constant-delay");
  EXPECT_EQ(report->makespan_ps(), (kOfLibrary + Time::Micros(7)).picos());
  // The fabric reports no links, so the report has none.
  EXPECT_EQ(report->link_size(), 0);
  EXPECT_FALSE(report->has_packet());
}

TEST_F(OwnFabric, ReadsParametersAfterTheName) {
  options_.fabric = "constant-delay:delay=12us";
  const auto report = RunReplay(traces_, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->makespan_ps(), (kOfLibrary + Time::Micros(12)).picos());
  options_.fabric = "constant-delay:dely=12us";
  EXPECT_EQ(RunReplay(traces_, options_).status().message(),
            "constant-delay: unknown parameter \"dely\"; did you mean 'delay'?");
  options_.fabric = "fluid:delay=12us";
  EXPECT_EQ(RunReplay(traces_, options_).status().message(),
            "fabric fluid: \"fluid:delay=12us\" has parameters, and fluid takes none");
}

TEST_F(OwnFabric, HasACriticalPath) {
  options_.critical_path = true;
  const auto report = RunReplay(traces_, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->critical_path().stretches(), 0u);
}

TEST_F(OwnFabric, RefusesUnsupportedOptions) {
  const auto error = [&] { return std::string(RunReplay(traces_, options_).status().message()); };
  options_.fabric_options.link_series = true;
  EXPECT_EQ(
      error(),
      "fabric constant-delay: links followed over time (--link-series) are for fluid, packet and mixed");
  options_.fabric_options.link_series = false;
  options_.topology.packet = "mtu=1000";
  EXPECT_THAT(error(), HasSubstr("are for packet and mixed"));
  options_.topology.packet = "";
  options_.fabric_options.Ask<DelayOptions>().delay = Time::Picos(-1);
  EXPECT_EQ(error(), "fabric constant-delay: a delay below 0");
}

TEST_F(OwnFabric, OtherFabricsRefuseItsOptions) {
  options_.fabric = "fluid";
  EXPECT_EQ(RunReplay(traces_, options_).status().message(),
            "fabric fluid: a delay of messages is for constant-delay");
}

TEST_F(OwnFabric, IsUnknownUnlessRegistered) {
  options_.fabrics = &Fabrics();
  EXPECT_THAT(std::string(RunReplay(traces_, options_).status().message()),
              HasSubstr("unknown fabric \"constant-delay\""));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
