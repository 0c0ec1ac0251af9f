/** Reads of whole instances and events for display are limited by the memory that they take, for each caller and all. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { AnswerMemory } from '../../../src/base/limits/answer-memory.js';
import { runForCaller, type Caller } from '../../../src/base/limits/current-caller.js';
import { CanceledError } from '../../../src/base/slices.js';
import { ReadingGate } from '../../../src/runtime/memory/reading-gate.js';
import { callerOf as createCaller } from '../../support/caller.js';

const BYTES_MAX = 800;
const NEVER = new AbortController().signal;

function createGate() {
  const account = new AnswerMemory({ bytesMax: 2 ** 20, refused: () => undefined });
  const gate = new ReadingGate(BYTES_MAX, 8);
  const callerOf = (key: string, gone = NEVER): Caller => createCaller(key, gone, account);
  return { account, callerOf, gate };
}

/** A read that has begun or waits, and ends when it is released. */
function openRead(gate: ReadingGate, caller: Caller | null, cost = 100) {
  let release = (): void => undefined;
  let hasBegun = false;
  const find = (): Promise<string> => {
    hasBegun = true;
    return new Promise((resolve) => (release = () => resolve('found')));
  };
  const read = (): Promise<string> => gate.read(find, () => cost, String);
  const result = caller === null ? read() : runForCaller(caller, read);
  result.catch(() => undefined);
  return { result, hasBegun: () => hasBegun, release: () => release() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ReadingGate', () => {
  it('gives one caller at most half of the memory', async () => {
    const { callerOf, gate } = createGate();
    const reads = Array.from({ length: 6 }, () => openRead(gate, callerOf('a')));
    const other = openRead(gate, callerOf('b'));
    await turn();
    expect(reads.map((read) => read.hasBegun())).toEqual([true, true, true, true, false, false]);
    expect(other.hasBegun()).toBe(true);

    reads[0]!.release();
    await expect(reads[0]!.result).resolves.toBe('found');
    await turn();
    expect(reads[4]!.hasBegun()).toBe(true);
    for (const read of [...reads, other]) read.release();
    await turn();
    reads[5]!.release();
    await Promise.all(reads.map((read) => read.result));
  });

  it('expects the next read of a caller to cost as much as its last one', async () => {
    const { callerOf, gate } = createGate();
    const large = openRead(gate, callerOf('a'), BYTES_MAX / 2);
    await turn();
    large.release();
    await large.result;

    const first = openRead(gate, callerOf('a'));
    const second = openRead(gate, callerOf('a'));
    await turn();
    expect([first.hasBegun(), second.hasBegun()]).toEqual([true, false]);
    first.release();
    await first.result;
    await turn();
    second.release();
    await second.result;
  });

  it('stops waiting when the caller has gone, and reads nothing for it', async () => {
    const { callerOf, gate } = createGate();
    const gone = new AbortController();
    const reads = Array.from({ length: 4 }, () => openRead(gate, callerOf('a')));
    const leaving = openRead(gate, callerOf('a', gone.signal));
    await turn();
    gone.abort();
    await expect(leaving.result).rejects.toThrow(CanceledError);
    for (const read of reads) read.release();
    await Promise.all(reads.map((read) => read.result));
    expect(leaving.hasBegun()).toBe(false);
  });

  it('refuses a caller with a thousand waiting reads, but no other', async () => {
    const { callerOf, gate } = createGate();
    const caller = callerOf('a');
    const reads = Array.from({ length: 1005 }, () => openRead(gate, caller));
    await turn();
    const refused = await reads.at(-1)!.result.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({ code: 'too_many_requests' });
    const other = openRead(gate, callerOf('b'));
    await turn();
    expect(other.hasBegun()).toBe(true);
  });

  it('charges the caller for the response until it is sent, unless it is short', async () => {
    const { account, callerOf, gate } = createGate();
    const caller = callerOf('a');
    const sent = caller.memory.hold();
    const long = 'x'.repeat(2 ** 18);
    const view = (text: string) =>
      runForCaller(caller, () =>
        gate.read(
          async () => 0,
          () => 300,
          () => text,
        ),
      );
    await view('short');
    expect(account.used).toBe(0);
    await view(long);
    expect(account.used).toBe(600);
    sent();
    expect(account.used).toBe(0);
  });

  it('releases the memory of a read that fails', async () => {
    const { account, callerOf, gate } = createGate();
    const caller = callerOf('a');
    const sent = caller.memory.hold();
    for (let at = 0; at < 20; at += 1) {
      const fail = (): Promise<never> => Promise.reject(new Error('no such run'));
      const read = runForCaller(caller, () => gate.read(fail, () => 1, String));
      await expect(read).rejects.toThrow('no such run');
    }
    expect(account.used).toBe(0);
    sent();
  });

  it('counts the reads of the server itself, too', async () => {
    const { gate } = createGate();
    const reads = Array.from({ length: 5 }, () => openRead(gate, null));
    await turn();
    expect(reads.map((read) => read.hasBegun())).toEqual([true, true, true, true, false]);
  });
});
