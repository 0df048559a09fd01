import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def rng(request):
    """Other numbers in each test, the same in each run."""
    return np.random.default_rng(sum(map(ord, request.node.name)))
