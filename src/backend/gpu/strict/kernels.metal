// The kernels as a Metal library.
#include "backend/gpu/dialect/metal.h"
#include "backend/gpu/kernels/all.h"
