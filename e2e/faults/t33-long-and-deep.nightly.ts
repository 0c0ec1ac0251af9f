import { describe, expect, it } from 'vitest';
import { readHistory } from './support/checker.js';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { storedStateBytes } from './support/stored-state.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page, StepRow } from './support/wire.js';

const STATE_BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 32;

const LONG = definition('long', [
  assign('zero', { turns: '0' }),
  {
    Id: 'while',
    StepType: 'While',
    Inputs: { Condition: 'data.turns < data.n' },
    Do: [[assign('turn', { turns: 'data.turns + 1' })]],
  },
  {
    Id: 'wait',
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.name' },
  },
]);

/** A definition whose innermost step is inside this many containers. */
function nested(containers: number): object {
  let inner: object = assign('innermost', { reached: 'True' });
  for (let level = containers; level > 0; level -= 1) {
    const inputs = { Condition: 'True' };
    inner = { Id: `level-${level}`, StepType: 'If', Inputs: inputs, Do: [inner] };
  }
  return { Id: `nested-${containers}`, Steps: [inner] };
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-33 a long or deep instance on $store',
  ({ store }) => {
    it('keeps a small state and a complete history in a loop with many iterations', async () => {
      await withFleet({ count: 1, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        const turns = scaled(10_000);
        await client.call('POST', '/api/definition', { body: LONG });
        const body = { n: turns, name: 'one' };
        const start = await client.call('POST', '/api/workflow/long', { body });
        const { workflowId } = start.body as Instance;
        const sizes: number[] = [];
        const get = async <Body>(path: string): Promise<Body> =>
          (await client.call('GET', path)).body as Body;
        await eventually('all turns are taken', async () => {
          sizes.push(await storedStateBytes(fleet, workflowId));
          return (await get<Instance>(`/api/workflow/${workflowId}`)).data['turns'] === turns;
        });
        sizes.push(await storedStateBytes(fleet, workflowId));
        await client.call('POST', '/api/event/go/one', { body: null });
        expect((await untilEnded(client, workflowId)).status).toBe('Complete');
        const history = await readHistory(workflowId, (path) => get<Page<StepRow>>(path));
        expect(history.filter(({ stepId }) => stepId === 'turn')).toHaveLength(turns);
        expect(history).toHaveLength(turns + 3);
        expect(new Set(history.map(({ executionId }) => executionId)).size).toBe(history.length);
        console.log(`T-33 ${store}`, {
          turns,
          sizesSeen: sizes.length,
          bytesMax: Math.max(...sizes),
        });
        expect(Math.max(...sizes)).toBeLessThan(STATE_BYTES_MAX);
      });
    });

    it('nests containers up to a limit, and the error beyond it says so', async () => {
      await withFleet({ count: 1, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: nested(DEPTH_MAX) });
        const start = await client.call('POST', `/api/workflow/nested-${DEPTH_MAX}`, { body: {} });
        const ended = await untilEnded(client, (start.body as Instance).workflowId);
        expect(ended).toMatchObject({ status: 'Complete', data: { reached: true } });
        const refusalOf = async (containers: number): Promise<string> => {
          const options = { body: nested(containers), expected: [400] };
          return JSON.stringify((await client.call('POST', '/api/definition', options)).body);
        };
        expect(await refusalOf(DEPTH_MAX + 1)).toContain('nested at most 32 levels deep');
        // The body reader stops before the definition is parsed.
        expect(await refusalOf(200)).toContain('nested deeper than 100 levels (line 1, column');
      });
    });
  },
);
