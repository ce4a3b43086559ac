#include "trace/et/importer.h"

namespace chakra {
namespace {
constexpr absl::string_view kEndings[] = {".et"};
}  // namespace

const Importer kEtImporter = {
    .name = "et",
    .title = "Chakra trace",
    .help = "frames of Chakra's protobuf messages",
    .endings = kEndings,
    .sniff = [](absl::string_view) { return true; },
    .frames = [](absl::string_view plain, absl::string_view,
                 std::string*) -> absl::StatusOr<absl::string_view> { return plain; },
    .native = true,
};

}  // namespace chakra
