// Bulk tensor copies at their issue: what the hardware would fault on, which bytes are meant, and who is told.
#include <algorithm>
#include <cstring>

#include <gantry/tma/issue.hpp>

#include "copies.hpp"
#include "issue.hpp"

namespace gantry::sim {
namespace {

Operation operation_of(CopyKind kind) {
  switch (kind) {
    case CopyKind::load:
      return Operation::tensor_load;
    case CopyKind::store:
      return Operation::tensor_store;
    case CopyKind::reduce:
      return Operation::tensor_reduce;
    case CopyKind::prefetch:
      return Operation::tensor_prefetch;
  }
  return Operation::none;
}

// From the map's address to the tensor's end, in whole chunks of 16 bytes; 0 where strides wrap around the address
// space, so that the map does not say where its tensor ends (tma/ragged.hpp).
std::uint64_t bytes_of_tensor(const TmaDescriptorParams& map) {
  constexpr double kAddressSpace = 0x1p48;
  auto extent = static_cast<double>(map.dims[0]) * element_bytes(map.data_type);
  std::uint64_t bytes = map.dims[0] * static_cast<std::uint64_t>(element_bytes(map.data_type));
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    extent += static_cast<double>(map.dims[i] - 1) * static_cast<double>(map.strides[i - 1]);
    bytes += (map.dims[i] - 1) * map.strides[i - 1];
  }
  return extent < kAddressSpace ? (bytes + 15) / 16 * 16 : 0;
}

TmaDescriptorParams map_of(const TensorCopy& copy, SiteId site) {
  if (grid().shared_owner(copy.map)) {
    fault("tensor-map-space", site,
          "A copy was given a tensor map in shared memory, at " +
              grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(copy.map), sizeof(TmaDescriptor)) +
              ": a map lies in parameter, constant or global memory.");
  }
  if (reinterpret_cast<std::uintptr_t>(copy.map) % 64 != 0) {
    fault("tensor-map-alignment", site,
          "A copy was given a tensor map at address " + address_text(copy.map) + ", which is no multiple of 64.");
  }
  if (!grid().global_memory().is_there(reinterpret_cast<std::uint64_t>(copy.map), sizeof(TmaDescriptor), false)) {
    fault("illegal-address", site,
          "A copy was given a tensor map at address " + address_text(copy.map) + ", which is no memory of the host.");
  }
  grid().maps().check_use(copy.map, site);
  TmaDescriptor bytes;
  std::memcpy(&bytes, copy.map, sizeof bytes);
  const UnpackedTmaDescriptor map = unpack(bytes);
  if (!map) {
    fault("tensor-map-invalid", site,
          "The 128 bytes at address " + address_text(copy.map) +
              ", which a copy was given, are no tensor map: never encoded, or overwritten.");
  }
  if (static_cast<int>(map->rank) != copy.rank) {
    fault("tensor-map-mismatch", site,
          "A copy with " + std::to_string(copy.rank) + " coordinates was given a map of rank " +
              std::to_string(map->rank) + ".");
  }
  if ((map->mode == TmaMode::im2col) != copy.im2col) {
    fault("tensor-map-mismatch", site,
          copy.im2col ? "An im2col copy was given a tiled map." : "A tiled copy was given an im2col map.");
  }
  if (const std::uint64_t extent = bytes_of_tensor(*map); extent > 0)
    grid().global_memory().allow(map->address, extent);
  if (map->address == 0) fault("illegal-address", site, "A copy was given a tensor map of a tensor at a null address.");
  return *map;
}

void check_coordinates(const TensorCopy& copy, const TmaDescriptorParams& map, SiteId site) {
  const std::int64_t inner = std::int64_t{copy.coordinates[0]} * element_bytes(map.data_type);
  if (inner % 16 != 0 && map.interleave == TmaInterleave::none) {
    fault("tensor-coordinate-alignment", site,
          "A copy starts at coordinate " + std::to_string(copy.coordinates[0]) + " of dimension 0, which is byte " +
              std::to_string(inner) + ": it must be a multiple of 16 bytes.");
  }
  for (int axis = 0; copy.im2col && axis < spatial_rank(map); ++axis) {
    const TmaRange box = pixel_box(map, axis);
    const int dimension = first_pixel_dimension(map) + axis;
    const std::int64_t start = copy.coordinates[dimension];
    if (start < box.first || start > box.last) {
      fault("tensor-im2col-start", site,
            "An im2col copy starts at coordinate " + std::to_string(start) + " of dimension " +
                std::to_string(dimension) + ", outside of its pixel box, which goes from " + std::to_string(box.first) +
                " to " + std::to_string(box.last) + ".");
    }
  }
  if (copy.kind == CopyKind::store || copy.kind == CopyKind::reduce) {
    for (int i = 0; i < copy.rank; ++i) {
      if (copy.coordinates[i] < 0) {
        fault("tensor-store-negative", site,
              "A store starts at coordinate " + std::to_string(copy.coordinates[i]) + " of dimension " +
                  std::to_string(i) + ": stores may not start before the tensor.");
      }
    }
  }
}

std::uint32_t shared_side(const TensorCopy& copy, Cta*& owner, SiteId site) {
  owner = grid().shared_owner(copy.shared);
  if (!owner)
    fault("tensor-shared-address", site,
          "The shared side of a tensor copy is at address " + address_text(copy.shared) +
              ", which is outside of shared memory.");
  const auto address = static_cast<std::uint32_t>(static_cast<std::byte*>(copy.shared) - owner->visible);
  if (address % 128 != 0) {
    fault("tensor-shared-alignment", site,
          "The shared side of a tensor copy is at offset " + std::to_string(address - kSharedBase) +
              ": it must be a multiple of 128 bytes.");
  }
  return address;
}

void check_range(const Box& box, const Cta& cta, SiteId site) {
  for (const Piece& piece : box.pieces) {
    if (piece.shared < kSharedBase || piece.shared + piece.bytes > kSharedBase + cta.shared_bytes) {
      fault("shared-out-of-range", site,
            "A copy of " + std::to_string(box.bytes) + " bytes runs past the " + std::to_string(cta.shared_bytes) +
                " bytes of shared memory of " + grid().cta_text(cta.index) + ".");
    }
  }
}

Element element_of(TmaDataType type) {
  switch (type) {
    case TmaDataType::u32:
      return Element::u32;
    case TmaDataType::s32:
      return Element::s32;
    case TmaDataType::u64:
      return Element::u64;
    case TmaDataType::s64:
      return Element::s64;
    case TmaDataType::f16:
      return Element::f16;
    case TmaDataType::bf16:
      return Element::bf16;
    case TmaDataType::f32:
      return Element::f32;
    case TmaDataType::f64:
      return Element::f64;
    case TmaDataType::u16:
      return Element::b16;
    default:
      return Element::b8;
  }
}

bool can_reduce(ReduceOp op, TmaDataType type) {
  using enum TmaDataType;
  switch (op) {
    case ReduceOp::add:
      return type == u32 || type == s32 || type == u64 || type == f32 || type == f64 || type == f16 || type == bf16;
    case ReduceOp::min:
    case ReduceOp::max:
      return type == u32 || type == s32 || type == u64 || type == s64 || type == f16 || type == bf16;
    case ReduceOp::inc:
    case ReduceOp::dec:
      return type == u32;
    default:
      return type == u32 || type == s32 || type == u64;
  }
}

// A box that has nothing of the tensor reads the map's address, which may be no memory: seen on an H200.
void touch(const Box& box, const TmaDescriptorParams& map, SiteId site) {
  for (const Piece& piece : box.pieces) {
    if (piece.global != 0) return;
  }
  if (grid().global_memory().is_there(map.address, 1, false)) return;
  fault("illegal-address", site,
        "A load was given a box that lies wholly beyond the extents of its tensor map: TMA then reads the map's "
        "address, " +
            address_text(map.address) + ", which is no memory of the host.");
}

void load(const TensorCopy& copy, const TmaDescriptorParams& map, SiteId site) {
  Thread& thread = self();
  Cta* own = nullptr;
  const std::uint32_t address = shared_side(copy, own, site);
  const Box box = copy.im2col ? im2col_box(map, copy.coordinates, copy.offsets, address)
                              : tiled_box(map, copy.coordinates, address);
  check_range(box, *own, site);
  if (!copy.im2col) touch(box, map, site);
  const Transform transform{
      .rounds_to_tf32 = map.data_type == TmaDataType::tf32 || map.data_type == TmaDataType::tf32_ftz,
      .fill = static_cast<std::uint16_t>(map.fill == TmaFill::nan ? 0x7FF7 : 0)};
  for (Cta* to : receivers(mask_of(copy), *own, copy.barrier, site)) {
    start_load({.pieces = box.pieces,
                .to = to,
                .barrier = &credited_barrier(*to, copy.barrier, site),
                .transform = transform,
                .map = copy.map,
                .site = site});
  }
  advance(thread.view);
}

// Stores and reductions write whole chunks of 16 bytes, also where the tensor ends inside one: seen on an H200.
TmaDescriptorParams in_whole_chunks(TmaDescriptorParams map) {
  if (map.interleave != TmaInterleave::none) return map;  // slices are whole
  const auto unit = static_cast<std::uint64_t>(16 / std::max(1, element_bytes(map.data_type)));
  map.dims[0] = (map.dims[0] + unit - 1) / unit * unit;
  return map;
}

void store(const TensorCopy& copy, const TmaDescriptorParams& map, SiteId site) {
  Thread& thread = self();
  Cta* own = nullptr;
  const std::uint32_t address = shared_side(copy, own, site);
  if (own != thread.cta) {
    fault(
        "tensor-shared-address", site,
        "A tensor store reads the shared memory of " + grid().cta_text(own->index) + ": it reads that of its own CTA.");
  }
  const TmaDescriptorParams whole = in_whole_chunks(map);
  Box box = copy.im2col ? im2col_box(whole, copy.coordinates, copy.offsets, address)
                        : tiled_box(whole, copy.coordinates, address);
  check_range(box, *own, site);
  StoreJob job{.pieces = std::move(box.pieces),
               .from = own,
               .thread = &thread,
               .group = bulk_groups(thread).committed + 1,
               .map = copy.map,
               .site = site};
  if (copy.kind == CopyKind::reduce) {
    if (!can_reduce(copy.op, map.data_type)) {
      static constexpr const char* kNames[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
      fault("tensor-reduce-type", site,
            std::string("A reduction by ") + kNames[static_cast<int>(copy.op)] +
                " does not exist for elements of type " + to_text(map.data_type) + ".");
    }
    job.transform.reduce = copy.op;
    job.transform.element = element_of(map.data_type);
  }
  start_store(std::move(job));
  advance(thread.view);
}

}  // namespace

void tensor_copy(const TensorCopy& copy, Site site) {
  const Call call = enter_call(site, operation_of(copy.kind));
  grid().yield();
  const TmaDescriptorParams map = map_of(copy, call.site);
  check_coordinates(copy, map, call.site);
  static constexpr std::uint16_t kNoOffsets[3] = {};
  TensorCopy with_offsets = copy;
  if (!with_offsets.offsets) with_offsets.offsets = kNoOffsets;
  switch (copy.kind) {
    case CopyKind::load:
      load(with_offsets, map, call.site);
      break;
    case CopyKind::store:
    case CopyKind::reduce:
      store(with_offsets, map, call.site);
      break;
    case CopyKind::prefetch:
      break;
  }
}

}  // namespace gantry::sim
