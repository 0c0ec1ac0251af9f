/**
 * Goal: concurrent operations share a group, each with its own result, and a single one never waits for others.
 * Method: groups that get their response when the test says so.
 */
import { describe, expect, it } from 'vitest';
import {
  GroupCommit,
  GroupRolledBackError,
  type GroupCommitOptions,
} from '../../src/store/group-commit.js';
import { StoreUnavailableError } from '../../src/store/store.js';

const LONG = { aloneMs: 60_000, memberMs: 60_000 };

interface SentGroup {
  readonly requests: readonly string[];
  answer(): void;
  fail(error: Error): void;
}

/** `answer` of a group responds to every request with `done <request>`. */
function createGroups(options: Partial<GroupCommitOptions<string, string>> = {}) {
  const sent: SentGroup[] = [];
  const groups = new GroupCommit<string, string>({
    patienceMs: 60_000,
    send: (requests) =>
      new Promise((resolve, reject) => {
        const answer = (): void => resolve(requests.map((request) => `done ${request}`));
        sent.push({ requests, answer, fail: reject });
      }),
    ...options,
  });
  return { groups, sent };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('GroupCommit', () => {
  it('sends the requests of one turn of the event loop together (GC1)', async () => {
    const { groups, sent } = createGroups();
    const results = ['a', 'b', 'c'].map((request) => groups.submit(request));
    await settled();
    expect(sent.map(({ requests }) => requests)).toEqual([['a', 'b', 'c']]);
    sent[0]!.answer();
    expect(await Promise.all(results)).toEqual(['done a', 'done b', 'done c']);
  });

  it('sends a single request immediately (GC1), and later requests together', async () => {
    const { groups, sent } = createGroups();
    const first = groups.submit('a');
    await settled();
    expect(sent.map(({ requests }) => requests)).toEqual([['a']]);
    const others = ['b', 'c', 'd'].map((request) => groups.submit(request));
    expect(sent).toHaveLength(1);
    sent[0]!.answer();
    expect(await first).toBe('done a');
    await settled();
    expect(sent[1]!.requests).toEqual(['b', 'c', 'd']);
    sent[1]!.answer();
    expect(await Promise.all(others)).toEqual(['done b', 'done c', 'done d']);
  });

  it('sends no request with a lock of a group in flight, and others beside it (GC3)', async () => {
    const { groups, sent } = createGroups({
      patienceMs: 0,
      locksOf: (request) => [request.slice(0, 1)],
    });
    const results = ['a1', 'a2'].map((request) => groups.submit(request));
    await settled();
    results.push(...['a3', 'b1'].map((request) => groups.submit(request)));
    await expect.poll(() => sent.length).toBe(2);
    expect(sent.map(({ requests }) => requests)).toEqual([['a1', 'a2'], ['b1']]);
    sent[0]!.answer();
    await expect.poll(() => sent.length).toBe(3);
    expect(sent[2]!.requests).toEqual(['a3']);
    for (const group of sent) group.answer();
    expect(await Promise.all(results)).toEqual(['done a1', 'done a2', 'done a3', 'done b1']);
  });

  it('repeats the requests of a group one by one if one of them fails it (GC2)', async () => {
    const bad = new Error('bad value');
    const { groups, sent } = createGroups();
    void groups.submit('first');
    await settled();
    const results = Promise.allSettled(['a', 'bad', 'c'].map((request) => groups.submit(request)));
    sent[0]!.answer();
    await settled();
    sent[1]!.fail(bad);
    for (const index of [2, 3, 4]) {
      await expect.poll(() => sent.length).toBe(index + 1);
      const group = sent[index]!;
      if (group.requests.includes('bad')) group.fail(bad);
      else group.answer();
    }
    expect(await results).toEqual([
      { status: 'fulfilled', value: 'done a' },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 'done c' },
    ]);
  });

  it("fails a group as a whole if the database doesn't respond (GC2, rule S5)", async () => {
    const outage = new StoreUnavailableError('gone');
    const { groups, sent } = createGroups();
    void groups.submit('first');
    await settled();
    const results = Promise.allSettled([groups.submit('a'), groups.submit('b')]);
    sent[0]!.answer();
    await settled();
    sent[1]!.fail(outage);
    const failed = { status: 'rejected', reason: outage };
    expect(await results).toEqual([failed, failed]);
    expect(sent).toHaveLength(2);
  });

  it('repeats the requests of a rolled-back group, undelayed by one that waits again (GC2)', async () => {
    const rolledBack = new GroupRolledBackError('locked');
    const { groups, sent } = createGroups({ repeatLimits: LONG });
    void groups.submit('first');
    await settled();
    const requests = ['locked', 'a', 'locked too', 'b', 'c'];
    const results = requests.map((request) => groups.submit(request));
    sent[0]!.answer();
    await settled();
    sent[1]!.fail(rolledBack);
    const free = results.filter((_, index) => !requests[index]!.startsWith('locked'));
    const answered = Promise.all(free);
    for (let index = 2; index < 7; index += 1) {
      await expect.poll(() => sent.length).toBeGreaterThan(index);
      const group = sent[index]!;
      expect(group.requests).toHaveLength(1);
      if (!group.requests[0]!.startsWith('locked')) group.answer();
    }
    expect(await answered).toEqual(['done a', 'done b', 'done c']);
    for (const group of sent) group.fail(rolledBack);
    await expect(results[0]).rejects.toBe(rolledBack);
    await expect(results[2]).rejects.toBe(rolledBack);
    expect(sent).toHaveLength(7);
  });

  it('repeats a single rolled-back request once (GC2)', async () => {
    const { groups, sent } = createGroups({ repeatLimits: LONG });
    const repeated = groups.submit('a');
    await settled();
    sent[0]!.fail(new GroupRolledBackError('locked'));
    await expect.poll(() => sent.length).toBe(2);
    sent[1]!.answer();
    expect(await repeated).toBe('done a');
    await settled();
    const failed = groups.submit('b');
    await settled();
    sent[2]!.fail(new GroupRolledBackError('locked'));
    await expect.poll(() => sent.length).toBe(4);
    sent[3]!.fail(new GroupRolledBackError('locked again'));
    await expect(failed).rejects.toThrow('locked again');
    expect(sent).toHaveLength(4);
  });

  it.each([
    ['nobody waits any more', { aloneMs: 60_000, memberMs: 0 }, ['a', 'b']],
    ['a repetition would not end in time', { aloneMs: 0, memberMs: 60_000 }, ['a']],
  ])('repeats nothing if %s', async (_, repeatLimits, requests) => {
    const rolledBack = new GroupRolledBackError('locked');
    const { groups, sent } = createGroups({ repeatLimits });
    void groups.submit('first');
    await settled();
    const results = Promise.allSettled(requests.map((request) => groups.submit(request)));
    sent[0]!.answer();
    await settled();
    sent[1]!.fail(rolledBack);
    expect(await results).toEqual(requests.map(() => ({ status: 'rejected', reason: rolledBack })));
    expect(sent).toHaveLength(2);
  });

  it("stops repeating when the database doesn't respond (GC2, rule S5)", async () => {
    const outage = new StoreUnavailableError('gone');
    const { groups, sent } = createGroups({ repeatLimits: LONG });
    void groups.submit('first');
    await settled();
    const requests = ['a', 'b', 'c', 'd', 'e'];
    const results = Promise.allSettled(requests.map((request) => groups.submit(request)));
    sent[0]!.answer();
    await settled();
    sent[1]!.fail(new GroupRolledBackError('locked'));
    await expect.poll(() => sent.length).toBe(5);
    for (const group of sent) group.fail(outage);
    expect(await results).toEqual(requests.map(() => ({ status: 'rejected', reason: outage })));
    expect(sent).toHaveLength(5);
  });

  it('has only one request with the same key in flight at a time (GC3)', async () => {
    const { groups, sent } = createGroups({ keyOf: (request) => request.slice(0, 1) });
    const results = ['a1', 'a2', 'b1', 'a3'].map((request) => groups.submit(request));
    await settled();
    expect(sent.map(({ requests }) => requests)).toEqual([['a1', 'b1']]);
    for (let index = 0; index < 3; index += 1) {
      await expect.poll(() => sent.length).toBeGreaterThan(index);
      sent[index]!.answer();
      await settled();
    }
    expect(sent.map(({ requests }) => requests)).toEqual([['a1', 'b1'], ['a2'], ['a3']]);
    expect(await Promise.all(results)).toEqual(['done a1', 'done a2', 'done b1', 'done a3']);
  });

  it('limits the number and size of the requests in a group (GC4)', async () => {
    const counted = createGroups({ countMax: 2 });
    for (const request of ['a', 'b', 'c', 'd']) void counted.groups.submit(request);
    await settled();
    expect(counted.sent[0]!.requests).toEqual(['a', 'b']);

    const sized = createGroups({ sizeOf: () => 700_000 });
    for (const request of ['a', 'b', 'c', 'd']) void sized.groups.submit(request);
    await settled();
    expect(sized.sent[0]!.requests).toEqual(['a', 'b']);
  });

  it('has at most a few groups in flight when many requests are waiting (GC4)', async () => {
    const { groups, sent } = createGroups({ countMax: 20 });
    for (let n = 0; n < 200; n += 1) void groups.submit(`${n}`);
    await settled();
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.length).toBeLessThan(5);
  });

  it('sends other groups while one has no response (GC4)', async () => {
    const { groups, sent } = createGroups({ patienceMs: 1 });
    void groups.submit('lost');
    await settled();
    const second = groups.submit('b');
    await expect.poll(() => sent.length).toBe(2);
    sent[1]!.answer();
    expect(await second).toBe('done b');
  });
});
