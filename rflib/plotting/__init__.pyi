from .feature_spectrum import FeatureSpectrumDisplay as FeatureSpectrumDisplay
from .kernel_error import KernelErrorDisplay as KernelErrorDisplay
from .metric import MetricDisplay as MetricDisplay
