/** The details that nodes write to their record: written, read back, and read from invalid text. */
import { describe, expect, it } from 'vitest';
import {
  POLLED_NAMES_MAX,
  readDetails,
  readArchives,
  readBindsLeases,
  readFollowedUntil,
  writeDetails,
  type NodeDetails,
} from '../../../src/runtime/fleet/node-details.js';
import { pollingOf } from '../../../src/runtime/fleet/node-views.js';
import { PollCounts } from '../../../src/runtime/workers/poll-counts.js';
import type { NodeRecord } from '../../../src/store/records/nodes.js';

const DETAILS: NodeDetails = {
  startTime: 5,
  load: {
    instancesInMemory: 1,
    callsUnderWay: 2,
    parkedPolls: 3,
    memoryBytes: 4,
    cpuPercent: 5,
    eventLoopDelayMs: 6,
  },
  pollers: [{ name: 'a', parked: 2, lastPollAt: 7 }],
  workers: [
    {
      workerId: 'w',
      host: 'h',
      version: null,
      address: '10.0.0.1',
      lastPollAt: 7,
      activities: [{ name: 'a', polling: 2, lastPollAt: 7 }],
    },
  ],
  handOuts: [{ activityId: 'i/1/1', at: 8 }],
  history: {
    minutes: [{ at: 9, started: 1, succeeded: 2, failed: 3, stopped: 4, totalMs: 5, longestMs: 6 }],
    hours: [],
  },
  backplane: { kind: 'redis', connected: true },
};

describe('readDetails', () => {
  it('reads the output of writeDetails', () => {
    expect(readDetails(writeDetails(DETAILS, 9))).toEqual(DETAILS);
    expect(readFollowedUntil(writeDetails(DETAILS, 9))).toBe(9);
    expect(readArchives(writeDetails(DETAILS, 9, true))).toBe(true);
    expect(readArchives(writeDetails(DETAILS, 9))).toBe(false);
    expect(readBindsLeases(writeDetails(DETAILS, 9))).toBe(true);
    expect(readBindsLeases(JSON.stringify(DETAILS))).toBe(false);
    expect(readArchives(null)).toBe(false);
  });

  it('writes a bounded number of characters about workers', () => {
    const [worker] = DETAILS.workers;
    const workers = Array.from({ length: 100 }, (_, n) => ({
      ...worker!,
      workerId: `${n}${'w'.repeat(190)}`,
      activities: [{ name: 'a'.repeat(200), polling: 0, lastPollAt: 1 }],
    }));
    const text = writeDetails({ ...DETAILS, workers }, 9);
    expect(text.length).toBeLessThan(40_000);
    expect(readDetails(text)?.workers).toEqual(workers.slice(0, readDetails(text)?.workers.length));
    expect(readDetails(text)?.workers.length).toBeGreaterThan(50);
  });

  it('reads the record of a node that reports no workers, or broken ones', () => {
    const old = { ...DETAILS, workers: undefined, handOuts: undefined, history: undefined };
    expect(readDetails(JSON.stringify(old))).toMatchObject({
      workers: [],
      handOuts: [],
      history: { minutes: [], hours: [] },
    });
    const broken = {
      ...DETAILS,
      workers: [7, { workerId: 7 }, ...DETAILS.workers],
      handOuts: [{}],
    };
    expect(readDetails(JSON.stringify(broken))).toEqual({ ...DETAILS, handOuts: [] });
  });

  it.each([null, '', '{}', 'null', '{"followedUntil":"1"}'])(
    'returns no time for the followed commits in %j',
    (text) => {
      expect(readFollowedUntil(text)).toBeNull();
    },
  );

  it.each<[string, string | null]>([
    ['nothing', null],
    ['an empty string', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a missing load', JSON.stringify({ ...DETAILS, load: undefined })],
    ['an incomplete load', JSON.stringify({ ...DETAILS, load: { memoryBytes: 1 } })],
    ['a time that is a string', JSON.stringify({ ...DETAILS, startTime: '5' })],
    ['a time that is out of range', JSON.stringify({ ...DETAILS, startTime: 1e300 })],
    ['a missing backplane', JSON.stringify({ ...DETAILS, backplane: null })],
  ])('returns null for %s', (_what, text) => {
    expect(readDetails(text)).toBeNull();
  });

  it('drops invalid poll counts, and those beyond the limit', () => {
    const good = { name: 'a', parked: 1, lastPollAt: 1 };
    const odd = [
      null,
      {},
      { ...good, name: 1 },
      { ...good, parked: null },
      { ...good, lastPollAt: 'x' },
    ];
    const read = (pollers: unknown) =>
      readDetails(JSON.stringify({ ...DETAILS, pollers }))?.pollers;
    expect(read([...odd, good])).toEqual([good]);
    expect(read('all')).toEqual([]);
    expect(read(Array.from({ length: 500 }, () => good))).toHaveLength(POLLED_NAMES_MAX);
  });
});

describe('PollCounts', () => {
  it('lists names with waiting workers first, then the most recently polled ones', () => {
    const counts = new PollCounts();
    counts.pollBegan('parked', 1);
    for (const [name, at] of [
      ['early', 2],
      ['late', 4],
    ] as const) {
      counts.pollBegan(name, at);
      counts.pollEnded(name, at + 1);
    }
    expect(counts.newest(3)).toEqual([
      { name: 'parked', parked: 1, lastPollAt: 1 },
      { name: 'late', parked: 0, lastPollAt: 5 },
      { name: 'early', parked: 0, lastPollAt: 3 },
    ]);
    expect(counts.newest(1).map(({ name }) => name)).toEqual(['parked']);
  });

  it('drops the least recently polled names, but none with a waiting worker', () => {
    const counts = new PollCounts();
    counts.pollBegan('parked', 0);
    for (let n = 0; n < 3000; n += 1) {
      counts.pollBegan(`n${n}`, n);
      counts.pollEnded(`n${n}`, n);
    }
    const names = counts.newest(5000).map(({ name }) => name);
    expect(names).toHaveLength(1000);
    expect(names[0]).toBe('parked');
    expect(names).toContain('n2999');
    expect(names).not.toContain('n1000');
  });
});

describe('pollingOf', () => {
  const node = (id: string, pollers: NodeDetails['pollers'] | null): NodeRecord => ({
    id,
    beatAt: 0,
    url: '',
    version: '',
    hostname: '',
    pid: 1,
    details: pollers === null ? null : writeDetails({ ...DETAILS, pollers }, 9),
  });
  const judge = { looksAlive: ({ id }: NodeRecord) => id !== 'dead' };

  it('adds up the counts of live nodes, and takes the latest time of all nodes', () => {
    const records = [
      node('one', [{ name: 'a', parked: 2, lastPollAt: 10 }]),
      node('two', [{ name: 'a', parked: 1, lastPollAt: 20 }]),
      node('other', [{ name: 'b', parked: 4, lastPollAt: 50 }]),
      node('dead', [{ name: 'a', parked: 8, lastPollAt: 30 }]),
      node('silent', null),
    ];
    expect(pollingOf('a', records, judge)).toEqual({ pollers: 3, lastPollTime: 30 });
    expect(pollingOf('c', records, judge)).toEqual({ pollers: 0, lastPollTime: null });
  });
});
