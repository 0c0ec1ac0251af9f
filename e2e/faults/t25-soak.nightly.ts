import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { megabytesOf } from './support/megabytes.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** FAULTS_SOAK_MINUTES=60 runs the whole test. */
const MINUTES = Number(process.env['FAULTS_SOAK_MINUTES'] ?? 8);
const PER_SECOND = 10;
const SAMPLE_EVERY_MS = 5000;
/** Ended runs are kept for a twelfth of the time, but at least for a minute, the shortest retention. */
const RETENTION_SECONDS = Math.max(60, Math.round((MINUTES * 60) / 12));
/** The tolerated growth from start to end, because no two measurements of a heap are equal. */
const GROWTH_MAX = 1.25;
const LANES = 16;

interface Sample {
  readonly megabytes: number;
  readonly fileBytes: number;
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The maximum of each value in a quarter of the samples, from 0 to 3. */
function quarter(samples: readonly Sample[], index: number): Sample {
  const length = Math.floor(samples.length / 4);
  const part = samples.slice(index * length, (index + 1) * length);
  return {
    megabytes: Math.max(...part.map(({ megabytes }) => megabytes)),
    fileBytes: Math.max(...part.map(({ fileBytes }) => fileBytes)),
  };
}

describe('T-25 a mixed load for a long time', () => {
  it(
    'leaves memory and store at a constant size once old data is purged',
    async () => {
      const retention = String(RETENTION_SECONDS);
      const settings = {
        INSTANCE_RETENTION_SECONDS: retention,
        EVENT_RETENTION_SECONDS: retention,
      };
      await withFleet(
        { count: 2, store: 'sqlite', settings },
        async ({ fleet, ledger, random }) => {
          const { database } = fleet;
          if (database.kind !== 'sqlite') throw new Error('this fleet must use a SQLite file');
          const endsAt = Date.now() + MINUTES * 60_000;
          const workload = new Workload({ urls: () => fleet.urls, ledger, random });
          await workload.begin();
          let isOver = false;
          const started = workload
            .startWhile(() => Date.now() < endsAt, PER_SECOND)
            .finally(() => {
              isOver = true;
            });
          // Each run is seen at its end, before its retention has passed.
          let seen = 0;
          const watch = async (): Promise<void> => {
            for (;;) {
              const run = workload.runs[seen];
              if (run === undefined) {
                if (isOver) return;
                await setTimeout(50);
                continue;
              }
              seen += 1;
              expect((await untilEnded(workload.client, run.workflowId)).status).toBe('Complete');
            }
          };
          const watchers = Array.from({ length: LANES }, watch);
          const samples: Sample[] = [];
          while (Date.now() < endsAt) {
            await setTimeout(SAMPLE_EVERY_MS);
            samples.push({
              megabytes: Math.max(...(await megabytesOf(fleet))),
              fileBytes: bytesOf(database.file) + bytesOf(`${database.file}-wal`),
            });
          }
          await started;
          await Promise.all(watchers);
          await workload.end();
          const [before, after] = [quarter(samples, 1), quarter(samples, 3)];
          console.log('T-25', { minutes: MINUTES, runs: workload.runs.length, before, after });
          expect(seen).toBe(workload.runs.length);
          expect(fleet.faults).toEqual([]);
          expect(after.megabytes).toBeLessThan(before.megabytes * GROWTH_MAX);
          expect(after.fileBytes).toBeLessThan(before.fileBytes * GROWTH_MAX);
        },
      );
    },
    (MINUTES + 15) * 60_000,
  );
});
