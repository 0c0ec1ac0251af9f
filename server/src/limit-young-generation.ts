/** Limits the memory that V8 uses for newly created objects. */
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps that memory at its current size: 27 MB once the server is loaded. Under load, V8 would let it grow to 128 MB and
 * never shrink it. What a request allocates is garbage within milliseconds, so this size is just as cheap to collect. A
 * far smaller one isn't: with 2 MB, an activity takes 40% more CPU (docs/evidence/performance.md).
 *
 * V8 accepts a maximum size only before the process begins, which is too late if the server is started by its file; but
 * it checks each time whether the space may grow.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
