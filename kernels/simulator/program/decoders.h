#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_DECODERS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_DECODERS_H_

#include "kernels/simulator/program/function_lowering.h"

namespace voltcheck::simulator {

// Each decodes the instruction that the lowering is at.
void DecodeMov(FunctionLowering& lowering);
void DecodeCvta(FunctionLowering& lowering);
void DecodeIsspacep(FunctionLowering& lowering);
void DecodeConvert(FunctionLowering& lowering);
void DecodePermute(FunctionLowering& lowering);
void DecodeSetp(FunctionLowering& lowering);
void DecodeSet(FunctionLowering& lowering);
void DecodeSelp(FunctionLowering& lowering);
void DecodeSlct(FunctionLowering& lowering);
void DecodeLoad(FunctionLowering& lowering);
void DecodeStore(FunctionLowering& lowering);
void DecodeAtomic(FunctionLowering& lowering);
void DecodeFence(FunctionLowering& lowering);
void DecodePrefetch(FunctionLowering& lowering);
void DecodeBranch(FunctionLowering& lowering);
void DecodeBranchIndexed(FunctionLowering& lowering);
void DecodeCall(FunctionLowering& lowering);
void DecodeReturn(FunctionLowering& lowering);
void DecodeExit(FunctionLowering& lowering);
void DecodeTrap(FunctionLowering& lowering);
void DecodeNanosleep(FunctionLowering& lowering);
void DecodeBarrier(FunctionLowering& lowering);
void DecodeShfl(FunctionLowering& lowering);
void DecodeVote(FunctionLowering& lowering);
void DecodeMatch(FunctionLowering& lowering);
void DecodeActivemask(FunctionLowering& lowering);
void DecodeMma(FunctionLowering& lowering);
void DecodeWmma(FunctionLowering& lowering);
void DecodeCarry(FunctionLowering& lowering);
/// voltcheck.assertfail, which only LinkRuntime writes.
void DecodeRuntime(FunctionLowering& lowering);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_DECODERS_H_
