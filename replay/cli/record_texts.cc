#include "replay/cli/record_texts.h"

#include "absl/strings/str_cat.h"
#include "trace/base/embedded.h"

namespace chakra::cli {
namespace record {
absl::Span<const EmbeddedFile> Embedded();  // the files of record/
}  // namespace record

absl::Span<const RecordText> RecordTexts() {
  static const auto* const kTexts = [] {
    auto* texts = new std::vector<RecordText>{{"torch", "PyTorch's profiler and execution trace"},
                                              {"nsys", "Nsight Systems, on NVIDIA GPUs"},
                                              {"jax", "JAX's XPlane profiles and XLA's modules"},
                                              {"rocprof", "rocprofv3, on AMD GPUs"},
                                              {"nccl", "only NCCL's calls, of large jobs"}};
    for (RecordText& t : *texts) t.text = FindEmbedded(record::Embedded(), absl::StrCat(t.tool, ".txt"));
    return texts;
  }();
  return *kTexts;
}

}  // namespace chakra::cli
