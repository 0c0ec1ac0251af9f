import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const IS_ALL = process.env['FAULTS'] === 'all';
const [STARTS, KILLS] = IS_ALL ? [400, 20] : [80, 3];
/** Many windows end while nodes are killed. */
const QUERY = 'debounce=0.3s&debounceMax=1s&debounceData=list';
const KEYS = ['a', 'b'];

const DEFINITION = definition('collect', [{ Id: 'end', StepType: 'NoOp' }]);

interface Collected {
  readonly items: readonly { readonly n: number }[];
}

describe.each(
  IS_ALL
    ? [{ store: 'sqlite' as const }, { store: 'mongo' as const }, { store: 'postgres' as const }]
    : [{ store: 'sqlite' as const }],
)('T-46 a debounced start on $store', ({ store }) => {
  it('is in the run that answers it, once, however often nodes are killed', async () => {
    await withFleet({ count: 2, store }, async ({ fleet, random }) => {
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: DEFINITION });
      const answers = new Map<number, string>();
      let sent = 0;
      const startAll = async (): Promise<void> => {
        while (sent < scaled(STARTS)) {
          const n = sent;
          sent += 1;
          const key = KEYS[n % KEYS.length] ?? '';
          const path = `/api/workflow/collect?${QUERY}&debounceKey=${key}`;
          const { body } = await client.call('POST', path, { body: { n } });
          answers.set(n, (body as Instance).workflowId);
          await setTimeout(random() * 100);
        }
      };
      const clients = Promise.all(Array.from({ length: 4 }, startAll));
      for (let kill = 0; kill < scaled(KILLS); kill += 1) {
        await setTimeout(random() * 600);
        const victim = kill % fleet.size;
        await fleet.kill(victim);
        await setTimeout(random() * 400);
        await fleet.restart(victim);
      }
      await clients;
      const runs = new Set(answers.values());
      const seen = new Map<number, string>();
      for (const id of runs) {
        const run = await untilEnded(client, id);
        expect(run).toMatchObject({ status: 'Complete' });
        for (const { n } of (run as unknown as { data: Collected }).data.items) {
          expect(seen.get(n), `start ${n} is in two runs`).toBeUndefined();
          seen.set(n, id);
        }
      }
      expect([...answers].filter(([n, id]) => seen.get(n) !== id)).toEqual([]);
      console.log(`T-46 ${store}`, { starts: answers.size, runs: runs.size });
    });
  });
});
