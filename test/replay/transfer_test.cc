#include "replay/compute/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "replay/cluster/devices.h"
#include "replay/compute/device_rates.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

proto::Device Device(double tflops, double gbytes) {
  proto::Device d;
  d.set_name("X");
  d.set_default_dtype("fp32");
  (*d.mutable_peak_tflops())["fp32"] = tflops;
  d.set_memory_gbytes_per_s(gbytes);
  return d;
}

void Add(proto::KernelTable* t, double us, uint64_t operations, uint64_t bytes) {
  proto::KernelRow* row = t->add_row();
  row->set_name("k" + std::to_string(t->row_size()));
  row->set_duration_us(us);
  row->set_count(4);
  row->set_operations(operations);
  row->set_bytes(bytes);
}

proto::KernelTable Move(const proto::KernelTable& t, const proto::Device& from, const proto::Device& to,
                        TransferNotes* notes) {
  const auto moved = TransferTable(t, from, to, "", notes);
  EXPECT_TRUE(moved.ok()) << moved.status();
  return moved.ok() ? *moved : proto::KernelTable();
}

TEST(Transfer, ScalesEachPartByItsRatio) {
  proto::KernelTable t;
  Add(&t, 1000, 1000000000, 1000);  // at the peak of 1 TFLOP/s: 1 ms
  Add(&t, 4000, 1000, 1000000000);  // a quarter of 1 TB/s
  Add(&t, 7, 0, 0);                 // of unknown work
  TransferNotes notes;
  const proto::KernelTable moved = Move(t, Device(1, 1000), Device(4, 2000), &notes);
  EXPECT_EQ(moved.device(), "X");
  EXPECT_THAT(moved.source(), HasSubstr("transferred from X"));
  EXPECT_EQ(notes.by_roofline, 2u);
  EXPECT_EQ(notes.without_work, 1u);
  const double start = notes.start_us;
  EXPECT_LT(start, 7.001);
  EXPECT_NEAR(moved.row(0).duration_us(), start + (1000 - start) * 0.25, 8);
  // The 1 ms that the roofline explains is halved; the rest lies between staying and halving.
  EXPECT_NEAR(moved.row(1).duration_us(), 500 + (3000 - start) * std::sqrt(0.5) + start, 1);
  EXPECT_NEAR(moved.row(1).error(), (3000 - start) * (1 - std::sqrt(0.5)) / moved.row(1).duration_us(), 1e-3);
  EXPECT_EQ(moved.row(0).count(), 0u);
}

TEST(Transfer, SameDeviceChangesNothing) {
  proto::KernelTable t;
  Add(&t, 1000, 1000000000, 1000);
  Add(&t, 5, 10, 10);
  TransferNotes notes;
  const proto::KernelTable moved = Move(t, Device(1, 1000), Device(1, 1000), &notes);
  for (int i : {0, 1}) {
    EXPECT_NEAR(moved.row(i).duration_us(), t.row(i).duration_us(), 1e-9);
    EXPECT_EQ(moved.row(i).error(), kTransferError);
  }
}

TEST(Transfer, StartTimesStay) {
  proto::KernelTable t;
  for (uint64_t n : {1, 100, 10000}) Add(&t, 5 + 1e-3 * static_cast<double>(n), n * 1000, 0);
  TransferNotes notes;
  const proto::KernelTable moved = Move(t, Device(1, 1000), Device(100, 1000), &notes);
  EXPECT_NEAR(notes.start_us, 5, 1e-3);
  EXPECT_NEAR(moved.row(0).duration_us(), 5, 0.01);
}

TEST(Transfer, DtypeDecidesThePeak) {
  proto::KernelTable t;
  Add(&t, 1000, 1000000000, 0);
  proto::Device from = Device(1, 1000), to = Device(1, 1000);
  (*to.mutable_peak_tflops())["fp16"] = 100;
  TransferNotes notes;
  t.mutable_row(0)->set_dtypes("['Tensor(c10::Half)']");
  (void)Move(t, from, to, &notes);
  EXPECT_EQ(notes.other_peak, 1u);  // `from` has no fp16
  (*from.mutable_peak_tflops())["fp16"] = 1;
  EXPECT_NEAR(Move(t, from, to, &notes).row(0).duration_us(), notes.start_us + (1000 - notes.start_us) / 100,
              100);
  EXPECT_EQ(notes.other_peak, 0u);
  const auto forced = TransferTable(t, from, to, "fp32", &notes);
  EXPECT_NEAR(forced->row(0).duration_us(), 1000, 1e-6);
}

TEST(Transfer, FamilyKernelsScaleByTheirLaw) {
  proto::KernelTable t;
  proto::KernelRow* gemm = t.add_row();
  gemm->set_name("nvjet_tst_128x256_64x4_h_bz_TNT");
  gemm->set_op("aten::mm");
  gemm->set_shapes("[[4096,4096],[4096,4096]]");
  gemm->set_dtypes("['Tensor(c10::BFloat16)','Tensor(c10::BFloat16)']");
  gemm->set_duration_us(200);
  Add(&t, 100, 1000000000, 0);  // of no family
  const auto from = FindDevice("H100"), to = FindDevice("A100");
  ASSERT_TRUE(from.ok() && to.ok());
  TransferNotes notes;
  const proto::KernelTable moved = Move(t, *from, *to, &notes);
  EXPECT_EQ(notes.by_law, 1u);
  EXPECT_EQ(notes.by_roofline, 1u);
  const GemmCall call = {KernelDtype::kBf16, 1, 4096, 4096, 4096, true};
  const auto here = KernelModel::Create(*from), there = KernelModel::Create(*to);
  ASSERT_TRUE(here.ok() && there.ok());
  EXPECT_NEAR(moved.row(0).duration_us(), 200 * there->Gemm(call)->us / here->Gemm(call)->us, 1e-9);
  EXPECT_GT(moved.row(0).error(), 0.05);
  EXPECT_LT(moved.row(0).error(), 0.6);
}

TEST(Transfer, RefusesBadDevices) {
  proto::KernelTable t;
  TransferNotes notes;
  EXPECT_THAT(std::string(TransferTable(t, Device(1, 0), Device(1, 1), "", &notes).status().message()),
              HasSubstr("has no memory_gbytes_per_s or no peak_tflops"));
  proto::Device d = Device(1, 1);
  d.set_sustained_share(1.5);
  EXPECT_THAT(std::string(TransferTable(t, d, Device(1, 1), "", &notes).status().message()),
              HasSubstr("sustained_share is 1.5"));
}

TEST(Devices, FoundByManyNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"V100", "V100-SXM-32GB"},
      {"Tesla_V100-PCIE-32GB", "V100-PCIe-32GB"},
      {"NVIDIA_A100_80GB_PCIe", "A100-PCIe-80GB"},
      {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
      {"A100-SXM4-80GB", "A100-SXM4-80GB"},
      {"h100", "H100-SXM5-80GB"},
      {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
      {"GB200-185GB", "GB200-186GB"},
      {"AMD_Instinct_MI250", "MI250-die"},
      {"mi300x", "MI300X-192GB"},
      {"Tesla P4", "P4"},
      {"dgx-a100", "A100-SXM4-80GB"},
  };
  for (const auto& [name, device] : cases) {
    const auto found = FindDevice(name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status();
    EXPECT_EQ(found->name(), device) << name;
  }
  EXPECT_THAT(std::string(FindDevice("H10").status().message()),
              HasSubstr("not a device, cluster preset or cluster"));
  EXPECT_FALSE(FindDevice("").ok());
}

TEST(Devices, EveryDeviceIsCompleteAndFound) {
  const std::vector<std::string> names = DeviceNames();
  EXPECT_GT(names.size(), 20u);
  for (const std::string& name : names) {
    const auto device = FindDevice(name);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ(device->name(), name);
    EXPECT_GT(device->memory_gbytes_per_s(), 0) << name;
    EXPECT_EQ(device->peak_tflops().count(device->default_dtype()), 1u) << name;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
