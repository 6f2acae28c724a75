// Copies and fills.
#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

CopyWork Plain(void* to, const void* from, std::size_t bytes, int kind) {
  CopyWork work;
  work.to = Address(to);
  work.from = Address(from);
  work.width = bytes;
  work.direction = ToDirection(kind);
  return work;
}

CopyWork Rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
              std::size_t width, std::size_t height, int kind) {
  CopyWork work = Plain(to, from, width, kind);
  work.to_pitch = to_pitch;
  work.from_pitch = from_pitch;
  work.height = height;
  return work;
}

/// The copy to or from a variable. Direction `kind` is the host's: 1 to the device, 2 from it, 3
/// on it, 4 by the addresses.
CopyWork SymbolCopy(World& world, const void* symbol, const void* other, std::size_t bytes,
                    std::size_t offset, int kind, bool to_symbol) {
  const voltcheck::simulator::ModuleVariable variable = world.registry.FindVariable(symbol);
  Require(offset <= variable.bytes && bytes <= variable.bytes - offset, kInvalidValue,
          "more than the variable holds");
  Require(kind == 3 || kind == 4 || kind == (to_symbol ? 1 : 2), kInvalidCopyDirection);
  auto* inside = reinterpret_cast<void*>(variable.address + offset);
  return to_symbol ? Plain(inside, other, bytes, kind)
                   : Plain(const_cast<void*>(other), inside, bytes, kind);
}

FillWork Bytes(void* to, int value, std::size_t count) {
  FillWork work;
  work.to = Address(to);
  work.value = static_cast<std::uint8_t>(value);
  work.width = count;
  return work;
}

FillWork ByteRows(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  FillWork work = Bytes(to, value, width);
  work.pitch = pitch;
  work.height = height;
  return work;
}

FillWork ByteSlices(const Pitched& to, int value, const Extent& extent) {
  FillWork work = ByteRows(to.pointer, to.pitch, value, extent.width, extent.height);
  work.slice = to.pitch * to.height;
  work.depth = extent.depth;
  return work;
}

/// A call that is done when it returns: on the legacy stream, or the thread's own.
int Wait(const char* name, bool own, const auto& make) {
  return Call(name, [&](World& world) {
    Stream& stream = world.streams.Resolve(nullptr, own);
    world.streams.Submit(stream, make(world));
    world.streams.Synchronize(stream);
    Require(world.machine.fault() == kSuccess, world.machine.fault());
  });
}

int Queue(const char* name, bool own, void* stream, const auto& make) {
  return Call(name, [&](World& world) {
    world.streams.Submit(world.streams.Resolve(stream, own), make(world));
  });
}

}  // namespace

VOLTCHECK_BOTH(cudaMemcpy, _ptds, (void* to, const void* from, std::size_t bytes, int kind),
               (to, from, bytes, kind)) {
  return Wait("cudaMemcpy", own, [&](World&) { return Plain(to, from, bytes, kind); });
}

VOLTCHECK_BOTH(cudaMemcpyAsync, _ptsz,
               (void* to, const void* from, std::size_t bytes, int kind, void* stream),
               (to, from, bytes, kind, stream)) {
  return Queue("cudaMemcpyAsync", own, stream,
               [&](World&) { return Plain(to, from, bytes, kind); });
}

VOLTCHECK_BOTH(cudaMemcpy2D, _ptds,
               (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                std::size_t width, std::size_t height, int kind),
               (to, to_pitch, from, from_pitch, width, height, kind)) {
  return Wait("cudaMemcpy2D", own,
              [&](World&) { return Rows(to, to_pitch, from, from_pitch, width, height, kind); });
}

VOLTCHECK_BOTH(cudaMemcpy2DAsync, _ptsz,
               (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                std::size_t width, std::size_t height, int kind, void* stream),
               (to, to_pitch, from, from_pitch, width, height, kind, stream)) {
  return Queue("cudaMemcpy2DAsync", own, stream,
               [&](World&) { return Rows(to, to_pitch, from, from_pitch, width, height, kind); });
}

VOLTCHECK_BOTH(cudaMemcpy3D, _ptds, (const Copy3D* copy), (copy)) {
  return Wait("cudaMemcpy3D", own, [&](World&) { return MakeCopy(*copy); });
}

VOLTCHECK_BOTH(cudaMemcpy3DAsync, _ptsz, (const Copy3D* copy, void* stream), (copy, stream)) {
  return Queue("cudaMemcpy3DAsync", own, stream, [&](World&) { return MakeCopy(*copy); });
}

VOLTCHECK_BOTH(cudaMemcpyToSymbol, _ptds,
               (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                int kind),
               (symbol, from, bytes, offset, kind)) {
  return Wait("cudaMemcpyToSymbol", own, [&](World& world) {
    return SymbolCopy(world, symbol, from, bytes, offset, kind, true);
  });
}

VOLTCHECK_BOTH(cudaMemcpyFromSymbol, _ptds,
               (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind),
               (to, symbol, bytes, offset, kind)) {
  return Wait("cudaMemcpyFromSymbol", own, [&](World& world) {
    return SymbolCopy(world, symbol, to, bytes, offset, kind, false);
  });
}

VOLTCHECK_BOTH(cudaMemcpyToSymbolAsync, _ptsz,
               (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                int kind, void* stream),
               (symbol, from, bytes, offset, kind, stream)) {
  return Queue("cudaMemcpyToSymbolAsync", own, stream, [&](World& world) {
    return SymbolCopy(world, symbol, from, bytes, offset, kind, true);
  });
}

VOLTCHECK_BOTH(cudaMemcpyFromSymbolAsync, _ptsz,
               (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind,
                void* stream),
               (to, symbol, bytes, offset, kind, stream)) {
  return Queue("cudaMemcpyFromSymbolAsync", own, stream, [&](World& world) {
    return SymbolCopy(world, symbol, to, bytes, offset, kind, false);
  });
}

VOLTCHECK_BOTH(cudaMemset, _ptds, (void* to, int value, std::size_t count), (to, value, count)) {
  return Wait("cudaMemset", own, [&](World&) { return Bytes(to, value, count); });
}

VOLTCHECK_BOTH(cudaMemsetAsync, _ptsz, (void* to, int value, std::size_t count, void* stream),
               (to, value, count, stream)) {
  return Queue("cudaMemsetAsync", own, stream, [&](World&) { return Bytes(to, value, count); });
}

VOLTCHECK_BOTH(cudaMemset2D, _ptds,
               (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
               (to, pitch, value, width, height)) {
  return Wait("cudaMemset2D", own,
              [&](World&) { return ByteRows(to, pitch, value, width, height); });
}

VOLTCHECK_BOTH(cudaMemset2DAsync, _ptsz,
               (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                void* stream),
               (to, pitch, value, width, height, stream)) {
  return Queue("cudaMemset2DAsync", own, stream,
               [&](World&) { return ByteRows(to, pitch, value, width, height); });
}

VOLTCHECK_BOTH(cudaMemset3D, _ptds, (Pitched to, int value, Extent extent), (to, value, extent)) {
  return Wait("cudaMemset3D", own, [&](World&) { return ByteSlices(to, value, extent); });
}

VOLTCHECK_BOTH(cudaMemset3DAsync, _ptsz, (Pitched to, int value, Extent extent, void* stream),
               (to, value, extent, stream)) {
  return Queue("cudaMemset3DAsync", own, stream,
               [&](World&) { return ByteSlices(to, value, extent); });
}

extern "C" {

/// There is one device, so a peer is the device itself.
int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return Wait(__func__, false, [&](World&) {
    Require(to_device == 0 && from_device == 0, kInvalidDevice);
    return Plain(to, from, bytes, 3);
  });
}

int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                        std::size_t bytes, void* stream) {
  return Queue(__func__, false, stream, [&](World&) {
    Require(to_device == 0 && from_device == 0, kInvalidDevice);
    return Plain(to, from, bytes, 3);
  });
}

int cudaGetSymbolAddress(void** address, const void* symbol) {
  return Call(__func__, [&](World& world) {
    *address = reinterpret_cast<void*>(world.registry.FindVariable(symbol).address);
  });
}

int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return Call(__func__, [&](World& world) { *bytes = world.registry.FindVariable(symbol).bytes; });
}

}  // extern "C"
