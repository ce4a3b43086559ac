#include "trace/import/pytorch/importer.h"

#include "trace/import/host/host_trace.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/pytorch/read_capture.h"

namespace chakra::pytorch {
namespace {

constexpr absl::string_view kEndings[] = {".json"};

bool Sniff(absl::string_view head) { return LooksLikeKineto(head) || LooksLikeHostTrace(head); }

}  // namespace

const Importer kImporter = {
    .name = "pytorch",
    .title = "PyTorch capture",
    .help = "JSON of torch.profiler or the ExecutionTraceObserver",
    .endings = kEndings,
    .sniff = Sniff,
    .run = ReadCaptureTraces,
};

}  // namespace chakra::pytorch
