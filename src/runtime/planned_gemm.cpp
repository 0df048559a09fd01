#include "planned_gemm.hpp"

#include <cstring>

#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/gemm/explain.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/runtime_rules.hpp>

#include "reasons_to_status.hpp"

namespace gantry::runtime {

namespace {

using Index = detail::GemmOperandIndex;

// Stands for the workspace in the parameters of a plan. Nothing is there; maps of groups begin before it.
constexpr std::uintptr_t kWorkspaceBase = std::uintptr_t{1} << 40;

void* base() { return reinterpret_cast<void*>(kWorkspaceBase); }  // NOLINT(performance-no-int-to-ptr)

// A pointer that a plan wrote against the base, into a workspace.
template <class T>
T* relocated(T* pointer, void* workspace) {
  const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - kWorkspaceBase;
  return reinterpret_cast<T*>(static_cast<unsigned char*>(workspace) + offset);
}

// Bytes from x to y.
std::ptrdiff_t apart(const GemmAddresses& addresses, int x, int y) {
  const auto number = [&](int i) { return reinterpret_cast<std::uintptr_t>(addresses.at[i]); };
  return static_cast<std::ptrdiff_t>(number(y) - number(x));
}

GemmInputs inputs_of(const GemmCall& call, const fusion::FusionArguments& fusion) {
  const bool dependent = call.dependent.value_or(false);
  return {call.extents(), call.a,       call.b,       call.c,      call.d,      fusion,
          dependent,      call.scale_a, call.scale_b, call.groups, call.gather, call.scatter};
}

// The name of one that is given again; null where there is none.
const char* given_twice(const GemmCallArguments& arguments) {
  for (int i = 0; i < arguments.count(); ++i) {
    for (int j = 0; j < i; ++j) {
      const char *const x = arguments[i].name, *const y = arguments[j].name;
      if (x != nullptr && y != nullptr && std::strcmp(x, y) == 0) return x;
    }
  }
  return nullptr;
}

}  // namespace

Result<TmaDescriptor> encode_by_rules(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_packed(params);
  if (encoded.ok()) return encoded.map;
  return unexpected(failure_of(RuntimeRule::map_not_encoded, describe(encoded).c_str()));
}

ParameterBlock::ParameterBlock(std::size_t bytes) : data_(in_place_) {
  if (bytes <= kInPlace) return;
  constexpr std::size_t kAlignment = 128;
  larger_ = std::make_unique<unsigned char[]>(bytes + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(larger_.get());
  data_ = larger_.get() + (kAlignment - address % kAlignment) % kAlignment;
}

Status check_call(const GemmDesign& design, const fusion::Graph& of_text, const GemmCall& call, int functions) {
  const fusion::Graph graph = with_access(of_text, design.options);
  if (call.arguments.given() > fusion::kMaxArguments) {
    Status many;
    many.add({.rule = "arguments_too_many",
              .actual = call.arguments.given(),
              .nearest = fusion::kMaxArguments,
              .sentence = std::to_string(call.arguments.given()) +
                          " arguments of the epilogue were given: a graph has " +
                          std::to_string(fusion::kMaxArguments) + " at most"});
    return many;
  }
  if (const char* const twice = given_twice(call.arguments); twice != nullptr) {
    Status out;
    out.add({.rule = "argument_twice",
             .operand = one_line(twice),
             .sentence = "the argument " + one_line(twice) +
                         " is given more than once: each argument of the epilogue has one value"});
    return out;
  }
  const fusion::FusionArguments fusion = arguments_of(call, graph);
  Status out;
  add_reasons(out, StatusCode::invalid_argument, detail::can_implement(design, inputs_of(call, fusion), functions));
  return out;
}

bool addresses_of(const GemmCall& call, const fusion::Graph& graph, GemmAddresses& out) {
  out.at[Index::kA] = const_cast<void*>(call.a.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast): inputs stay so
  out.at[Index::kB] = const_cast<void*>(call.b.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.at[Index::kC] = const_cast<void*>(call.c.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.at[Index::kD] = call.d.data;
  out.at[Index::kScaleA] = const_cast<float*>(call.scale_a.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.at[Index::kScaleB] = const_cast<float*>(call.scale_b.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.at[Index::kIndex] =
      const_cast<std::int32_t*>(call.gather.index);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.at[Index::kScatter] =
      const_cast<std::int32_t*>(call.scatter.index);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out.groups = call.groups.data();
  for (int i = 0; i < graph.argument_count; ++i) out.values[i] = graph.arguments[i].value;
  std::uint32_t seen = 0;  // a bit for each argument
  static_assert(fusion::kMaxArguments <= 32);
  for (int given = 0; given < call.arguments.count(); ++given) {
    const GemmCallArgument& from = call.arguments[given];
    int i = 0;
    while (i < graph.argument_count &&
           (from.name == nullptr || std::strcmp(from.name, graph.arguments[i].name.text) != 0))
      ++i;
    if (i == graph.argument_count || ((seen >> i) & 1U) != 0) return false;
    seen |= std::uint32_t{1} << i;
    using Given = GemmAddresses::Given;
    out.at[Index::kArguments + i] = from.data;
    out.values[i] = from.is_number ? from.value : graph.arguments[i].value;
    out.given[i] = from.is_number ? Given::number : from.data != nullptr ? Given::address : Given::no;
    out.strides[i] = from.stride;
    out.batch_strides[i] = from.batch_stride;
  }
  return true;
}

Result<PlannedGemm> PlannedGemm::make(const GemmDesign& design, const fusion::Graph& graph, const GemmCall& call,
                                      const PlanningMachine& machine) {
  const fusion::FusionArguments fusion = arguments_of(call, graph);
  const GemmInputs inputs = inputs_of(call, fusion);
  PlannedGemm out;
  out.move_ = machine.move;
  if (design.store == GemmStore::collective) out.fills_ = fills_of(design, inputs, 0, base());
  if (inputs.extents.nothing_to_do()) {
    out.nothing_to_do_ = true;
    return out;
  }
  out.launch_ = plan_gemm(design, inputs, {.clusters = machine.resident_clusters, .workspace = true}, machine.arch);
  out.parameters_.resize((static_cast<std::size_t>(design.params.bytes) + sizeof(Chunk) - 1) / sizeof(Chunk));
  auto* const bytes = reinterpret_cast<unsigned char*>(out.parameters_.data());
  // Deterministic reductions clear their counters at each run; those lie behind the partial accumulators.
  void* const reductions = static_cast<unsigned char*>(base()) + out.launch_.needs.reductions_at();
  if (design.store == GemmStore::collective) out.fills_ = fills_of(design, inputs, 0, reductions);
  Status refused;
  std::vector<std::uint64_t> encoded;  // addresses, map after map
  write_parameters(
      design, inputs, out.launch_, base(),
      [&](const TmaDescriptorParams& params) {
        encoded.push_back(params.address);
        const Result<TmaDescriptor> map = machine.encode(params);
        if (!map && refused.ok()) refused = map.error();
        return map ? *map : TmaDescriptor{};
      },
      bytes);
  if (!refused) return unexpected(std::move(refused));
  out.note_places(design, graph, inputs);
  GemmAddresses addresses;
  addresses_of(call, graph, addresses);
  // Places are noted in the order of encoding.
  const bool grouped = design.options.groups != GemmGrouping::none;
  for (std::size_t i = 0; grouped && i < out.maps_.size(); ++i) {
    Place& place = out.maps_[i];
    const auto address =
        reinterpret_cast<std::uintptr_t>(place.operand == kInWorkspace ? base() : addresses.at[place.operand]);
    place.shift = static_cast<std::ptrdiff_t>(encoded[i] - address);
  }
  out.note_memory(design, inputs, addresses);
  return out;
}

// Of A and B, in the order in which the kernel's are encoded.
void PlannedGemm::note_loads(const GemmDesign& design) {
  const GemmParameterMap& at = design.params;
  const auto note_operand = [this](const PackedOperand& x, const Place& place) {
    maps_.push_back(x.packed ? Place{place.offset, kInWorkspace, static_cast<std::ptrdiff_t>(x.offset)} : place);
  };
  if (design.options.swapped) note_operand(launch_.b, {at.b, Index::kB});
  if (design.options.gather_a) {
    const int data = at.a + static_cast<int>(offsetof(GatherParams, data));
    if (launch_.a.packed) {
      workspace_.push_back(data);
    } else {
      pointers_.push_back({data, Index::kA});
    }
    pointers_.push_back({at.a + static_cast<int>(offsetof(GatherParams, index)), Index::kIndex});
  } else {
    note_operand(launch_.a, {at.a, Index::kA});
  }
  if (!design.options.swapped) note_operand(launch_.b, {at.b, Index::kB});
  if (design.edge_b && design.options.swapped) note_operand(launch_.b, {at.edge_b, Index::kB});
  if (design.edge_a) note_operand(launch_.a, {at.edge_a, Index::kA});
  if (design.edge_b && !design.options.swapped) note_operand(launch_.b, {at.edge_b, Index::kB});
  constexpr int kMap = sizeof(TmaDescriptor);
  for (int i = 0; i < design.group_boxes; ++i) note_operand(launch_.a, {at.group_boxes + i * kMap, Index::kA});
}

void PlannedGemm::note_places(const GemmDesign& design, const fusion::Graph& graph, const GemmInputs& inputs) {
  const GemmParameterMap& at = design.params;
  const bool array = design.options.groups == GemmGrouping::pointer_array;
  if (array) {
    groups_ = at.schedule + static_cast<int>(offsetof(PointerSchedule, gemms));
    group_maps_ = at.schedule + static_cast<int>(offsetof(PointerSchedule, maps));
  } else if (design.options.groups != GemmGrouping::none) {
    groups_ = at.schedule + static_cast<int>(offsetof(GroupSchedule, offsets));
  }
  if (inputs.extents.k > 0 && !array) note_loads(design);
  const bool collective = design.store == GemmStore::collective;
  const auto note = [this](bool direct, const Place& place) { (direct ? matrices_ : maps_).push_back(place); };
  if (collective && design.c.exists() && inputs.c.data != nullptr && !array)
    note(design.part.c.direct, {at.c, Index::kC});
  if (launch_.needs.slots > 0) {
    maps_.push_back({at.d, kInWorkspace, static_cast<std::ptrdiff_t>(launch_.needs.slots_at())});
  } else if (design.stores_d() && !array) {
    note(design.part.d.direct, {at.d, Index::kD});
  }
  if (design.part.d.scatter != RowScatter::none) {
    pointers_.push_back({at.d + static_cast<int>(offsetof(DirectMatrix, index)), Index::kScatter});
  }
  if (launch_.needs.sums > 0) workspace_.push_back(at.workspace);
  constexpr auto kOfA = static_cast<int>(offsetof(GemmScaleParams, a) + offsetof(GemmScaleParams::Operand, data));
  constexpr auto kOfB = static_cast<int>(offsetof(GemmScaleParams, b) + offsetof(GemmScaleParams::Operand, data));
  const GemmOptions& o = design.options;
  if (o.scale_a != ScaleMode::none) pointers_.push_back({at.scales + (o.swapped ? kOfB : kOfA), Index::kScaleA});
  if (o.scale_b != ScaleMode::none) pointers_.push_back({at.scales + (o.swapped ? kOfA : kOfB), Index::kScaleB});
  if (!collective || at.operands == 0) return;
  int map = at.aux;
  for (int i = 0; i < graph.argument_count; ++i) {
    const int offset = at.operands + i * static_cast<int>(sizeof(fusion::Operand));
    fusion::Operand operand;
    std::memcpy(&operand, reinterpret_cast<const unsigned char*>(parameters_.data()) + offset, sizeof operand);
    operands_.push_back({offset, i});
    if (operand.partials != nullptr) {
      workspace_.push_back(offset + static_cast<int>(offsetof(fusion::Operand, partials)));
      workspace_.push_back(offset + static_cast<int>(offsetof(fusion::Operand, arrived)));
    }
    if (!fusion::is_staged(graph.arguments[i])) continue;
    if (operand.pointer != nullptr && !array) maps_.push_back({map, Index::kArguments + i});
    map += static_cast<int>(sizeof(TmaDescriptor));
  }
}

void PlannedGemm::note_memory(const GemmDesign& design, const GemmInputs& inputs, const GemmAddresses& addresses) {
  for (const detail::MemoryUse& use : detail::memory_uses(design, inputs)) {
    spans_.push_back({use.operand, use.written, use.tensor.span()});
  }
  for (const Span& x : spans_) {
    for (const Span& y : spans_) {
      if (&x == &y || !x.written) continue;
      const std::ptrdiff_t to_y = apart(addresses, x.operand, y.operand);
      if (to_y < x.bytes && -to_y < y.bytes) overlaps_.push_back({x.operand, y.operand, to_y});
    }
  }
}

bool PlannedGemm::holds_for(const GemmAddresses& addresses) const {
  for (const Span& x : spans_) {
    if (!x.written) continue;
    for (const Span& y : spans_) {
      if (&x == &y) continue;
      const std::ptrdiff_t to_y = apart(addresses, x.operand, y.operand);
      if (to_y >= x.bytes || -to_y >= y.bytes) continue;
      bool known = false;
      for (const Overlap& o : overlaps_) {
        known = known || (o.written == x.operand && o.other == y.operand && o.apart == to_y);
      }
      if (!known) return false;
    }
  }
  return true;
}

bool PlannedGemm::write(const GemmAddresses& addresses, void* workspace, unsigned char* parameters) const {
  std::memcpy(parameters, parameters_.data(), parameter_bytes());
  for (const int offset : workspace_) {
    unsigned char* pointer = nullptr;
    std::memcpy(&pointer, parameters + offset, sizeof pointer);
    pointer = relocated(pointer, workspace);
    std::memcpy(parameters + offset, &pointer, sizeof pointer);
  }
  for (const Place& place : pointers_) {
    std::memcpy(parameters + place.offset, &addresses.at[place.operand], sizeof(void*));
  }
  for (const Place& place : operands_) {
    std::memcpy(parameters + place.offset + offsetof(fusion::Operand, pointer),
                &addresses.at[Index::kArguments + place.operand], sizeof(void*));
    std::memcpy(parameters + place.offset + offsetof(fusion::Operand, value), &addresses.values[place.operand],
                sizeof(float));
  }
  for (const Place& place : matrices_) {
    std::memcpy(parameters + place.offset + offsetof(DirectMatrix, data), &addresses.at[place.operand], sizeof(void*));
  }
  bool moved = true;
  for (const Place& place : maps_) {
    auto& map = *reinterpret_cast<TmaDescriptor*>(parameters + place.offset);
    void* const from = place.operand == kInWorkspace ? workspace : addresses.at[place.operand];
    moved = move_(map, static_cast<unsigned char*>(from) + place.shift) && moved;
  }
  if (groups_ >= 0) std::memcpy(parameters + groups_, &addresses.groups, sizeof addresses.groups);
  if (group_maps_ >= 0) {
    void* const maps = first_map(static_cast<unsigned char*>(workspace) + launch_.needs.maps_at());
    std::memcpy(parameters + group_maps_, &maps, sizeof maps);
  }
  return moved;
}

FillWords::Params PlannedGemm::fills(const GemmAddresses& addresses, void* workspace) const {
  FillWords::Params out = fills_;
  for (int i = 0; i < out.fill_count; ++i) {
    FillWords::Fill& fill = out.fills[i];
    fill.words = fill.argument < 0 ? relocated(fill.words, workspace)
                                   : static_cast<std::uint32_t*>(addresses.at[Index::kArguments + fill.argument]);
  }
  return out;
}

PackLines::Params PlannedGemm::packs(const GemmAddresses& addresses, void* workspace) const {
  return packs_of(launch_, addresses.at[Index::kA], addresses.at[Index::kB], workspace);
}

SumSlots::Params PlannedGemm::slot_sums(const GemmAddresses& addresses, void* workspace) const {
  const auto* const index = static_cast<const std::int32_t*>(addresses.at[Index::kScatter]);
  return slot_sums_of(launch_, {addresses.at[Index::kD], index, addresses.groups}, workspace);
}

std::string explain_plan(const PlannedGemm& plan, const GemmCall& call, const ExplainedKernel& kernel) {
  const auto expression = fusion::print(kernel.graph);
  detail::GemmFacts f;
  f.design = kernel.design;
  f.m = call.m;
  f.n = call.n;
  f.k = call.k;
  f.batch = call.batch;
  f.expression = expression.c_str();
  f.graph = &kernel.graph;
  f.schedule = plan.launch().schedule;
  f.ctas = kernel.machine.resident_clusters * kernel.design.cluster_size();
  f.workspace_bytes = plan.workspace_bytes();
  f.packed_a = plan.launch().a.packed;
  f.packed_b = plan.launch().b.packed;
  f.packed_bytes = plan.launch().needs.packed;
  f.slot_bytes = plan.launch().needs.slots;
  f.slot_rows = plan.launch().slots.rows;
  f.arch = kernel.machine.arch;
  return detail::explain_gemm(f);
}

}  // namespace gantry::runtime
