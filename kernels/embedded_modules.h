#ifndef VOLTCHECK_KERNELS_EMBEDDED_MODULES_H_
#define VOLTCHECK_KERNELS_EMBEDDED_MODULES_H_

namespace voltcheck::kernels {

/// One row of the table that cmake/Ptx.cmake writes in assembler; all null ends it.
struct EmbeddedModule {
  const char* name;
  const char* ptx_begin;  ///< a zero byte stands at ptx_end
  const char* ptx_end;
  const char* cubin_begin;
  const char* cubin_end;
};

extern "C" const EmbeddedModule voltcheck_embedded_modules[];

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_EMBEDDED_MODULES_H_
