/** As in other tests, but with more patience: nodes are stopped, and others take their work over. */
import { eventually as ask } from '../../../sdk/test/support/eventually.js';

const TIMEOUT_MS = 150_000;

export function eventually<Value>(
  what: string,
  read: () => Value | Promise<Value>,
  timeoutMs = TIMEOUT_MS,
): ReturnType<typeof ask<Value>> {
  return ask(what, read, timeoutMs);
}
