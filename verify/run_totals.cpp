#include "verify/run_totals.h"

#include <algorithm>
#include <string>
#include <vector>

#include "verify/h5.h"

namespace voltcheck::verify {
namespace {

using h5::Handle;

void Raise(std::map<int, PartMaximum>& totals, const std::vector<PartMaximum>& parts) {
  for (const PartMaximum& part : parts) {
    PartMaximum& total = totals[part.index];
    total.index = part.index;
    total.use = std::max(total.use, part.use);
    total.abs = std::max(total.abs, part.abs);
  }
}

void Describe(hid_t dataset, const char* long_name) {
  h5::SetText(dataset, "units", "1");
  h5::SetText(dataset, "long_name", long_name);
}

Handle WriteBinScale(hid_t group, const char* name, int first_exponent, const char* long_name) {
  std::array<double, kMagnitudeBins> lower{};
  for (std::size_t bin = 0; bin < kMagnitudeBins; ++bin) {
    lower[bin] = MagnitudeBinLower(bin, first_exponent);
  }
  const std::array<hsize_t, 1> extent{kMagnitudeBins};
  Handle scale = h5::WriteDataset(group, name, H5T_IEEE_F64LE, extent, lower.data());
  Describe(scale.get(), long_name);
  h5::MakeScale(scale.get(), name);
  return scale;
}

void WriteParts(hid_t parent, const std::string& name, const std::map<int, PartMaximum>& parts) {
  if (parts.empty()) {
    return;
  }
  const Handle group = h5::CreateGroup(parent, name);
  std::vector<std::int32_t> index;
  std::vector<float> use;
  std::vector<float> abs;
  for (const auto& [number, part] : parts) {
    index.push_back(number);
    use.push_back(part.use);
    abs.push_back(part.abs);
  }
  const std::array<hsize_t, 1> extent{index.size()};
  const Handle scale =
      h5::WriteDataset(group.get(), name.c_str(), H5T_STD_I32LE, extent, index.data());
  Describe(scale.get(), ("number of the " + name).c_str());
  h5::MakeScale(scale.get(), name.c_str());
  const auto write = [&](const char* column, const char* long_name,
                         const std::vector<float>& data) {
    Handle dataset = h5::WriteDataset(group.get(), column, H5T_IEEE_F32LE, extent, data.data());
    Describe(dataset.get(), long_name);
    h5::AttachScale(dataset.get(), scale.get(), 0);
    h5::Check(dataset.Reset() ? 0 : -1);
  };
  write("max_use", "largest budget use on the stage's own input, over all cases", use);
  write("max_abs", "largest |difference| to the fp64 oracle from the inputs, over all cases", abs);
}

}  // namespace

void RunTotals::Add(const CaseRecord& record) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const StageProfile& profile = record.stages[s].profile;
    for (const DensityCell& cell : profile.density) {
      if (cell.cell < stages_[s].density.size()) {
        stages_[s].density[cell.cell] += cell.count;
      }
    }
    Raise(stages_[s].experts, profile.experts);
    Raise(stages_[s].tiles, profile.tiles);
  }
}

void RunTotals::Write(hid_t file) const {
  const Handle group = h5::CreateGroup(file, "totals");
  h5::SetText(group.get(), "long_name", "sums and maxima over all cases of the run");
  const Handle magnitude =
      WriteBinScale(group.get(), "magnitude", kValueFirstExponent,
                    "lower end of the bin of |expected value|; each is four times the one before");
  const Handle error =
      WriteBinScale(group.get(), "error", kErrorFirstExponent,
                    "lower end of the bin of |difference|; each is four times the one before");
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const Handle stage = h5::CreateGroup(group.get(), std::string(ToString(kStages[s])));
    const std::array<hsize_t, 2> extent{kMagnitudeBins, kMagnitudeBins};
    Handle density =
        h5::WriteDataset(stage.get(), "density", H5T_STD_U64LE, extent, stages_[s].density.data());
    Describe(density.get(),
             "elements by |expected value| and |difference|, fp64 oracle from the inputs");
    h5::AttachScale(density.get(), magnitude.get(), 0);
    h5::AttachScale(density.get(), error.get(), 1);
    h5::Check(density.Reset() ? 0 : -1);
    WriteParts(stage.get(), "expert", stages_[s].experts);
    WriteParts(stage.get(), "tile", stages_[s].tiles);
  }
}

}  // namespace voltcheck::verify
