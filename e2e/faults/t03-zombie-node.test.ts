import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ServerNode } from '../environment/server-node.js';
import { readHistory } from './support/checker.js';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page, StepRow } from './support/wire.js';

const [ZOMBIE, HEIR] = [0, 1];
/**
 * A paused process still exists, so only its lease expires; a busy machine must not make it expire before the pause.
 */
const settings = { NODE_LEASE_MS: '8000' };

const CALL_THEN_WAIT = definition('zombie', [
  {
    Id: 'call',
    StepType: 'HttpRequest',
    Inputs: { BaseUrl: 'data.ledger', Resource: '"/call/" + data.name', Method: '"POST"' },
    Outputs: { by: 'step.ResponseBody.by' },
  },
  {
    Id: 'wait',
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.name' },
    Outputs: { got: 'step.EventData' },
  },
]);

function answerAs(by: string, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ by }));
}

/** Writes that it attempted, or abandoned when it noticed that it had lost the instance. */
async function triesOf({ url }: ServerNode): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const saved =
    /^stepwright_store_operations_total\{operation="commitInstance",result="ok"\} (\d+)/m;
  const fenced = /^stepwright_commits_fenced_total (\d+)/m;
  return [saved, fenced].reduce((sum, pattern) => sum + Number(pattern.exec(text)?.[1] ?? 0), 0);
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-03 a zombie node on $store',
  ({ store }) => {
    it('changes no run that was taken over while the node was paused', async () => {
      await withFleet({ count: 2, store, settings }, async ({ fleet, ledger }) => {
        const names = Array.from({ length: scaled(10) }, (_, at) => `run-${at}`);
        const held: ServerResponse[] = [];
        ledger.respond = (_call, response) => held.push(response);
        const [zombie, heir] = [fleet.node(ZOMBIE), fleet.node(HEIR)];
        const onZombie = new PersistentClient(() => [zombie.url]);
        const onHeir = new PersistentClient(() => [heir.url]);
        await onZombie.call('POST', '/api/definition', { body: CALL_THEN_WAIT });
        const ids = new Map<string, string>();
        for (const name of names) {
          const start = { body: { name, ledger: ledger.url }, key: name };
          const started = await onZombie.call('POST', '/api/workflow/zombie', start);
          ids.set(name, (started.body as Instance).workflowId);
        }
        await eventually('every call is under way', () => held.length === names.length);
        ledger.respond = (_call, response) => answerAs('heir', response);
        const before = await triesOf(zombie);
        zombie.pause();
        const pausedAt = Date.now();
        const get = async <Body>(path: string): Promise<Body> =>
          (await onHeir.call('GET', path)).body as Body;
        for (const [name, id] of ids) {
          await eventually(`${name} is taken over`, async () => {
            const { data } = await get<Instance>(`/api/workflow/${id}`);
            return data['by'] === 'heir';
          });
        }
        const tookOverMs = Date.now() - pausedAt;

        const callsBefore = ledger.calls.length;
        // The zombie resumes with all responses in its sockets, and believes that it is the owner.
        for (const response of held) answerAs('zombie', response);
        zombie.resume();
        await eventually('the zombie has tried to save what it has', async () => {
          return (await triesOf(zombie)) - before >= names.length;
        });
        const client = new PersistentClient(() => fleet.urls);
        for (const name of names) {
          await client.call('POST', `/api/event/go/${name}`, { body: name, key: name });
        }
        for (const [name, id] of ids) {
          const instance = await eventually(`${name} ends`, async () => {
            const read = await get<Instance>(`/api/workflow/${id}?wait=5`);
            return read.status === 'Complete' && read;
          });
          expect(instance.data).toMatchObject({ by: 'heir', got: name });
          const history = await readHistory(id, (path) => get<Page<StepRow>>(path));
          expect(history.map(({ stepId }) => stepId).sort()).toEqual(['call', 'wait']);
          const calls = ledger.callsTo(`/call/${name}`);
          expect(calls.length).toBeGreaterThan(1);
          expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
        }
        expect(ledger.calls).toHaveLength(callsBefore);
        const fenced = await fleet.metric('stepwright_commits_fenced_total');
        expect(fenced).toBeGreaterThan(0);
        console.log(`T-03 ${store}`, { runs: names.length, tookOverMs, fenced });
      });
    });
  },
);
