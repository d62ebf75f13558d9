// Every kernel, for whoever compiles them: one mapping of the dialect, then this.
#pragma once
#include "args.h"
#include "math.h"
#include "places.h"
// What the kernels stand on comes first.
#include "attention_fold.h"
// What folds splits comes first.
#include "attention.h"
#include "embed_rows.h"
#include "experts.h"
#include "kv_write.h"
#include "linear.h"
#include "recurrent.h"
#include "rope.h"
#include "rows.h"
