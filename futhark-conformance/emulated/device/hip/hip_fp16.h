// Half floats for kernels of HIP: the same as those of CUDA.
#pragma once

#include <cuda_fp16.h>
