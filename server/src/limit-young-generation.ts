/** How much memory V8 may use for objects that have just been made. */
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps that memory at the size that it has by now: 16 MB once the server is loaded. V8 would let it grow to 128 MB under
 * work, and keep that. What a request makes is gone after some milliseconds, so a small one is emptied as cheaply.
 *
 * V8 takes its largest size only before a process begins, which is too late for whoever starts the server by its file;
 * whether it grows is asked anew each time.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
