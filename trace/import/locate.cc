#include "trace/import/locate.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/import/registry.h"
#include "trace/io/byte_source.h"

namespace chakra {
namespace {

// Whether `file` has the form "archive.tar.zst!member" and no file of this name exists.
bool InArchive(const std::string& file) {
  std::error_code error;
  return file.find('!') != std::string::npos && !std::filesystem::exists(file, error);
}

absl::Status Unpack(const std::string& file, Buffer* out) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(file));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), file));
  return ReadAll(content.get(), file, out);
}

// Whether `frame` is a node: a first frame without an id is metadata. Sets `id` to the node's id.
bool ReadId(wire::Cursor frame, bool first, uint64_t* id) {
  bool node = !first;
  *id = 0;
  wire::Field f;
  while (!frame.done()) {
    if (wire::ReadField(&frame, &f) != nullptr) return false;
    if (f.number != 1) continue;
    node = f.type == wire::kVarint;
    if (node) *id = f.bits;
  }
  return node;
}

}  // namespace

NodeLocator::Index NodeLocator::Read(const std::string& file) {
  Index index;
  index.file = file;
  Buffer plain;
  if (!Unpack(file, &plain).ok()) return index;
  if (!ImporterOf(plain.view()).native) return index;
  const auto* base = reinterpret_cast<const uint8_t*>(plain.data());
  wire::Cursor c = {base, base + plain.size()};
  for (bool first = true; !c.done(); first = false) {
    uint64_t length = 0;
    if (!wire::ReadVarint(&c, &length) || length > c.left()) break;
    uint64_t id = 0;
    if (ReadId({c.p, c.p + length}, first, &id)) index.begin.try_emplace(id, c.p - base);
    c.p += length;
  }
  return index;
}

int64_t NodeLocator::Locate(const std::string& file, uint64_t id) {
  if (last_[0].file != file) {
    if (last_[1].file != file) {
      if (InArchive(file)) return -1;
      last_[1] = Read(file);
    }
    std::swap(last_[0], last_[1]);
  }
  const auto it = last_[0].begin.find(id);
  return it == last_[0].begin.end() ? -1 : it->second;
}

std::string NodeLocator::Describe(const RankTrace& trace, uint32_t row) {
  const Graph& g = *trace.graph;
  std::string text =
      absl::StrCat("rank ", trace.rank, ", node ", g.id[row], " (\"", g.name_of(row), "\") of ", trace.file);
  const int64_t at = Locate(trace.file, g.id[row]);
  if (at >= 0) {
    absl::StrAppend(&text, ", byte ", at);
  } else if (InArchive(trace.file)) {
    absl::StrAppend(&text, " (in an archive)");
  }
  return text;
}

int64_t LocateNode(const std::string& file, uint64_t id) { return NodeLocator().Locate(file, id); }

std::string DescribeNode(const RankTrace& trace, uint32_t row) { return NodeLocator().Describe(trace, row); }

}  // namespace chakra
