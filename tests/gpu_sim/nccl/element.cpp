#include "tests/gpu_sim/nccl/element.hpp"

#include <algorithm>
#include <array>

namespace gpu_sim::nccl {

namespace {

struct Type {
  ncclDataType_t type;
  std::size_t bytes;
  const char* name;
};

constexpr std::array kTypes{Type{ncclInt8, 1, "int8"},
                            Type{ncclUint8, 1, "uint8"},
                            Type{ncclInt32, 4, "int32"},
                            Type{ncclUint32, 4, "uint32"},
                            Type{ncclInt64, 8, "int64"},
                            Type{ncclUint64, 8, "uint64"},
                            Type{ncclFloat16, 2, "float16"},
                            Type{ncclFloat32, 4, "float32"},
                            Type{ncclFloat64, 8, "float64"},
                            Type{ncclBfloat16, 2, "bfloat16"},
                            Type{ncclFloat8e4m3, 1, "float8e4m3"},
                            Type{ncclFloat8e5m2, 1, "float8e5m2"}};

const Type* known(ncclDataType_t type) {
  const auto* found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& one) { return one.type == type; });
  return found == kTypes.end() ? nullptr : found;
}

// What a type is calculated in. Sums of integers wrap around, as they do on a GPU.
template <typename T>
struct Wide {
  using Sum = float;
  using Order = float;
};
template <>
struct Wide<double> {
  using Sum = double;
  using Order = double;
};
template <typename T>
requires std::is_integral_v<T>
struct Wide<T> {
  using Sum = std::uint64_t;
  using Order = T;
};

template <typename T>
T combined(T a, T b, ncclRedOp_t op) {
  using Sum = typename Wide<T>::Sum;
  using Order = typename Wide<T>::Order;
  switch (op) {
    case ncclProd:
      return static_cast<T>(static_cast<Sum>(a) * static_cast<Sum>(b));
    case ncclMax:
      return static_cast<Order>(a) < static_cast<Order>(b) ? b : a;
    case ncclMin:
      return static_cast<Order>(b) < static_cast<Order>(a) ? b : a;
    default:
      return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b));
  }
}

template <typename T>
void fold(Bytes& into, const Bytes& from, ncclRedOp_t op) {
  auto* result = reinterpret_cast<T*>(into.data());
  const auto* next = reinterpret_cast<const T*>(from.data());
  const std::size_t count = into.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = combined(result[i], next[i], op);
  }
}

using Fold = void (*)(Bytes&, const Bytes&, ncclRedOp_t);

Fold fold_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return fold<std::int8_t>;
    case ncclUint8:
      return fold<std::uint8_t>;
    case ncclInt32:
      return fold<std::int32_t>;
    case ncclUint32:
      return fold<std::uint32_t>;
    case ncclInt64:
      return fold<std::int64_t>;
    case ncclUint64:
      return fold<std::uint64_t>;
    case ncclFloat16:
      return fold<__half>;
    case ncclFloat64:
      return fold<double>;
    case ncclBfloat16:
      return fold<__nv_bfloat16>;
    case ncclFloat8e4m3:
      return fold<__nv_fp8_e4m3>;
    case ncclFloat8e5m2:
      return fold<__nv_fp8_e5m2>;
    default:
      return fold<float>;
  }
}

}  // namespace

std::size_t element_bytes(ncclDataType_t type) {
  const Type* found = known(type);
  return found == nullptr ? 0 : found->bytes;
}

const char* type_name(ncclDataType_t type) {
  const Type* found = known(type);
  return found == nullptr ? "unknown" : found->name;
}

bool is_known(ncclRedOp_t op) {
  return op == ncclSum || op == ncclProd || op == ncclMax || op == ncclMin;
}

Bytes reduced(const std::vector<const Bytes*>& inputs, ncclDataType_t type, ncclRedOp_t op) {
  Bytes result = *inputs.front();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    fold_of(type)(result, *inputs[i], op);
  }
  return result;
}

}  // namespace gpu_sim::nccl
