#include "replay/cli/sweep_mpi.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/cli/mpi/module.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {
namespace {

constexpr char kModuleFile[] = "chakra-replay-mpi.so";
// The interval of polling. MPI's own wait would occupy a core that points could use.
constexpr std::chrono::milliseconds kNap(1);
constexpr std::chrono::milliseconds kProgressEvery(200);

// The number of processes that mpirun started, as Open MPI reports it; 1 if it does not.
int StartedProcesses() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  int n = 1;
  return size != nullptr && absl::SimpleAtoi(size, &n) ? n : 1;
}

absl::StatusOr<const ChakraMpi*> LoadModule() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::string> failures;
  for (const std::filesystem::path& at : {folder / kModuleFile, folder / CHAKRA_MPI_FOLDER / kModuleFile}) {
    void* module = dlopen(at.c_str(), RTLD_NOW | RTLD_GLOBAL);  // MPI's plug-ins need its symbols
    if (module == nullptr) {
      failures.emplace_back(dlerror());
      continue;
    }
    const auto get = reinterpret_cast<const ChakraMpi* (*)()>(dlsym(module, "ChakraMpiModule"));
    if (get != nullptr) return get();
  }
  return absl::UnavailableError(absl::StrCat(
      "mpirun started this process, but the module for MPI cannot be loaded (", absl::StrJoin(failures, "; "),
      "); expected the package chakra-replay-mpi, or a build with "
      "Open MPI (libopenmpi-dev), or --shard I/N without "
      "mpirun"));
}

absl::Status MpiError(int error) {
  return error == 0 ? absl::OkStatus() : absl::InternalError(absl::StrCat("MPI failed with error ", error));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SweepProcesses>> SweepProcesses::Join() {
  if (StartedProcesses() < 2) return nullptr;
  ASSIGN_OR_RETURN(auto mpi, LoadModule());
  std::unique_ptr<SweepProcesses> out(new SweepProcesses(mpi));
  RETURN_IF_ERROR(MpiError(mpi->init(&out->rank_, &out->size_)));
  return out;
}

SweepProcesses::~SweepProcesses() {
  if (rank_ == 0) {
    proto::PointOrder stop;
    stop.set_stop(true);
    for (int to = 1; to < size_; ++to) (void)Send(to, stop);
    // Messages that were sent meanwhile must be received before the end.
    while (static_cast<int>(idle_.size()) < size_ - 1) {
      int from = 0;
      proto::PointReply unused;
      auto received = Receive(&from, &unused);
      if (!received.ok()) break;
      if (*received) idle_.push_back(from);
      if (!*received) std::this_thread::sleep_for(kNap);
    }
  }
  (void)mpi_->finish();
}

absl::Status SweepProcesses::Send(int to, const google::protobuf::Message& message) {
  const std::string bytes = message.SerializeAsString();
  return MpiError(mpi_->send(to, bytes.data(), bytes.size()));
}

absl::StatusOr<bool> SweepProcesses::Receive(int* from, google::protobuf::Message* message) {
  uint64_t size = 0;
  int waits = 0;
  RETURN_IF_ERROR(MpiError(mpi_->poll(from, &size, &waits)));
  if (waits == 0) return false;
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(MpiError(mpi_->receive(*from, bytes.data(), size)));
  if (!message->ParseFromString(bytes))
    return absl::InternalError("a process of another version takes part in the sweep");
  return true;
}

absl::Status SweepProcesses::Work(const sweep::RunPoint& run) {
  proto::PointReply reply;
  while (true) {
    RETURN_IF_ERROR(Send(0, reply));
    proto::PointOrder order;
    while (true) {
      int from = 0;
      ASSIGN_OR_RETURN(auto received, Receive(&from, &order));
      if (received) break;
      std::this_thread::sleep_for(kNap);
    }
    if (order.stop()) return absl::OkStatus();
    *reply.mutable_record() = sweep::RunToRecord(run, {order.word().begin(), order.word().end()});
  }
}

void SweepProcesses::TakeReply(int from, const proto::PointReply& reply, sweep::TaskSource* source) {
  idle_.push_back(from);
  const auto found = under_way_.find(from);
  if (found == under_way_.end()) return;
  source->Finish(found->second, reply.record());
  under_way_.erase(found);
}

void SweepProcesses::Serve(sweep::TaskSource* source, const sweep::Space& space,
                           const std::function<void(const sweep::RunnerProgress&)>& progress) {
  auto told = std::chrono::steady_clock::now();
  while (!source->Done()) {
    bool quiet = true;
    int from = 0;
    proto::PointReply reply;
    if (auto received = Receive(&from, &reply); received.ok() && *received) {
      TakeReply(from, reply, source);
      quiet = false;
    }
    sweep::Task task;
    while (!idle_.empty() && source->Take(&task)) {
      proto::PointOrder order;
      auto words = space.Words(task.place);
      if (words.ok()) order.mutable_word()->Assign(words->begin(), words->end());
      const int to = idle_.back();
      if (!words.ok() || !Send(to, order).ok()) {
        source->GiveBack(std::move(task));
        return;
      }
      idle_.pop_back();
      under_way_[to] = std::move(task);
      quiet = false;
    }
    if (const auto now = std::chrono::steady_clock::now(); progress && now - told >= kProgressEvery) {
      told = now;
      progress(source->progress());
    }
    if (quiet) std::this_thread::sleep_for(kNap);
  }
}

}  // namespace chakra::cli
