#include "kernels/simulator/program/decoders.h"

#include <unordered_map>

namespace voltcheck::simulator {

Decoder FindDecoder(const std::string& opcode) {
  static const std::unordered_map<std::string, Decoder> decoders = {
      {"mov", DecodeMov},
      {"cvta", DecodeCvta},
      {"isspacep", DecodeIsspacep},
      {"cvt", DecodeConvert},
      {"prmt", DecodePermute},
      {"setp", DecodeSetp},
      {"set", DecodeSet},
      {"selp", DecodeSelp},
      {"slct", DecodeSlct},
      {"ld", DecodeLoad},
      {"ldu", DecodeLoad},
      {"st", DecodeStore},
      {"atom", DecodeAtomic},
      {"red", DecodeAtomic},
      {"membar", DecodeFence},
      {"fence", DecodeFence},
      {"prefetch", DecodePrefetch},
      {"prefetchu", DecodePrefetch},
      {"bra", DecodeBranch},
      {"brx", DecodeBranchIndexed},
      {"call", DecodeCall},
      {"ret", DecodeReturn},
      {"exit", DecodeExit},
      {"trap", DecodeTrap},
      {"nanosleep", DecodeNanosleep},
      {"bar", DecodeBarrier},
      {"barrier", DecodeBarrier},
      {"shfl", DecodeShfl},
      {"vote", DecodeVote},
      {"match", DecodeMatch},
      {"activemask", DecodeActivemask},
      {"mma", DecodeMma},
      {"wmma", DecodeWmma},
      {"add", DecodeCarry},
      {"addc", DecodeCarry},
      {"sub", DecodeCarry},
      {"subc", DecodeCarry},
      {"mad", DecodeCarry},
      {"madc", DecodeCarry},
      {"voltcheck", DecodeRuntime},
  };
  const auto found = decoders.find(opcode);
  return found == decoders.end() ? nullptr : found->second;
}

}  // namespace voltcheck::simulator
