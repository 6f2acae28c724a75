#include "verify/run_columns.h"

#include <array>
#include <limits>
#include <string>

#include "fixtures/case/descriptor.h"
#include "verify/comparison.h"

namespace voltcheck::verify {
namespace {

using h5::Handle;
using h5::Table;
using voltcheck::ToString;  // of the case's values, beside verify's own
using voltcheck::verify::ToString;

// Lengths of text columns whose texts have a bound: a canonical descriptor takes about 300 bytes
// beside the name of its fixture.
constexpr std::size_t kWordBytes = 16;
constexpr std::size_t kDescriptorBytes = 512;

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();

// What a stage's figures were computed against.
struct Comparison {
  const char* name;
  const char* long_name;
  ComparisonFigures StageRecord::*figures;
  bool has_budget;
};
constexpr std::array<Comparison, 4> kComparisons{{
    {"own", "against the fp64 oracle on the device's own input of the stage", &StageRecord::own,
     true},
    {"posterior", "like own, under the a-posteriori budget of the declared order",
     &StageRecord::posterior, true},
    {"end_to_end", "against the fp64 oracle from the case's inputs", &StageRecord::end_to_end,
     true},
    {"reference", "against the FP32 Eigen reference from the case's inputs",
     &StageRecord::reference, false},
}};

struct CountColumn {
  const char* name;
  const char* long_name;
  std::uint64_t ComparisonFigures::*value;
  bool of_budget;
};
constexpr std::array<CountColumn, 5> kCounts{{
    {"elements", "elements compared", &ComparisonFigures::elements, false},
    {"differing", "elements that are not the expected value rounded to half",
     &ComparisonFigures::differing, false},
    {"nonfinite_got", "elements of the device that are NaN or infinite",
     &ComparisonFigures::nonfinite_got, false},
    {"nonfinite_want", "expected elements that are NaN or infinite",
     &ComparisonFigures::nonfinite_want, false},
    {"over_budget", "elements outside their budget", &ComparisonFigures::over_budget, true},
}};

struct FigureColumn {
  const char* name;
  const char* long_name;
  double ComparisonFigures::*value;
  bool of_budget;
};
constexpr std::array<FigureColumn, 10> kFigures{{
    {"rms", "root mean square of got - want", &ComparisonFigures::rms, false},
    {"bias", "mean of got - want", &ComparisonFigures::bias, false},
    {"rms_want", "root mean square of the expected values", &ComparisonFigures::rms_want, false},
    {"cosine", "cosine between got and want", &ComparisonFigures::cosine, false},
    {"use_p999", "budget use, 99.9th percentile", &ComparisonFigures::use_p999, true},
    {"use_p99", "budget use, 99th percentile", &ComparisonFigures::use_p99, true},
    {"use_p50", "budget use, median", &ComparisonFigures::use_p50, true},
    {"use_rms", "budget use, root mean square", &ComparisonFigures::use_rms, true},
    {"use_mean", "signed mean of (got - want) / budget", &ComparisonFigures::use_mean, true},
    {"budget_rms_relative", "RMS of the budget over RMS of the expected values",
     &ComparisonFigures::budget_rms_relative, true},
}};

struct PlaceColumns {
  const char* name;
  const char* of;
  Extremum ComparisonFigures::*place;
  bool of_budget;
};
constexpr std::array<PlaceColumns, 2> kPlaces{{
    {"max_abs", "the largest |got - want|", &ComparisonFigures::max_abs, false},
    {"max_use", "the largest budget use", &ComparisonFigures::max_use, true},
}};

struct PlaceValue {
  const char* suffix;
  const char* long_name;
  double Extremum::*value;
  bool of_budget;
};
constexpr std::array<PlaceValue, 4> kPlaceValues{{
    {"", "", &Extremum::magnitude, false},
    {"_got", "device value at ", &Extremum::got, false},
    {"_want", "expected value at ", &Extremum::want, false},
    {"_budget", "budget at ", &Extremum::budget, true},
}};

const StageRecord& StageOf(const CaseRow& row, Stage stage) { return row.record->at(stage); }

void AddPlace(hid_t group, Table<CaseRow>& table, const std::string& name, const std::string& of,
              bool has_budget, const std::function<const Extremum&(const CaseRow&)>& get) {
  for (const PlaceValue& v : kPlaceValues) {
    if (v.of_budget && !has_budget) {
      continue;
    }
    table.AddNumber<float>(group, {name + v.suffix, "1", v.long_name + of},
                           [get, member = v.value](const CaseRow& row) {
                             const Extremum& place = get(row);
                             return place.row < 0 ? static_cast<double>(kAbsent) : place.*member;
                           });
  }
  table.AddNumber<std::int32_t>(group, {name + "_row", "1", "row of " + of + ", -1 for none"},
                                [get](const CaseRow& row) { return get(row).row; });
  table.AddNumber<std::int32_t>(group, {name + "_col", "1", "column of " + of + ", -1 for none"},
                                [get](const CaseRow& row) { return get(row).col; });
}

void AddComparison(hid_t group, Table<CaseRow>& table, Stage stage, const Comparison& comparison) {
  const auto figures =
      [stage, member = comparison.figures](const CaseRow& row) -> const ComparisonFigures& {
    return StageOf(row, stage).*member;
  };
  for (const CountColumn& column : kCounts) {
    if (comparison.has_budget || !column.of_budget) {
      table.AddNumber<std::uint64_t>(
          group, {column.name, "1", column.long_name},
          [figures, member = column.value](const CaseRow& row) { return figures(row).*member; });
    }
  }
  for (const FigureColumn& column : kFigures) {
    if (comparison.has_budget || !column.of_budget) {
      table.AddNumber<float>(group, {column.name, "1", column.long_name},
                             [figures, member = column.value](const CaseRow& row) {
                               const ComparisonFigures& f = figures(row);
                               return f.elements == 0 ? static_cast<double>(kAbsent) : f.*member;
                             });
    }
  }
  for (const PlaceColumns& place : kPlaces) {
    if (comparison.has_budget || !place.of_budget) {
      AddPlace(group, table, place.name, place.of, comparison.has_budget,
               [figures, member = place.place](const CaseRow& row) -> const Extremum& {
                 return figures(row).*member;
               });
    }
  }
}

void AddBits(hid_t group, Table<CaseRow>& table, Stage stage) {
  const auto count = [&](const char* name, const char* long_name,
                         std::uint64_t StageRecord::*value) {
    table.AddNumber<std::uint64_t>(
        group, {name, "1", long_name},
        [stage, value](const CaseRow& row) { return StageOf(row, stage).*value; });
  };
  count("compared", "elements compared with the order-faithful model", &StageRecord::bits_compared);
  count("differing", "elements whose bits differ from the model", &StageRecord::bits_differing);
  count("open", "elements that the documented bound of exp leaves open, accepted",
        &StageRecord::bits_open);
  count("exact", "elements with one right value, every partial sum being exact",
        &StageRecord::exact);
  count("exact_differing", "exact elements that are not that value", &StageRecord::exact_differing);
  table.AddNumber<std::uint64_t>(
      group, {"hash", "1", "first 8 bytes of the SHA-256 of the stage's output, 0: none"},
      [stage](const CaseRow& row) { return StageOf(row, stage).hash; });
  AddPlace(group, table, "first", "the first element that differs from the model", false,
           [stage](const CaseRow& row) -> const Extremum& {
             return StageOf(row, stage).first_difference;
           });
}

// Where the first differing element leaves the model, and how little a budget could hide.
void AddJudgement(hid_t group, Table<CaseRow>& table, Stage stage) {
  const auto place = [&](const char* name, const char* long_name, int Departure::*value) {
    table.AddNumber<std::int32_t>(
        group, {name, "1", long_name},
        [stage, value](const CaseRow& row) { return StageOf(row, stage).departure.*value; });
  };
  place("departure_k", "first row of K of the step that leaves the model, -1: not looked for",
        &Departure::k);
  place("departure_split", "split that owns that step", &Departure::split);
  const auto value = [&](const char* name, const char* long_name, double Departure::*member) {
    table.AddNumber<float>(group, {name, "1", long_name}, [stage, member](const CaseRow& row) {
      const Departure& d = StageOf(row, stage).departure;
      return d.k < 0 ? static_cast<double>(kAbsent) : d.*member;
    });
  };
  value("departure_got", "device's sum through that step", &Departure::got);
  value("departure_want", "the model's", &Departure::want);
  table.AddNumber<std::uint64_t>(
      group, {"hidden", "1", "elements not larger than the budget that judges them"},
      [stage](const CaseRow& row) { return StageOf(row, stage).hidden; });
  table.AddNumber<std::uint64_t>(
      group, {"reference_over", "1", "elements farther from the FP32 reference than allowed"},
      [stage](const CaseRow& row) { return StageOf(row, stage).reference_over; });
}

// The worst token, expert and tile.
void AddParts(hid_t group, Table<CaseRow>& table, Stage stage) {
  for (const Part part : kParts) {
    const auto figures = [stage, part](const CaseRow& row) -> const PartFigures& {
      return StageOf(row, stage).worst_part[static_cast<std::size_t>(part)];
    };
    const std::string name(ToString(part));
    table.AddNumber<std::int32_t>(
        group, {name, "1", name + " with the largest RMS difference to FP32, -1 for none"},
        [figures](const CaseRow& row) { return figures(row).index; });
    const auto add = [&](const char* suffix, const char* long_name, double PartFigures::*value) {
      table.AddNumber<float>(group, {name + suffix, "1", long_name + name},
                             [figures, value](const CaseRow& row) {
                               const PartFigures& f = figures(row);
                               return f.index < 0 ? static_cast<double>(kAbsent) : f.*value;
                             });
    };
    add("_rms", "RMS difference over that ", &PartFigures::rms);
    add("_max_abs", "largest difference over that ", &PartFigures::max_abs);
    add("_bias", "mean difference over that ", &PartFigures::bias);
    add("_rms_want", "RMS of the expected values over that ", &PartFigures::rms_want);
  }
}

void DeclareLogits(hid_t group, Table<CaseRow>& table) {
  h5::SetText(group, "long_name", "logits of the device's output against those of FP32's");
  const auto count = [&](const char* name, const char* long_name,
                         std::uint64_t LogitFigures::*value) {
    table.AddNumber<std::uint64_t>(group, {name, "1", long_name}, [value](const CaseRow& row) {
      return row.record->logits.*value;
    });
  };
  const auto figure = [&](const char* name, const char* long_name, double LogitFigures::*value) {
    table.AddNumber<float>(group, {name, "1", long_name}, [value](const CaseRow& row) {
      const LogitFigures& f = row.record->logits;
      return f.rows == 0 ? static_cast<double>(kAbsent) : f.*value;
    });
  };
  using F = LogitFigures;
  count("rows", "tokens; 0 for a case without a head", &F::rows);
  count("nonfinite_rows", "tokens with a logit that is NaN or infinite", &F::nonfinite_rows);
  count("elements", "logits that are finite on both sides", &F::elements);
  count("argmax_equal", "tokens whose greedy choice is the same", &F::argmax_equal);
  figure("max_abs", "largest |difference|", &F::max_abs);
  count("differing", "logits that are not equal", &F::differing);
  figure("rms", "root mean square of the differences", &F::rms);
  figure("rms_error", "standard error of it over tokens", &F::rms_error);
  figure("bias", "mean difference", &F::bias);
  figure("bias_error", "standard error of it over tokens", &F::bias_error);
  figure("argmax_error", "standard error of the share of equal greedy choices", &F::argmax_error);
  figure("flipped_margin", "largest margin, in FP32, of a greedy choice that flipped",
         &F::flipped_margin);
  figure("top5_overlap", "mean share of the five likeliest tokens that both have in common",
         &F::top_overlap);
  figure("top5_log_probability", "largest |difference| in log-probability of FP32's five",
         &F::top_log_probability);
  figure("top5_overlap_error", "standard error of top5_overlap", &F::top_overlap_error);
  figure("top5_log_probability_mean", "mean of the tokens' largest such difference",
         &F::top_log_probability_mean);
  figure("top5_log_probability_error", "standard error of that mean",
         &F::top_log_probability_error);
  figure("kl_mean", "mean KL divergence, FP32 to device", &F::kl_mean);
  figure("kl_mean_error", "standard error of it", &F::kl_mean_error);
  figure("kl_median_error", "standard error of kl_median", &F::kl_median_error);
  figure("kl_p99_error", "standard error of kl_p99", &F::kl_p99_error);
  figure("kl_median", "median of it", &F::kl_median);
  figure("kl_p99", "99th percentile of it", &F::kl_p99);
  figure("kl_max", "largest", &F::kl_max);
  table.AddNumber<std::int32_t>(
      group, {"first_flip", "token", "first token whose greedy choice differs, -1 for none"},
      [](const CaseRow& row) { return row.record->logits.first_flip; });
  const auto column = [&](const char* name, const char* long_name, int LogitFigures::*value) {
    table.AddNumber<std::int32_t>(group, {name, "1", long_name}, [value](const CaseRow& row) {
      return row.record->logits.*value;
    });
  };
  column("first_flip_base", "column of FP32's greedy choice there, -1 for none",
         &F::first_flip_base);
  column("first_flip_other", "column of the device's greedy choice there, -1 for none",
         &F::first_flip_other);
}

hid_t Keep(std::vector<Handle>& groups, Handle handle) {
  groups.push_back(std::move(handle));
  return groups.back().get();
}

void DeclareCases(hid_t group, Table<CaseRow>& table) {
  const auto text = [&](const char* name, const char* long_name, auto get) {
    table.AddText(group, {name, "", long_name},
                  [get](const CaseRow& row) { return get(*row.record); });
  };
  const auto fixed = [&](const char* name, const char* long_name, std::size_t bytes, auto get) {
    table.AddFixedText(group, {name, "", long_name}, bytes,
                       [get](const CaseRow& row) { return get(*row.record); });
  };
  const auto number = [&](const char* name, const char* units, const char* long_name, auto get) {
    table.AddNumber<std::uint32_t>(group, {name, units, long_name},
                                   [get](const CaseRow& row) { return get(*row.record); });
  };
  using Record = CaseRecord;
  fixed("descriptor", "canonical one-line text of the case", kDescriptorBytes,
        [](const Record& r) { return r.descriptor; });
  fixed("verdict", "verdict", kWordBytes, [](const Record& r) { return ToString(r.verdict); });
  text("reason", "why the case did not pass", [](const Record& r) { return r.reason; });
  fixed("data", "kind of tensors", kWordBytes, [](const Record& r) { return ToString(r.c.data); });
  fixed("routing", "routing of the tokens", 2 * kWordBytes,
        [](const Record& r) { return ToString(r.c.routing); });
  fixed("layout", "order of the slots in memory", kWordBytes,
        [](const Record& r) { return ToString(r.c.layout); });
  fixed("w13_tile", "CTA tile of W13", kWordBytes,
        [](const Record& r) { return ToString(r.c.w13.tile); });
  fixed("w2_tile", "CTA tile of W2", kWordBytes,
        [](const Record& r) { return ToString(r.c.w2.tile); });
  number("tokens", "token", "tokens", [](const Record& r) { return r.c.shape.tokens; });
  number("slots", "slot", "slots, tokens times routes",
         [](const Record& r) { return r.c.shape.slots(); });
  number("active_experts", "expert", "experts that at least one slot names",
         [](const Record& r) { return r.active_experts; });
  number("w13_splits", "1", "split-K count of W13", [](const Record& r) { return r.c.w13.splits; });
  number("w2_splits", "1", "split-K count of W2", [](const Record& r) { return r.c.w2.splits; });
  number("findings", "1", "rows of /findings that belong to the case",
         [](const Record& r) { return r.findings.size(); });
}

void DeclareCounters(hid_t group, Table<CaseRow>& table) {
  const auto counter = [&](const char* name, const char* units, const char* long_name,
                           std::uint64_t kernels::Counters::*value) {
    table.AddNumber<std::uint64_t>(group, {name, units, long_name}, [value](const CaseRow& row) {
      return row.record->counters.*value;
    });
  };
  using C = kernels::Counters;
  counter("lane_instructions", "1", "instructions times active lanes", &C::lane_instructions);
  counter("warp_instructions", "1", "instructions of warps", &C::warp_instructions);
  counter("mma", "1", "warp-wide matrix instructions", &C::mma);
  counter("mma_zero_rows", "1", "rows of zeros that they left out", &C::mma_zero_rows);
  counter("bank_conflicts", "cycle", "extra shared-memory cycles", &C::bank_conflicts);
  counter("global_sectors", "32 byte", "sectors of global memory requested", &C::global_sectors);
}

hid_t DeclareUlpScale(hid_t group, std::vector<Handle>& groups) {
  std::array<std::int32_t, kUlpBins> upper{};
  for (std::size_t bin = 0; bin < kUlpBins; ++bin) {
    upper[bin] = UlpBinUpper(bin);
  }
  const std::array<hsize_t, 1> extent{kUlpBins};
  const hid_t scale =
      Keep(groups, h5::WriteDataset(group, "ulp", H5T_STD_I32LE, extent, upper.data()));
  h5::SetText(scale, "units", "ulp of binary16");
  h5::SetText(scale, "long_name",
              "largest distance in the bin; -1 twice: farther than 2^14, then not finite");
  h5::MakeScale(scale, "ulp");
  return scale;
}

}  // namespace

void DeclareCaseColumns(hid_t file, Table<CaseRow>& table, std::vector<Handle>& groups) {
  table.AddNumber<std::uint64_t>(file, {"case", "1", "number of the case in the run, from 0"},
                                 [](const CaseRow& row) { return row.index; });
  DeclareCases(Keep(groups, h5::CreateGroup(file, "cases")), table);
  DeclareCounters(Keep(groups, h5::CreateGroup(file, "counters")), table);
  DeclareLogits(Keep(groups, h5::CreateGroup(file, "logits")), table);
  const hid_t metrics = Keep(groups, h5::CreateGroup(file, "metrics"));
  const hid_t histograms = Keep(groups, h5::CreateGroup(file, "histograms"));
  const hid_t ulp = DeclareUlpScale(histograms, groups);
  for (const Stage stage : kStages) {
    const std::string name(ToString(stage));
    const hid_t stage_metrics = Keep(groups, h5::CreateGroup(metrics, name));
    const hid_t stage_histograms = Keep(groups, h5::CreateGroup(histograms, name));
    table.AddFixedText(
        stage_metrics, {"verdict", "", "verdict of the stage"}, kWordBytes,
        [stage](const CaseRow& row) { return ToString(StageOf(row, stage).verdict); });
    AddJudgement(stage_metrics, table, stage);
    AddBits(Keep(groups, h5::CreateGroup(stage_metrics, "bits")), table, stage);
    AddParts(Keep(groups, h5::CreateGroup(stage_metrics, "parts")), table, stage);
    for (const Comparison& comparison : kComparisons) {
      const hid_t group = Keep(groups, h5::CreateGroup(stage_metrics, comparison.name));
      h5::SetText(group, "long_name", comparison.long_name);
      AddComparison(group, table, stage, comparison);
      table.AddVector<std::uint64_t>(
          stage_histograms,
          {comparison.name, "1",
           std::string("elements by distance in ulp, ") + comparison.long_name},
          kUlpBins, ulp, [stage, member = comparison.figures](const CaseRow& row) {
            const auto& bins = (StageOf(row, stage).*member).ulp_histogram;
            return std::vector<std::uint64_t>(bins.begin(), bins.end());
          });
    }
  }
}

void DeclareFindingColumns(hid_t file, Table<FindingRow>& table, std::vector<Handle>& groups) {
  const hid_t group = Keep(groups, h5::CreateGroup(file, "findings"));
  const auto text = [&](const char* name, const char* long_name,
                        std::string kernels::Finding::*value) {
    table.AddText(group, {name, "", long_name},
                  [value](const FindingRow& row) { return row.finding->*value; });
  };
  const auto number = [&](const char* name, const char* long_name, auto get) {
    table.AddNumber<std::uint64_t>(group, {name, "1", long_name}, get);
  };
  using F = kernels::Finding;
  number("finding", "number of the finding in the run, from 0",
         [](const FindingRow& row) { return row.index; });
  number("case", "the case that it belongs to",
         [](const FindingRow& row) { return row.case_index; });
  text("checker", "what found it", &F::checker);
  text("kernel", "kernel", &F::kernel);
  text("message", "what was found", &F::message);
  text("file", "PTX file", &F::file);
  number("line", "line of the PTX file", [](const FindingRow& row) { return row.finding->line; });
  text("source", "source file and line, where the PTX tells", &F::source);
  table.AddText(group, {"source_text", "", "that line, where the source was at hand"},
                [](const FindingRow& row) { return row.source_text; });
  number("address", "address in device memory",
         [](const FindingRow& row) { return row.finding->address; });
  number("block_x", "block index, x", [](const FindingRow& row) { return row.finding->block.x; });
  number("block_y", "block index, y", [](const FindingRow& row) { return row.finding->block.y; });
  number("block_z", "block index, z", [](const FindingRow& row) { return row.finding->block.z; });
  number("thread_x", "thread index, x",
         [](const FindingRow& row) { return row.finding->thread.x; });
  number("thread_y", "thread index, y",
         [](const FindingRow& row) { return row.finding->thread.y; });
  number("thread_z", "thread index, z",
         [](const FindingRow& row) { return row.finding->thread.z; });
}

}  // namespace voltcheck::verify
