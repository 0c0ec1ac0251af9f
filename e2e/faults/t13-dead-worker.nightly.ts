import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { WorkItem } from './support/wire.js';

const LEASE_SECONDS = 10;

describe('T-13 a worker that dies while it holds work', () => {
  it('has all its work handed out again when the lease has expired', async () => {
    await withFleet({ count: 2, store: 'sqlite' }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      const count = scaled(50);
      await client.call('POST', '/api/definition', { body: KINDS.activity.definition });
      for (let n = 0; n < count; n += 1) {
        await client.call('POST', '/api/workflow/activity', { body: { name: `run-${n}`, n } });
      }
      const take = async (lease: string): Promise<WorkItem> => {
        const path = `/api/activity/work?workerId=w&timeout=6${lease}`;
        for (;;) {
          const found = await client.call('GET', path, { expected: [200, 404] });
          if (found.status === 200) return found.body as WorkItem;
        }
      };
      for (let n = 0; n < count; n += 1) {
        expect((await take(`&lease=${LEASE_SECONDS}`)).attempt).toBe(1);
      }
      const lastLeaseEndsAt = Date.now() + LEASE_SECONDS * 1000;
      const again = await Promise.all(Array.from({ length: count }, () => take('')));
      const lateMs = Date.now() - lastLeaseEndsAt;
      expect(new Set(again.map(({ workflowId }) => workflowId)).size).toBe(count);
      expect(again.every(({ attempt }) => attempt === 2)).toBe(true);
      console.log('T-13', { items: count, lateMs });
      expect(lateMs).toBeLessThan(3000);
    });
  });
});
