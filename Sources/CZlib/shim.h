#pragma once

#include <zlib.h>

// A macro, which Swift does not see. 16 asks for the gzip format, 15 for its largest window.
static inline int carillon_inflate_init(z_stream *stream) {
    return inflateInit2(stream, 16 + 15);
}
