from . import datasets as datasets
from . import kernels as kernels
from . import learners as learners
from . import maps as maps
from . import measures as measures
from . import metrics as metrics
from . import plotting as plotting
from .kernels import *
from .learners import *
from .maps import *
from .plotting import *
from .versions import show_versions as show_versions

__version__: str
