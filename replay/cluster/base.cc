#include "replay/cluster/base.h"

#include <google/protobuf/descriptor.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cluster/terms.h"
#include "replay/devices/known_devices.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/set_field.h"

namespace chakra {
namespace {

// The path of the first list that is set, maps excluded; "": there is none.
std::string FindList(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->is_map()) continue;
    if (field->is_repeated()) return std::string(field->name());
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string below = FindList(reflection.GetMessage(message, field));
    if (!below.empty()) return absl::StrCat(field->name(), ".", below);
  }
  return "";
}

// Whether the device has only a name.
bool IsName(const proto::Device& device) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  device.GetReflection()->ListFields(device, &fields);
  return fields.size() == 1 && !device.name().empty();
}

// Merges `own` into `base`. `own` must have no lists; a device that has only a name is looked up.
absl::Status Merge(const std::string& where, proto::Cluster own, proto::Cluster* base) {
  if (const std::string list = FindList(own); !list.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": ", list, " is given with a base; expected it in `change`, as \"", list, "[0]...=VALUE\""));
  }
  if (IsName(own.device())) {
    ASSIGN_OR_RETURN(std::optional<proto::Device> device, KnownDevice(own.device().name()));
    if (!device) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": device.name is \"", own.device().name(), "\"",
                                                     SuggestName(own.device().name(), DeviceNames()),
                                                     "; expected a known device, or its other fields too"));
    }
    *base->mutable_device() = *std::move(device);
    own.clear_device();
  }
  base->MergeFrom(own);
  return absl::OkStatus();
}

}  // namespace

absl::Status PutOnBase(const std::string& where, proto::Cluster base, proto::Cluster* cluster) {
  const std::vector<std::string> changes(cluster->change().begin(), cluster->change().end());
  cluster->clear_change();
  const proto::CollectiveLibrary& library = cluster->collectives().library();
  if (library.term_size() > 0 && !library.terms().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": collectives.library has `term` and `terms`; expected one of them"));
  }
  if (!cluster->base().empty()) {
    cluster->clear_base();
    RETURN_IF_ERROR(Merge(where, *cluster, &base));
    *cluster = std::move(base);
  }
  const auto take_terms = [&] {
    absl::Status s = TakeTerms(cluster);
    return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(where, ": ", s.message()));
  };
  RETURN_IF_ERROR(take_terms());
  for (const std::string& text : changes) {
    if (absl::Status s = SetFieldFromText(text, cluster); !s.ok())
      return absl::InvalidArgumentError(absl::StrCat(where, ": change \"", text, "\": ", s.message()));
  }
  return take_terms();  // a change may name terms too
}

}  // namespace chakra
