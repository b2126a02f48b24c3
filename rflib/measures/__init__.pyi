from .atomic import AtomicMeasure as AtomicMeasure
from .atomic import CandidateMeasures as CandidateMeasures
from .base import ProductMeasure as ProductMeasure
from .base import RadialMeasure as RadialMeasure
from .base import Sampling as Sampling
from .domain import Domain as Domain
from .exact_measures import exact_measure as exact_measure
from .range_warning import RangeWarning as RangeWarning
