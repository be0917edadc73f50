#include "tests/gpu_sim/cublaslt/descriptors.hpp"

#include <cstring>
#include <map>
#include <memory>

#include "tests/gpu_sim/cublaslt/call.hpp"

namespace gpu_sim {

namespace {

// A field of a descriptor; null where the simulation lacks it.
struct Field {
  void* at = nullptr;
  std::size_t bytes = 0;
};

template <typename T>
Field field(T& value) {
  return {&value, sizeof value};
}

Field field_of(MatmulDesc& desc, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return field(desc.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return field(desc.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return field(desc.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return field(desc.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return field(desc.transpose_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return field(desc.transpose_c);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return field(desc.epilogue);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return field(desc.sm_count_target);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return field(desc.fast_accumulation);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return field(desc.scale_pointers[0]);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return field(desc.scale_pointers[1]);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return field(desc.scale_pointers[2]);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return field(desc.scale_pointers[3]);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
      return field(desc.scale_modes[0]);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
      return field(desc.scale_modes[1]);
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE:
      return field(desc.scale_modes[2]);
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE:
      return field(desc.scale_modes[3]);
    default:
      return {};
  }
}

Field field_of(MatrixLayout& layout, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return field(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return field(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return field(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return field(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return field(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return field(layout.batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return field(layout.batch_stride);
    default:
      return {};
  }
}

Field field_of(Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      return field(preference.search_mode);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return field(preference.workspace_bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return field(preference.reduction_mask);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return field(preference.alignment[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return field(preference.alignment[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return field(preference.alignment[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return field(preference.alignment[3]);
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT:
      return field(preference.waves);
    default:
      return {};
  }
}

// The descriptors that the program must destroy. One on its stack, made by an Init call, is not
// here.
std::map<void*, std::shared_ptr<void>>& created() {
  static auto* all = new std::map<void*, std::shared_ptr<void>>;
  return *all;
}

template <typename Content, typename Opaque>
Content& content(Opaque* opaque) {
  static_assert(sizeof(Content) <= sizeof(Opaque));
  require_status(opaque != nullptr);
  auto& found = *reinterpret_cast<Content*>(opaque);
  require_status(found.magic == Content::kMagic);
  return found;
}

template <typename Content, typename Opaque>
cublasStatus_t init(Opaque* opaque, std::size_t bytes, const Content& initial) {
  return lt_call([&](Model&, Lock&) {
    require_status(opaque != nullptr && bytes >= sizeof(Opaque));
    new (opaque) Content(initial);
  });
}

template <typename Content, typename Opaque>
cublasStatus_t create(Opaque** opaque, const char* kind, const Content& initial) {
  return lt_call([&](Model& model, Lock&) {
    require_status(opaque != nullptr);
    const auto made = std::make_shared<Opaque>();
    new (made.get()) Content(initial);
    created()[made.get()] = made;
    *opaque = made.get();
    model.ledger.opened(kind);
  });
}

template <typename Content, typename Opaque>
cublasStatus_t destroy(Opaque* opaque, const char* kind) {
  return lt_call([&](Model& model, Lock&) {
    if (opaque == nullptr) {
      return;
    }
    const auto kept = created().find(opaque);
    require_status(kept != created().end());
    content<Content>(opaque).magic = 0;
    created().erase(kept);
    model.ledger.closed(kind);
  });
}

template <typename Content, typename Opaque, typename Attribute>
cublasStatus_t set(Opaque* opaque, Attribute attribute, const void* value, std::size_t bytes) {
  return lt_call([&](Model&, Lock&) {
    const Field to = field_of(content<Content>(opaque), attribute);
    require_status(to.at != nullptr, CUBLAS_STATUS_NOT_SUPPORTED);
    require_status(value != nullptr && bytes == to.bytes);
    std::memcpy(to.at, value, bytes);
  });
}

constexpr const char* kMatmul = "matmul descriptor";
constexpr const char* kLayout = "matrix layout";
constexpr const char* kPreference = "matmul preference";

MatmulDesc matmul_of(cublasComputeType_t compute, cudaDataType_t scale) {
  MatmulDesc desc;
  desc.compute = compute;
  desc.scale = scale;
  return desc;
}

MatrixLayout layout_of(cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t leading) {
  MatrixLayout layout;
  layout.type = type;
  layout.rows = rows;
  layout.columns = columns;
  layout.leading = leading;
  return layout;
}

}  // namespace

const MatmulDesc& described(cublasLtMatmulDesc_t descriptor) {
  return content<MatmulDesc>(descriptor);
}
const MatrixLayout& described(cublasLtMatrixLayout_t layout) {
  return content<MatrixLayout>(layout);
}
const Preference& described(cublasLtMatmulPreference_t preference) {
  return content<Preference>(preference);
}

}  // namespace gpu_sim

using namespace gpu_sim;

extern "C" {

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, std::size_t bytes,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  return init(desc, bytes, matmul_of(compute, scale));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return create(desc, kMatmul, matmul_of(compute, scale));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy<MatmulDesc>(desc, kMatmul);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  return set<MatmulDesc>(desc, attribute, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute, void* value,
                                              std::size_t bytes, std::size_t* written) {
  return lt_call([&](Model&, Lock&) {
    const Field from = field_of(content<MatmulDesc>(desc), attribute);
    require_status(from.at != nullptr, CUBLAS_STATUS_NOT_SUPPORTED);
    require_status(bytes == 0 ? written != nullptr : value != nullptr && bytes >= from.bytes);
    if (written != nullptr) {
      *written = from.bytes;
    }
    if (bytes > 0) {
      std::memcpy(value, from.at, from.bytes);
    }
  });
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t bytes,
                                                 cudaDataType type, std::uint64_t rows,
                                                 std::uint64_t columns, std::int64_t leading) {
  return init(layout, bytes, layout_of(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  return create(layout, kLayout, layout_of(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<MatrixLayout>(layout, kLayout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  return set<MatrixLayout>(layout, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     std::size_t bytes) {
  return init(preference, bytes, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, kPreference, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference, kPreference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  return set<Preference>(preference, attribute, value, bytes);
}

}  // extern "C"
