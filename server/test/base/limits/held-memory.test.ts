/** The memory that a request holds until it has been answered. */
import { describe, expect, it } from 'vitest';
import { AnswerMemory } from '../../../src/base/limits/answer-memory.js';
import { HeldMemory } from '../../../src/base/limits/held-memory.js';
import { CanceledError } from '../../../src/base/slices.js';

const NEVER = new AbortController().signal;

function accountOf(bytesMax = 100): { account: AnswerMemory; refused: () => number } {
  let refusals = 0;
  const account = new AnswerMemory({ bytesMax, refused: () => (refusals += 1) });
  return { account, refused: () => refusals };
}

function request(account: AnswerMemory, key: string, gone = NEVER) {
  const memory = new HeldMemory(account, { key, gone });
  return { memory, close: memory.hold() };
}

describe('HeldMemory', () => {
  it('is counted by kind, and released when the request is over', async () => {
    const { account } = accountOf();
    const { close, memory } = request(account, 'a');
    const read = await memory.reserve('reads', 20);
    memory.add('texts', 5);
    read.resize(30);
    expect([memory.bytes, account.used]).toEqual([35, 35]);
    expect(Object.fromEntries(account.usedByKind)).toEqual({
      reads: 30,
      work_items: 0,
      texts: 5,
      streams: 0,
    });
    close();
    expect(account.used).toBe(0);
    expect([...account.usedByKind.values()]).toEqual([0, 0, 0, 0]);
    memory.add('texts', 5);
    expect(account.used).toBe(0);
  });

  it('does not wait for more while it holds some, so that requests never wait for each other', async () => {
    const { account } = accountOf();
    const requests = ['a', 'b'].map((key) => request(account, key));
    for (const { memory } of requests) await memory.reserve('reads', 50);
    for (const { memory } of requests) await memory.reserve('texts', 10);
    expect(account.used).toBe(120);
    for (const { close } of requests) close();
    expect(account.used).toBe(0);
  });

  it('waits for memory until there is some, or the caller has gone', async () => {
    const { account, refused } = accountOf();
    const first = request(account, 'a');
    await first.memory.reserve('reads', 50);
    const gone = new AbortController();
    const leaving = request(account, 'a', gone.signal).memory.reserve('reads', 10);
    const patient = request(account, 'a');
    const waiting = patient.memory.reserve('reads', 10);
    gone.abort();
    await expect(leaving).rejects.toThrow(CanceledError);
    first.close();
    expect((await waiting).weight).toBe(10);
    expect([account.used, account.waiting, refused()]).toEqual([10, 0, 0]);
  });

  it('is refused at once where a caller cannot wait', () => {
    const { account, refused } = accountOf();
    const first = request(account, 'a');
    first.memory.reserveNow('texts', 50);
    const problemOf = (key: string, bytes: number) => {
      try {
        request(account, key).memory.reserveNow('texts', bytes);
        return null;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(problemOf('a', 10)).toBe('too_many_requests');
    expect(problemOf('b', 60)).toBe('overloaded');
    expect(problemOf('b', 50)).toBeNull();
    expect(refused()).toBe(2);
  });

  it('releases memory that requests share with the last of them', async () => {
    const { account } = accountOf();
    const requests = [request(account, 'a'), request(account, 'a')];
    const shared = requests[0]!.memory.shareable(NEVER);
    const made = shared.hold();
    await shared.reserve('reads', 40);
    for (const { memory } of requests) memory.share(shared);
    made();
    expect([account.used, requests[1]!.memory.bytes]).toEqual([40, 40]);
    requests[0]!.memory.shrinkTo(15);
    expect(account.used).toBe(15);
    requests[0]!.close();
    expect(account.used).toBe(15);
    requests[1]!.close();
    expect(account.used).toBe(0);
  });
});
