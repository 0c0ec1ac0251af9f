import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { answerAfter } from '../../server/test/support/ledger.js';
import { definition } from './support/definitions.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const IS_ALL = process.env['FAULTS'] === 'all';
const [RUNS, KILLS] = IS_ALL ? [60, 20] : [12, 3];
/** Most of a run: kills fall into it, or between two runs. */
const CALL_MS = 400;

const callTo = (Id: string, rest: object = {}) => ({
  Id,
  StepType: 'HttpRequest',
  Inputs: {
    BaseUrl: 'data.ledger',
    Resource: `"/${Id}/" + data.name`,
    Method: '"POST"',
  },
  ...rest,
});

const DEFINITION = definition('in-turn', [callTo('begin', { NextStepId: 'end' }), callTo('end')]);

describe.each(
  IS_ALL
    ? [{ store: 'sqlite' as const }, { store: 'mongo' as const }, { store: 'postgres' as const }]
    : [{ store: 'sqlite' as const }],
)('T-44 a queued run on $store', ({ store }) => {
  it('begins when those accepted before it have ended, however often nodes are killed', async () => {
    await withFleet({ count: 2, store }, async ({ fleet, ledger, random }) => {
      ledger.respond = answerAfter(CALL_MS);
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: DEFINITION });
      const names = Array.from({ length: scaled(RUNS) }, (_, n) => `run-${n}`);
      const startAll = async (): Promise<readonly string[]> => {
        const ids: string[] = [];
        for (const name of names) {
          const path = '/api/workflow/in-turn?reference=one&onConflict=queue';
          const { body } = await client.call('POST', path, { body: { name, ledger: ledger.url } });
          ids.push((body as Instance).workflowId);
        }
        return ids;
      };
      const started = startAll();
      for (let kill = 0; kill < scaled(KILLS); kill += 1) {
        await setTimeout(random() * 4 * CALL_MS);
        const victim = kill % fleet.size;
        await fleet.kill(victim);
        await setTimeout(random() * CALL_MS);
        await fleet.restart(victim);
      }
      for (const id of await started) {
        expect(await untilEnded(client, id)).toMatchObject({ status: 'Complete' });
      }
      const firstCall = (path: string) => ledger.calls.findIndex((call) => call.path === path);
      const order = names.flatMap((name) => [
        firstCall(`/begin/${name}`),
        firstCall(`/end/${name}`),
      ]);
      expect(order.every((at) => at >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      console.log(`T-44 ${store}`, { runs: names.length, callsRepeated: ledger.repeats });
    });
  });
});
