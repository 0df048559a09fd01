"""A process group over gloo that takes tensors of any device: they are copied to the host and back.

Two processes that share one GPU need it. NCCL refuses that, and gloo's own gathers of CUDA tensors read device memory on the
host (pytorch/pytorch#152645). Every collective is one all-gather of bytes; what follows is computed by each process.
"""

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future
from torch.futures import Future


def _done(result):
    future = Future()
    future.set_result(result)
    return _create_work_from_future(future)


def _write(out, value):
    """As a backend writes: autograd does not count it as a change."""
    out.data.copy_(value)


class StagedGroup(dist.ProcessGroup):
    def __init__(self, store, rank, size, timeout):
        super().__init__(rank, size)
        self._gloo = dist.ProcessGroupGloo(store, rank, size, timeout)

    def getBackendName(self):
        return "staged"

    @property
    def group_name(self):
        return dist.distributed_c10d._world.pg_names[self]

    def _of_all(self, x):
        """This tensor of each process, on the host."""
        own = x.detach().contiguous().cpu()
        data = own.reshape(-1).view(torch.uint8)
        parts = [torch.empty_like(data) for _ in range(self.size())]
        if data.numel():  # gloo divides by it
            self._gloo.allgather([parts], [data]).wait()
        return [part.view(own.dtype).view(own.shape) for part in parts]

    def _reduced(self, x, op):
        op = op.op if hasattr(op, "op") else op
        if op not in (dist.ReduceOp.SUM, dist.ReduceOp.AVG):
            raise NotImplementedError(f"a reduction by {op}")
        total = torch.stack(self._of_all(x)).sum(0, dtype=torch.float64)
        return (total / self.size() if op == dist.ReduceOp.AVG else total).to(x.dtype)

    def barrier(self, opts=None):
        return self._gloo.barrier()

    def broadcast(self, tensors, opts):
        for x in tensors:
            _write(x, self._of_all(x)[opts.rootRank])
        return _done(tensors)

    def allreduce(self, tensors, opts=None):
        for x in tensors:
            _write(x, self._reduced(x, dist.ReduceOp.SUM if opts is None else opts.reduceOp))
        return _done(tensors)

    def allgather(self, outputs, inputs, opts=None):
        for out, x in zip(outputs, inputs, strict=True):
            for one, part in zip(out, self._of_all(x), strict=True):
                _write(one, part)
        return _done(outputs)

    def all_gather_single_coalesced(self, outputs, inputs, opts=None):
        for out, x in zip(outputs, inputs, strict=True):
            _write(out.view(self.size(), *x.shape), torch.stack(self._of_all(x)))
        return _done(outputs)

    def all_gather_single(self, output, x, opts=None):
        return self.all_gather_single_coalesced([output.view(-1)], [x.view(-1)])

    def reduce_scatter_single_coalesced(self, outputs, inputs, opts):
        for out, x in zip(outputs, inputs, strict=True):
            _write(out, self._reduced(x, opts.reduceOp).view(self.size(), *out.shape)[self.rank()])
        return _done(outputs)

    def reduce_scatter_single(self, output, x, opts):
        return self.reduce_scatter_single_coalesced([output], [x], opts)

    def scatter(self, outputs, inputs, opts):
        for i, out in enumerate(outputs):
            sent = torch.stack(inputs[i]) if inputs else out.new_empty((self.size(), *out.shape))
            _write(out, self._of_all(sent)[opts.rootRank][self.rank()])
        return _done(outputs)

    def all_to_all_single(self, output, x, output_sizes, input_sizes, opts=None):
        if output_sizes or input_sizes:
            raise NotImplementedError("an exchange of unequal parts")
        parts = [part.view(self.size(), -1)[self.rank()] for part in self._of_all(x)]
        _write(output.view(self.size(), -1), torch.stack(parts))
        return _done(output)

    # As torch 2.11 calls them.
    allreduce_coalesced = allreduce
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    _allgather_base = all_gather_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced
    _reduce_scatter_base = reduce_scatter_single
    alltoall_base = all_to_all_single


dist.Backend.register_backend("staged", StagedGroup, devices=["cpu", "cuda"])
