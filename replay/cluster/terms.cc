#include "replay/cluster/terms.h"

#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace terms {
absl::Span<const EmbeddedFile> Embedded();  // the files of terms/
}  // namespace terms

absl::string_view TermsText(absl::string_view name) {
  return FindEmbedded(terms::Embedded(), absl::StrCat(name, ".txtpb"));
}

absl::Status TakeTerms(proto::Cluster* cluster) {
  const std::string name = cluster->collectives().library().terms();
  if (name.empty()) return absl::OkStatus();
  const absl::string_view text = TermsText(name);
  if (text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("collectives.library.terms is \"", name, "\"",
                                                   SuggestName(name, EmbeddedNames(terms::Embedded()))));
  }
  proto::CollectiveLibrary named;
  RETURN_IF_ERROR(ParseTextMessage(text, absl::StrCat("terms ", name), &named));
  proto::CollectiveLibrary* library = cluster->mutable_collectives()->mutable_library();
  library->clear_terms();
  library->mutable_term()->Swap(named.mutable_term());
  if (library->kernel_gap_us() == 0) library->set_kernel_gap_us(named.kernel_gap_us());
  return absl::OkStatus();
}

}  // namespace chakra
