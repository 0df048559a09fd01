"""What each of two processes computes with sharded layers. Run by test_torch_distributed.py."""

import copy
import os
import sys
import traceback

import staged_group  # noqa: F401: registers the backend "staged"
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

import gantry.torch
from gantry.torch._reference import FUNCTIONS

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
F64 = torch.float64 if DEVICE == "cpu" else torch.bfloat16
BOUND = 1e-9 if DEVICE == "cpu" else 2.0**-5
CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def randn(*shape):
    return torch.randn(shape, device=DEVICE).to(F64)


def close(got, expected):
    got, expected = got.detach(), expected.detach()
    assert got.shape == expected.shape, (got.shape, expected.shape)
    error = (got.double() - expected.double()).abs().max()
    assert error <= BOUND * max(1.0, float(expected.double().abs().max())), float(error)


def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x


def same(module, parallel, x, own=None):
    """Output and gradients of a parallel module are those of the module; ``own``: this device's part of the input."""
    one = x.clone().requires_grad_(True)
    other = (x if own is None else own).clone().requires_grad_(True)
    expected, out = module(one), parallel(other)
    g = randn(*expected.shape)
    expected.backward(g)
    if own is None:
        out = whole(out)
        close(out, expected)
        out.backward(g)
        close(other.grad, one.grad)
    else:  # rows of a sequence
        rank = dist.get_rank()
        close(out, expected.chunk(2, 1)[rank])
        out.backward(g.chunk(2, 1)[rank].contiguous())
        close(other.grad, one.grad.chunk(2, 1)[rank])
    for p, q in zip(module.parameters(), parallel.parameters(), strict=True):
        close(whole(q.grad), p.grad)


def layers(activation="gelu", bias=True):
    make = {"dtype": F64, "device": DEVICE, "bias": bias}
    return torch.nn.Sequential(
        gantry.torch.Linear(32, 64, activation=activation, **make), gantry.torch.Linear(64, 32, **make)
    )


PLAN = {"0": ColwiseParallel(), "1": RowwiseParallel()}


@check
def column_then_row(mesh):
    for activation in ("gelu", "relu", "tanh"):
        module = layers(activation)
        same(module, parallelize_module(copy.deepcopy(module), mesh, PLAN), randn(2, 6, 32))


@check
def row_parallel_layers_give_partial_sums_and_no_gather(mesh):
    ways = ((randn(4, 8), Shard(1)), (randn(6, 8), Shard(1)), (randn(6), Replicate()))
    x, w, b = (distribute_tensor(t, mesh, [how]) for t, how in ways)
    y = gantry.torch.linear(x, w, b)
    assert y.placements == (Partial(),), y.placements
    close(y.full_tensor(), whole(x) @ whole(w).T + whole(b))


@check
def an_activation_of_shards_of_k_is_that_of_the_whole(mesh):
    x, w = distribute_tensor(randn(4, 8), mesh, [Shard(1)]), distribute_tensor(randn(6, 8), mesh, [Shard(1)])
    z = whole(x) @ whole(w).T
    for activation in (None, "relu", "gelu", None):  # what DTensor kept for one is not taken for another
        y = gantry.torch.linear(x, w, None, activation)
        assert (y.placements == (Partial(),)) == (activation is None)
        close(y.full_tensor(), FUNCTIONS[activation or ""](z))


@check
def sequence_parallel(mesh):
    module = layers()
    plan = {
        "0": ColwiseParallel(input_layouts=Shard(1)),
        "1": RowwiseParallel(output_layouts=Shard(1)),
    }
    x = randn(2, 6, 32)
    same(module, parallelize_module(copy.deepcopy(module), mesh, plan), x, x.chunk(2, 1)[dist.get_rank()].contiguous())


@check
def a_sharded_sequence_stays_sharded_through_a_replicated_layer(mesh):
    layer = gantry.torch.Linear(32, 16, activation="relu", dtype=F64, device=DEVICE)
    x = randn(2, 6, 32)
    expected, leaf = layer(x), distribute_tensor(x, mesh, [Shard(1)]).requires_grad_(True)
    w, b = (distribute_tensor(p.detach(), mesh, [Replicate()]).requires_grad_(True) for p in (layer.weight, layer.bias))
    y = gantry.torch.linear(leaf, w, b, "relu")
    assert y.placements == (Shard(1),)
    close(whole(y), expected)
    whole(y).sum().backward()
    expected.sum().backward()
    assert leaf.grad.placements == (Shard(1),), leaf.grad.placements
    close(whole(w.grad), layer.weight.grad)
    close(whole(b.grad), layer.bias.grad)


@check
def an_mlp_by_the_plan_of_its_layers(mesh):
    module = gantry.torch.MLP(32, 64, activation="relu", dtype=F64, device=DEVICE)
    plan = {"fc1": ColwiseParallel(), "fc2": RowwiseParallel()}
    same(module, parallelize_module(copy.deepcopy(module), mesh, plan), randn(2, 6, 32))


def sharded(module, mesh, how):
    """Parameters as DTensors, without hooks."""
    out = copy.deepcopy(module)
    for name, layer in out.named_children():
        for key, p in list(layer.named_parameters()):
            place = how[name][key] if isinstance(how[name], dict) else how[name]
            layer.register_parameter(key, torch.nn.Parameter(distribute_tensor(p.detach(), mesh, [place])))
    return lambda x: out(distribute_tensor(x, mesh, [Replicate()])), out


def same_fused(module, mesh, how):
    x = randn(2, 6, 32)
    run, out = sharded(module, mesh, how)
    expected, y = module(x), whole(run(x))
    close(y, expected)
    g = randn(*expected.shape)
    expected.backward(g)
    y.backward(g)
    for p, q in zip(module.parameters(), out.parameters(), strict=True):
        close(whole(q.grad), p.grad)
    return run(x)


@check
def a_fused_mlp_of_shards(mesh):
    for activation in ("gelu", "relu"):
        module = gantry.torch.MLP(32, 64, activation=activation, dtype=F64, device=DEVICE)
        how = {"fc1": Shard(0), "fc2": {"weight": Shard(1), "bias": Replicate()}}
        assert same_fused(module, mesh, how).placements == (Partial(),)


@check
def a_mask_whose_shards_have_broken_bytes(mesh):
    module = gantry.torch.MLP(32, 24, activation="relu", dtype=F64, device=DEVICE)
    same_fused(module, mesh, {"fc1": Shard(0), "fc2": {"weight": Shard(1), "bias": Replicate()}})


@check
def fused_gates_of_shards(mesh):
    for gate in ("halves", "interleaved"):
        module = gantry.torch.GatedLinear(32, 64, gate=gate, dtype=F64, device=DEVICE)
        y = same_fused(module, mesh, {"gate_up_proj": Shard(0), "down_proj": Shard(1)})
        assert gate == "halves" or y.placements == (Partial(),)


@check
def gates_by_the_plan_of_their_layers(mesh):
    plans = {
        "separate": {"gate_proj": ColwiseParallel(), "up_proj": ColwiseParallel()},
        "interleaved": {"gate_up_proj": ColwiseParallel()},
    }
    for gate, plan in plans.items():
        module = gantry.torch.GatedLinear(32, 64, gate=gate, dtype=F64, device=DEVICE)
        parallel = parallelize_module(copy.deepcopy(module), mesh, {**plan, "down_proj": RowwiseParallel()})
        same(module, parallel, randn(2, 6, 32))


@check
def halves_by_the_plan_of_their_layers_are_refused(mesh):
    module = gantry.torch.GatedLinear(32, 64, gate="halves", dtype=F64, device=DEVICE)
    parallelize_module(module, mesh, {"gate_up_proj": ColwiseParallel(), "down_proj": RowwiseParallel()})
    try:
        module(randn(2, 32))
    except gantry.InvalidArgument as error:
        assert "interleaved" in str(error)
    else:
        raise AssertionError("it ran")


@check
def experts_of_shards(mesh):
    x, w, b = randn(12, 16), randn(3, 8, 16), randn(3, 8)
    offsets = torch.tensor([0, 5, 5, 12], dtype=torch.int32, device=DEVICE)
    for how, activation, placed in ((Shard(1), "gelu", Shard(1)), (Shard(2), None, Partial())):
        leaves = [t.clone().requires_grad_(True) for t in (x, w, b)]
        expected = gantry.torch.grouped_linear(*leaves[:2], offsets, leaves[2], activation)
        ways = (Replicate() if how == Shard(1) else Shard(1), how, Shard(1) if how == Shard(1) else Replicate())
        parts = [distribute_tensor(t, mesh, [way]).requires_grad_(True) for t, way in zip((x, w, b), ways)]
        places = distribute_tensor(offsets, mesh, [Replicate()])
        y = gantry.torch.grouped_linear(*parts[:2], places, parts[2], activation)
        assert y.placements == (placed,), y.placements
        close(whole(y), expected)
        g = randn(*expected.shape)
        whole(y).backward(g)
        expected.backward(g)
        for part, leaf in zip(parts, leaves):
            close(whole(part.grad), leaf.grad)


@check
def experts_that_gather_and_scatter(mesh):
    """Shards of the hidden columns: those of N in the first layer are those of K in the second."""
    given = (randn(6, 16), randn(3, 8, 16), randn(3, 8), randn(3, 4, 8), randn(6, 2))
    routing = gantry.torch.route(torch.tensor([[0, 2], [2, 1], [0, 1], [3, 2], [1, 0], [2, 0]], device=DEVICE), 3)

    def mixture(x, up, bias, down, weights, routing):
        hidden = gantry.torch.grouped_linear(x, up, routing, bias, "gelu", gather=True)
        return gantry.torch.grouped_linear(hidden, down, routing, scatter=True, weights=weights)

    leaves = [t.clone().requires_grad_(True) for t in given]
    expected = mixture(*leaves, routing)
    ways = (Replicate(), Shard(1), Shard(1), Shard(2), Replicate())
    parts = [distribute_tensor(t, mesh, [way]).requires_grad_(True) for t, way in zip(given, ways)]
    order, offsets, _, rows = routing
    tensors = {"order": order, "offsets": offsets, "rows": rows}
    placed = {name: distribute_tensor(t, mesh, [Replicate()]) for name, t in tensors.items()}
    y = mixture(*parts, routing._replace(**placed))
    assert y.placements == (Partial(),), y.placements
    close(whole(y), expected)
    g = randn(*expected.shape)
    whole(y).backward(g)
    expected.backward(g)
    for part, leaf in zip(parts, leaves):
        close(whole(part.grad), leaf.grad)


@check
def fsdp(mesh):
    make = {"dtype": F64, "device": DEVICE}
    for module in (
        layers(),
        torch.nn.Sequential(gantry.torch.MLP(32, 64, **make), gantry.torch.GatedLinear(32, 64, **make)),
        torch.nn.Sequential(gantry.torch.GatedLinear(32, 64, gate="interleaved", **make)),
    ):
        for each in (False, True):
            parallel = copy.deepcopy(module)
            for child in parallel if each else ():
                fully_shard(child, mesh=mesh)
            fully_shard(parallel, mesh=mesh)
            x = randn(4, 32)  # the same on both: the mean of the gradients is the gradient
            expected, y = module(x), parallel(x)
            close(y, expected)
            module.zero_grad()
            expected.square().sum().backward()
            y.square().sum().backward()
            for p, q in zip(module.parameters(), parallel.parameters(), strict=True):
                close(whole(q.grad), p.grad)


def main():
    rank = int(sys.argv[1])
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
    if DEVICE == "cuda":
        torch.cuda.set_device(0)  # both share it; the mesh asks which one is meant
    dist.init_process_group("staged", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
    torch.set_num_threads(1)
    mesh = init_device_mesh(DEVICE, (2,))
    for name, function in CHECKS.items():
        torch.manual_seed(0)  # the same numbers on both
        try:
            function(mesh)
            print(f"{name}: ok", flush=True)
        except Exception:
            print(f"{name}: " + traceback.format_exc().replace("\n", "\n    "), flush=True)
            # The other process may wait for this one.
            os._exit(1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
