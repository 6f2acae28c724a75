// Instructions across the lanes of a warp; all lanes take part.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

Instruction Vote(const std::string& mode) {
  Instruction vote = Plain("vote.sync." + mode, {"pred"}, "u32");
  vote.body = "setp.ne.u32 %p0, %a0, 0; ";
  vote.body += mode == "ballot.b32"
                   ? "vote.sync.ballot.b32 %x0, %p0, -1;"
                   : "vote.sync." + mode + ".pred %p1, %p0, -1; selp.u32 %x0, 1, 0, %p1;";
  return vote;
}

}  // namespace

void AddWarp(std::vector<Instruction>& all) {
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    Instruction shuffle;
    shuffle.name = std::string("shfl.sync.") + mode + ".b32";
    shuffle.inputs = {{Domain::kBits, 4}, {Domain::kShift, 4}, {Domain::kBits, 4}};
    shuffle.results = {4, 4};
    shuffle.body = shuffle.name + " %x0|%p0, %a0, %a1, %a2, -1; selp.u32 %x1, 1, 0, %p0;";
    all.push_back(shuffle);
    // As nvcc emits it: a constant distance and the clamp of the whole warp.
    Instruction whole = shuffle;
    whole.name += " (1, whole warp)";
    whole.inputs.resize(1);
    whole.body = shuffle.name + " %x0|%p0, %a0, 1, " + (std::string(mode) == "up" ? "0" : "31") +
                 ", -1; selp.u32 %x1, 1, 0, %p0;";
    all.push_back(whole);
  }
  for (const char* mode : {"all", "any", "uni", "ballot.b32"}) {
    all.push_back(Vote(mode));
  }
  for (const std::string& t : Words{"b32", "b64"}) {
    // Few different values, so that some match.
    Instruction match = Plain("match.any.sync." + t, {t}, "u32");
    match.body = "and." + t + " %a0, %a0, 3; match.any.sync." + t + " %x0, %a0, -1;";
    all.push_back(match);
    match.name = "match.all.sync." + t;
    match.results = {4, 4};
    match.body = "and." + t + " %a0, %a0, 1; match.all.sync." + t +
                 " %x0|%p0, %a0, -1; selp.u32 %x1, 1, 0, %p0;";
    all.push_back(match);
  }
  // Half a warp each, by its mask.
  Instruction half = Plain("shfl.sync.idx.b32 (half warps)", {"b32", "u32"}, "u32");
  half.body =
      "setp.lt.u32 %p0, %lane, 16; @!%p0 bra upper; "
      "shfl.sync.idx.b32 %x0, %a0, %a1, 0x100f, 0x0000ffff; bra done; "
      "upper: shfl.sync.idx.b32 %x0, %a0, %a1, 0x100f, 0xffff0000; done:";
  all.push_back(half);
  Instruction active = Plain("activemask.b32 (half warps)", {"b32"}, "u32");
  active.body =
      "mov.u32 %x0, 0; setp.lt.u32 %p0, %lane, 16; @!%p0 bra done; activemask.b32 %x0; done:";
  all.push_back(active);
  for (const char* mask : {"eq", "le", "lt", "ge", "gt"}) {
    Instruction special = Plain(std::string("%lanemask_") + mask, {"b32"}, "u32");
    special.body = "mov.u32 %x0, %lanemask_" + std::string(mask) + ";";
    all.push_back(special);
  }
}

}  // namespace voltcheck::conformance
