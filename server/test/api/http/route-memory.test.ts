/** Each call takes the memory that it is expected to need before it runs. */
import { describe, expect, it } from 'vitest';
import { AnswerMemory } from '../../../src/base/limits/answer-memory.js';
import type { Caller } from '../../../src/base/limits/current-caller.js';
import { CanceledError } from '../../../src/base/slices.js';
import { RouteMemory } from '../../../src/api/http/route-memory.js';
import { callerOf as createCaller } from '../../support/caller.js';

const KILOBYTES = 1024;
const NEVER = new AbortController().signal;
const ROUTE = 'AuditController.listAudit';

function createCallers() {
  const account = new AnswerMemory({ bytesMax: 2 ** 20, refused: () => undefined });
  const callerOf = (key: string, gone = NEVER): Caller => {
    const caller = createCaller(key, gone, account);
    caller.memory.hold();
    return caller;
  };
  return { callerOf };
}

describe('RouteMemory', () => {
  it('reserves twice the bytes of the last response for the next call', async () => {
    const { callerOf } = createCallers();
    const memory = new RouteMemory();
    const caller = callerOf('a');
    expect(await memory.reserve(ROUTE, caller)).toBeNull();
    memory.learn(ROUTE, caller, 100 * KILOBYTES);
    expect((await memory.reserve(ROUTE, caller))?.weight).toBe(200 * KILOBYTES);
  });

  it('expects of an unknown caller what the last one needed', async () => {
    const { callerOf } = createCallers();
    const memory = new RouteMemory();
    memory.learn(ROUTE, callerOf('a'), 100 * KILOBYTES);
    expect((await memory.reserve(ROUTE, callerOf('b')))?.weight).toBe(200 * KILOBYTES);
  });

  it('forgets a long response after several short ones', async () => {
    const { callerOf } = createCallers();
    const memory = new RouteMemory();
    const caller = callerOf('a');
    memory.learn(ROUTE, caller, 100 * KILOBYTES);
    memory.learn(ROUTE, caller, 0);
    expect((await memory.reserve(ROUTE, callerOf('a')))?.weight).toBe(160 * KILOBYTES);
    for (let at = 0; at < 6; at += 1) memory.learn(ROUTE, caller, 0);
    expect(await memory.reserve(ROUTE, caller)).toBeNull();
  });

  it('makes a caller wait whose share is in use, and lets another pass', async () => {
    const { callerOf } = createCallers();
    const memory = new RouteMemory();
    memory.learn(ROUTE, callerOf('a'), 200 * KILOBYTES);
    expect(await memory.reserve(ROUTE, callerOf('a'))).not.toBeNull();
    const gone = new AbortController();
    const waiting = memory.reserve(ROUTE, callerOf('a', gone.signal));
    const isWaiting = Promise.race([waiting.then(() => false), Promise.resolve(true)]);
    expect(await isWaiting).toBe(true);
    expect(await memory.reserve(ROUTE, callerOf('b'))).not.toBeNull();
    gone.abort();
    await expect(waiting).rejects.toThrow(CanceledError);
  });

  it('reserves nothing for calls that may wait for something else', async () => {
    const { callerOf } = createCallers();
    const memory = new RouteMemory();
    const caller = callerOf('a');
    memory.learn('ActivityController.pullActivity', caller, 500 * KILOBYTES);
    expect(await memory.reserve('ActivityController.pullActivity', caller)).toBeNull();
  });
});
