#include "kernels/simulator/program/runtime.h"

#include <algorithm>
#include <string>

namespace voltcheck::simulator {
namespace {

constexpr const char* kRuntime = R"(
.version 6.5
.target sm_70
.address_size 64
.global .align 16 .b8 voltcheck_heap[8388608];
.global .align 8 .u64 voltcheck_heap_used;

.func (.param .b32 count) vprintf(.param .b64 format, .param .b64 arguments)
{
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [format];
  mov.u32 %r0, 0;
next:
  ld.u8 %r1, [%rd0];
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra done;
  add.u64 %rd0, %rd0, 1;
  setp.ne.u32 %p0, %r1, 37;
  @%p0 bra next;
  ld.u8 %r2, [%rd0];
  setp.eq.u32 %p1, %r2, 37;
  @%p1 add.u64 %rd0, %rd0, 1;
  @!%p1 add.u32 %r0, %r0, 1;
  bra next;
done:
  st.param.b32 [count], %r0;
  ret;
}
.func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function,
                   .param .b64 character_bytes)
{
  .reg .b32 %r<1>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [message];
  ld.param.u64 %rd1, [file];
  ld.param.u32 %r0, [line];
  ld.param.u64 %rd2, [function];
  voltcheck.assertfail %rd0, %rd1, %r0, %rd2;
  trap;
}
.func (.param .b64 address) malloc(.param .b64 bytes)
{
  .reg .pred %p<1>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd0, [bytes];
  mov.u64 %rd1, 0;
  setp.gt.u64 %p0, %rd0, 8388608;
  @%p0 bra done;
  add.u64 %rd0, %rd0, 15;
  and.b64 %rd0, %rd0, 0xFFFFFFFFFFFFFFF0;
  atom.global.add.u64 %rd2, [voltcheck_heap_used], %rd0;
  add.u64 %rd3, %rd2, %rd0;
  setp.gt.u64 %p0, %rd3, 8388608;
  @%p0 bra done;
  mov.u64 %rd4, voltcheck_heap;
  cvta.global.u64 %rd4, %rd4;
  add.u64 %rd1, %rd4, %rd2;
done:
  st.param.b64 [address], %rd1;
  ret;
}
.func free(.param .b64 address)
{
  ret;
}
)";

const ptx::Function* FindBody(const ptx::Module& runtime, const std::string& name) {
  const auto found =
      std::find_if(runtime.functions.begin(), runtime.functions.end(),
                   [&](const ptx::Function& function) { return function.name == name; });
  return found == runtime.functions.end() ? nullptr : &*found;
}

}  // namespace

void LinkRuntime(ptx::Module& module) {
  const bool needed = std::any_of(
      module.functions.begin(), module.functions.end(), [](const ptx::Function& function) {
        return function.declaration && (function.name == "vprintf" || function.name == "malloc" ||
                                        function.name == "free" || function.name == "__assertfail");
      });
  if (!needed) {
    return;
  }
  static const ptx::Module runtime = ptx::ParseModule("runtime", kRuntime);
  bool heap = false;
  for (ptx::Function& function : module.functions) {
    const ptx::Function* body = function.declaration ? FindBody(runtime, function.name) : nullptr;
    if (body == nullptr) {
      continue;
    }
    const ptx::Location declared = function.location;
    function = *body;
    function.location = declared;
    for (ptx::Instruction& instruction : function.body) {
      instruction.location = declared;  // messages speak of the user's file
    }
    heap |= function.name == "malloc";
  }
  if (heap) {
    module.variables.insert(module.variables.end(), runtime.variables.begin(),
                            runtime.variables.end());
  }
}

}  // namespace voltcheck::simulator
