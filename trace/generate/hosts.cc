#include "trace/generate/hosts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra::generate {
namespace built_in {
absl::Span<const EmbeddedFile> Embedded();  // hosts.txtpb
}  // namespace built_in

namespace {

constexpr double kGraphLaunchUs = 1;  // launch of a node of a CUDA graph
// Kernels that PyTorch's operators launch one behind the other, without modules of Python between them: the
// shortest tenth of the times from one launch to the next, under a profiler, is 8 to 11 us on the hosts of an
// H100, an MI300X, a B200 and an A100 (captures of AMD-AGI/TraceLens and HolisticTraceAnalysis).
constexpr double kKernelUs = 10;

}  // namespace

int64_t LoopKernelNs(const HostCosts& host) {
  return std::min<int64_t>(host.eager_kernel_ns, std::llround(kKernelUs * 1000));
}

absl::StatusOr<proto::HostTimes> HostOf(const proto::Training& t) {
  proto::HostTable table;
  RETURN_IF_ERROR(ParseTextMessage(FindEmbedded(built_in::Embedded(), "hosts.txtpb"), "hosts.txtpb", &table));
  const std::string name = t.has_host() ? t.host() : "2022";
  std::vector<std::string> names;
  for (const proto::HostTimes& host : table.host()) {
    if (host.name() == name) return host;
    names.push_back(host.name());
  }
  return absl::InvalidArgumentError(absl::StrCat("training.host is \"", name, "\"", SuggestName(name, names)));
}

HostCosts HostCostsOf(const proto::Training& t, const proto::HostTimes& host) {
  const auto ns = [](bool has, double own, double otherwise) {
    return std::llround((has ? own : otherwise) * 1000);
  };
  const bool graphs = t.cuda_graphs(), never_late = t.has_launch_us() && t.launch_us() == 0;
  const double launch = t.has_launch_us() ? t.launch_us() : graphs ? kGraphLaunchUs : host.launch_us();
  HostCosts out;
  out.launch_ns = ns(true, launch, 0);
  const bool own = t.has_launch_us() && !graphs;
  out.eager_launch_ns = ns(own, t.launch_us(), never_late ? 0 : host.launch_us());
  const bool megatron = t.framework() == proto::Training::MEGATRON;
  const double kernel = !megatron ? kKernelUs : own ? t.launch_us() : host.kernel_us();
  out.eager_kernel_ns = ns(t.has_kernel_us(), t.kernel_us(), never_late ? 0 : kernel);
  out.layer_ns = ns(t.has_layer_us(), t.layer_us(), graphs || never_late ? 0 : host.layer_us());
  out.call_ns = ns(t.has_call_us(), t.call_us(), graphs || never_late ? launch : host.call_us());
  out.batch_ns = ns(t.has_batch_us(), t.batch_us(), never_late ? 0 : host.batch_us());
  out.step_ns = ns(t.has_step_us(), t.step_us(), never_late ? 0 : host.step_us());
  return out;
}

}  // namespace chakra::generate
