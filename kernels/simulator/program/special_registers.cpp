#include <array>
#include <utility>

#include "kernels/simulator/program/function_lowering.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

struct NamedRow {
  std::string_view name;
  SpecialRow row;
};

constexpr std::array kSpecialRows = {
    NamedRow{"%tid.x", {'w', RowRef(WarpRow::kTidX)}},
    NamedRow{"%tid.y", {'w', RowRef(WarpRow::kTidY)}},
    NamedRow{"%tid.z", {'w', RowRef(WarpRow::kTidZ)}},
    NamedRow{"%laneid", {'w', RowRef(WarpRow::kLaneid)}},
    NamedRow{"%warpid", {'w', RowRef(WarpRow::kWarpid)}},
    NamedRow{"%lanemask_eq", {'w', RowRef(WarpRow::kLanemaskEq)}},
    NamedRow{"%lanemask_le", {'w', RowRef(WarpRow::kLanemaskLe)}},
    NamedRow{"%lanemask_lt", {'w', RowRef(WarpRow::kLanemaskLt)}},
    NamedRow{"%lanemask_ge", {'w', RowRef(WarpRow::kLanemaskGe)}},
    NamedRow{"%lanemask_gt", {'w', RowRef(WarpRow::kLanemaskGt)}},
    NamedRow{"%ctaid.x", {'w', RowRef(BlockRow::kCtaidX)}},
    NamedRow{"%ctaid.y", {'w', RowRef(BlockRow::kCtaidY)}},
    NamedRow{"%ctaid.z", {'w', RowRef(BlockRow::kCtaidZ)}},
    NamedRow{"%nctaid.x", {'w', RowRef(BlockRow::kNctaidX)}},
    NamedRow{"%nctaid.y", {'w', RowRef(BlockRow::kNctaidY)}},
    NamedRow{"%nctaid.z", {'w', RowRef(BlockRow::kNctaidZ)}},
    NamedRow{"%ntid.x", {'w', RowRef(BlockRow::kNtidX)}},
    NamedRow{"%ntid.y", {'w', RowRef(BlockRow::kNtidY)}},
    NamedRow{"%ntid.z", {'w', RowRef(BlockRow::kNtidZ)}},
    NamedRow{"%nwarpid", {'w', RowRef(BlockRow::kNwarpid)}},
    NamedRow{"%smid", {'w', RowRef(BlockRow::kSmid)}},
    NamedRow{"%nsmid", {'w', RowRef(BlockRow::kNsmid)}},
    NamedRow{"%total_smem_size", {'w', RowRef(BlockRow::kTotalShared)}},
    NamedRow{"%dynamic_smem_size", {'w', RowRef(BlockRow::kDynamicSharedSize)}},
    NamedRow{"%gridid", {'x', RowRef(BlockRow::kGridId)}},
};

}  // namespace

SpecialRow FindSpecialRow(std::string_view name) {
  for (const NamedRow& special : kSpecialRows) {
    if (special.name == name) {
      return special.row;
    }
  }
  return {};
}

}  // namespace voltcheck::simulator
