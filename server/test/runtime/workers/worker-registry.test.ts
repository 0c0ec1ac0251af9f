/** Which workers a node remembers: bounded in number and age, whatever its clients send. */
import { describe, expect, it } from 'vitest';
import { ClaimTimes } from '../../../src/runtime/workers/claim-times.js';
import { WorkerRegistry, WORKERS_MAX } from '../../../src/runtime/workers/worker-registry.js';

const worker = (workerId: string, address: string | null = '10.0.0.1') => ({
  workerId,
  host: null,
  version: null,
  address,
});

describe('WorkerRegistry', () => {
  it('lists waiting workers first, then the most recently seen ones', () => {
    const registry = new WorkerRegistry();
    registry.pollBegan(worker('waits'), 'a', 1);
    registry.pollBegan(worker('old'), 'a', 2);
    registry.pollEnded(worker('old'), 'a', 3);
    registry.pollBegan(worker('new'), 'b', 4);
    registry.pollEnded(worker('new'), 'b', 5);
    expect(registry.newest(9, 6).map(({ workerId }) => workerId)).toEqual(['waits', 'new', 'old']);
    expect(registry.newest(1, 6)).toEqual([
      { ...worker('waits'), lastPollAt: 1, activities: [{ name: 'a', polling: 1, lastPollAt: 1 }] },
    ]);
    expect([...registry.waitingByActivity()]).toEqual([['a', 1]]);
  });

  it('remembers a bounded number of workers, and keeps the waiting one among 100,000 ids', () => {
    const registry = new WorkerRegistry();
    registry.pollBegan(worker('waits'), 'a', 0);
    for (let n = 0; n < 100_000; n += 1) {
      registry.pollBegan(worker(`w${n}`), `queue ${n}`, n);
      registry.pollEnded(worker(`w${n}`), `queue ${n}`, n);
    }
    const seen = registry.newest(Infinity, 100_000);
    expect(seen).toHaveLength(WORKERS_MAX);
    expect(seen[0]?.workerId).toBe('waits');
    expect(seen[1]?.workerId).toBe('w99999');
  });

  it('drops a waiting worker if all of them are waiting, and ignores the end of its poll', () => {
    const registry = new WorkerRegistry();
    for (let n = 0; n <= WORKERS_MAX; n += 1) registry.pollBegan(worker(`w${n}`), 'a', n);
    registry.pollEnded(worker('w0'), 'a', 5000);
    const ids = registry.newest(Infinity, 5000).map(({ workerId }) => workerId);
    expect(ids).toHaveLength(WORKERS_MAX);
    expect(ids).not.toContain('w0');
  });

  it('remembers a bounded number of activities of one worker', () => {
    const registry = new WorkerRegistry();
    for (let n = 0; n < 1000; n += 1) registry.pollBegan(worker('w'), `queue ${n}`, n);
    const [seen] = registry.newest(1, 1000);
    expect(seen?.activities).toHaveLength(32);
    expect(seen?.activities.at(-1)?.name).toBe('queue 999');
  });

  it('forgets workers after a day, and takes unnamed clients at two addresses for two workers', () => {
    const registry = new WorkerRegistry();
    registry.pollBegan(worker('', '10.0.0.1'), 'a', 0);
    registry.pollBegan(worker('', '10.0.0.2'), 'a', 1000);
    expect(registry.newest(9, 2000)).toHaveLength(2);
    expect(registry.newest(9, 86_400_500).map(({ address }) => address)).toEqual(['10.0.0.2']);
  });
});

describe('HandOuts', () => {
  it('forgets removed items, and the oldest of very many', () => {
    const times = new ClaimTimes();
    for (let n = 0; n < 20_000; n += 1) times.add(`i/${n}/1`, n);
    expect(times.newest(Infinity)).toHaveLength(5000);
    times.remove('i/19999/1');
    expect(times.newest(1)).toEqual([{ activityId: 'i/19998/1', at: 19_998 }]);
  });
});
