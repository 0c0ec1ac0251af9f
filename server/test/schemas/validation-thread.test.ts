/**
 * Goal: a request that blocks the thread fails alone (VT1), also if its answer arrives just when the thread is ended.
 * Method: the timer that ends the thread is turned on by hand while an answer waits to be received.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ValidationThread } from '../../src/schemas/validation-thread.js';
import type { ValidationRequest } from '../../src/schemas/validation/protocol.js';

const STUCK_MS = 1_000_000;
const LIMITS = { compilationMs: 600_000, validationMs: 600_000 };
const REQUEST: ValidationRequest = {
  kind: 'validate',
  schema: '{"required": ["a"]}',
  data: '{"a": 1}',
  limits: LIMITS,
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The answer is in this thread's inbox then, unless the machine is very busy; the test holds in both cases. */
function waitUntilAnswered(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
}

it('answers the next request after an answer that arrives while the thread ends', async () => {
  const thread = new ValidationThread(STUCK_MS);
  await thread.ask(REQUEST);
  const late = thread.ask(REQUEST);
  const next = thread.ask(REQUEST);
  waitUntilAnswered();
  vi.advanceTimersByTime(STUCK_MS);
  await late;
  expect((await next).kind).toBe('done');
  expect(thread.load).toBe(0);
  await thread.stop();
});

it('ends a stuck thread, and answers the next request on a new thread', async () => {
  const thread = new ValidationThread(STUCK_MS);
  await thread.ask(REQUEST);
  const endless = thread.ask({ ...REQUEST, schema: bomb(60), data: '{}' });
  const next = thread.ask(REQUEST);
  vi.advanceTimersByTime(STUCK_MS);
  expect(await endless).toEqual({ kind: 'out-of-time', during: 'validation' });
  expect((await next).kind).toBe('done');
  await thread.stop();
});

/** Each level refers twice to the next one, so that there are 2^levels paths. */
function bomb(levels: number): string {
  const $defs: Record<string, unknown> = { [`n${levels}`]: { required: ['no'] } };
  for (let level = 0; level < levels; level += 1) {
    const $ref = `#/$defs/n${level + 1}`;
    $defs[`n${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return JSON.stringify({ $ref: '#/$defs/n0', $defs });
}
