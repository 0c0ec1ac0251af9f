import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const POLLS = 1500;
const ROUNDS = 2;
const RUNS = 60;
/** The connections that a node may have open in addition to the initial ones: those of this test and of the metrics. */
const FILES_MORE_MAX = 50;

describe('T-31 a storm of connections', () => {
  it('does not affect other calls, and leaves nothing open', async () => {
    await withFleet({ count: 1, store: 'sqlite' }, async ({ fleet, ledger }) => {
      const { url } = fleet.node(0);
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: KINDS.pure.definition });
      const files = (): Promise<number> => fleet.metric('process_open_fds');
      const pollers = (): Promise<number> => fleet.metric('stepwright_pollers');
      const filesBefore = await files();
      const latencies: number[] = [];
      let filesMax = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const storm = new AbortController();
        const polls = Array.from({ length: scaled(POLLS) }, async (_, at) => {
          const path = `${url}/api/activity/storm-${at % 10}?workerId=w${at}&timeout=100`;
          await fetch(path, { signal: storm.signal }).catch(() => undefined);
        });
        await eventually('all polls wait', async () => (await pollers()) === scaled(POLLS));
        filesMax = Math.max(filesMax, await files());
        const numbers = Array.from({ length: RUNS }, (_, n) => n);
        await inLanes(4, numbers, async (n) => {
          const calledAt = Date.now();
          const body = { name: `run-${n}`, n, ledger: ledger.url };
          const start = await client.call('POST', '/api/workflow/pure', { body });
          latencies.push(Date.now() - calledAt);
          const ended = await untilEnded(client, (start.body as Instance).workflowId);
          expect(ended.status).toBe('Complete');
        });
        storm.abort();
        await Promise.all(polls);
        await eventually('no poll is left', async () => (await pollers()) === 0);
        await eventually('their connections are closed', async () => {
          return (await files()) <= filesBefore + FILES_MORE_MAX;
        });
      }
      const sorted = latencies.sort((a, b) => a - b);
      console.log('T-31', {
        polls: scaled(POLLS) * ROUNDS,
        filesBefore,
        filesMax,
        filesAfter: await files(),
        startMsMedian: sorted[Math.floor(sorted.length / 2)],
        startMsMax: sorted.at(-1),
      });
      expect(filesMax).toBeGreaterThan(scaled(POLLS));
      expect(client.retries).toBe(0);
      expect(fleet.faults).toEqual([]);
    });
  });
});
