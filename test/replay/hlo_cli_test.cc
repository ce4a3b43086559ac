// HLO modules on the command line: pipelines of sends and receives, as XLA makes them from permutes.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

class HloCli : public Bench {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string folder = ::testing::TempDir() + "/hlo_cli";
    std::filesystem::create_directories(folder);
    std::ofstream(absl::StrCat(folder, "/", name)) << text;
    return absl::StrCat(folder, "/", name);
  }
};

// Modules as XLA's decomposer of permutes writes them for pipelines
// (xla/service/collective_permute_decomposer.h): a send and a receive of one channel, or without channels in
// newer versions; in a loop, the receive comes first. All three messages of each round are received, in the
// same order on both ends.
TEST_F(HloCli, SendsMatchTheirReceives) {
  const auto module = [](const std::string& send_channel, const std::string& receive_channel) {
    const std::string pairs =
        "frontend_attributes={_xla_send_recv_pipeline=\"0\",_xla_send_recv_source_target_pairs={{0,1},{1,2},{"
        "2,3}}}";
    return absl::StrCat(R"(HloModule pipeline, is_scheduled=true, num_partitions=4
%body (s: (f32[262144], s32[])) -> (f32[262144], s32[]) {
  %s = (f32[262144]{0}, s32[]) parameter(0)
  %p = f32[262144]{0} get-tuple-element(%s), index=0
  %i = s32[] get-tuple-element(%s), index=1
  %tok = token[] after-all()
  %recv = (f32[262144]{0}, u32[], token[]) recv(%tok), )",
                        receive_channel, pairs, R"(
  %small.recv = (f32[16]{0}, u32[], token[]) recv(%tok), channel_id=7, )",
                        pairs, R"(
  %cut = f32[16]{0} slice(%p), slice={[0:16]}
  %small.send = (f32[16]{0}, u32[], token[]) send(%cut, %tok), channel_id=7, )",
                        pairs, R"(
  %send = (f32[262144]{0}, u32[], token[]) send(%p, %tok), )",
                        send_channel, pairs, R"(, control-predecessors={%recv}
  %work = f32[262144]{0} multiply(%p, %p)
  %recv-done = (f32[262144]{0}, token[]) recv-done(%recv)
  %small.done = (f32[16]{0}, token[]) recv-done(%small.recv)
  %send-done = token[] send-done(%send)
  %small.send-done = token[] send-done(%small.send)
  %data = f32[262144]{0} get-tuple-element(%recv-done), index=0
  %sum = f32[262144]{0} add(%data, %work)
  ROOT %t = (f32[262144]{0}, s32[]) tuple(%sum, %i)
}
%cond (s: (f32[262144], s32[])) -> pred[] {
  %s = (f32[262144]{0}, s32[]) parameter(0)
  ROOT %c = pred[] constant(true)
}
ENTRY %e (p: f32[262144]) -> f32[262144] {
  %p = f32[262144]{0} parameter(0)
  %zero = s32[] constant(0)
  %init = (f32[262144]{0}, s32[]) tuple(%p, %zero)
  %w = (f32[262144]{0}, s32[]) while(%init), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  ROOT %out = f32[262144]{0} get-tuple-element(%w), index=0
}
)");
  };
  for (const auto& [send, receive] :
       {std::make_pair("channel_id=3, ", "channel_id=3, "), std::make_pair("", ""),
        std::make_pair("channel_id=3, ", "channel_id=4, ")}) {
    const std::string path = Write("pipeline.hlo", module(send, receive));
    const proto::Report report = ReportOf(absl::StrCat(path, " --cluster dgx-h100"));
    // 3 rounds of 3 pairs with a megabyte each: at least as long as NVLink needs for one.
    EXPECT_GT(report.makespan_ps(), 3 * int64_t{1000000}) << send << receive;
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
