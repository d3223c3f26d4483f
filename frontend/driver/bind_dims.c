#include "frontend/driver/bind_dims.h"
