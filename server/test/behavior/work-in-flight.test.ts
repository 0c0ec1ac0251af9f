/** Work in flight when a saga fails or a run is terminated with compensation. */
import { describe, expect, it } from 'vitest';
import type { CompensationPreview } from '../../src/api/wire/models/control.js';
import type { WorkItem } from '../../src/api/wire/models/activity.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { useCallee } from './support/callee.js';
import { fresh } from './support/client.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { chain, mark, step } from './support/steps.js';

/** Answers `/slow` when the test says so. */
const held: (() => void)[] = [];
const callee = useCallee((request, response) => {
  if (request.url === '/slow') held.push(() => response.end('{}'));
  else response.writeHead(request.url === '/bad' ? 422 : 200).end('{}');
});

/** Notes what it undoes, and with which outcome. */
function undo(id: string): JsonObject {
  const what = 'f"{context.Compensating.StepId} {context.Compensating.Outcome}"';
  const note = `data.get("trail", []) + [${what}]`;
  return { CompensateWith: [step(`-${id}`, 'NoOp', {}, { Outputs: { trail: note } })] };
}

const call = (id: string, path: string): JsonObject =>
  step(
    id,
    'HttpRequest',
    { BaseUrl: `"${callee.url}"`, Resource: `"${path}"`, SucceedOn: ['2xx'] },
    { ...undo(id), Timeout: 60 },
  );

function saga(branches: readonly (readonly JsonObject[])[], rest: JsonObject = {}): JsonObject {
  const Do = branches.map((branch) => [...branch]);
  const own = { Saga: true, CompensateWith: [mark('-saga')] };
  return step('saga', 'Sequence', {}, { ...own, Do, ...rest });
}

everyStore('work in flight', suite, { dialects: 'alternating' });

function suite(at: Surroundings): void {
  const explain = async (id: string) =>
    (await at.client.get<{ reasons: JsonObject[] }>(`/api/workflow/${id}/explain`)).body;
  const untilUndoing = (id: string) =>
    eventually('the saga waits for work in flight', async () => {
      const { reasons } = await explain(id);
      return reasons.find(({ kind }) => kind === 'compensating');
    });
  const terminate = <Body>(id: string, query: string) =>
    at.client.call<Body>('DELETE', `/api/workflow/${id}?compensate=true${query}`);
  const trailOf = async (id: string) => (await at.client.ended(id)).data['trail'];

  describe('the open work of a failing saga', () => {
    /** A parallel Foreach over these items, whose first one fails for good. */
    const startBooking = async (rest: JsonObject = {}): Promise<[string, string]> => {
      const name = fresh('book');
      const inputs = { ActivityName: `"${name}"`, Parameters: { '@item': 'context.Item' } };
      const note = `data.get("trail", []) + [f"{context.Item} {context.Compensating.Outcome}"]`;
      const unbook = step('unbook', 'NoOp', {}, { Outputs: { trail: note } });
      const book = step('book', 'Activity', inputs, { CompensateWith: [unbook] });
      const each = step('each', 'Foreach', { Collection: 'data.items' }, { Do: [[book]] });
      const items = { items: ['bad', 'a', 'slow'] };
      return [await at.client.defineAndStart([saga([[each]], rest)], items), name];
    };
    /** Takes the items of all three, by item. */
    const takeAll = async (name: string, query = ''): Promise<ReadonlyMap<string, WorkItem>> => {
      const taken = new Map<string, WorkItem>();
      for (let count = 0; count < 3; count += 1) {
        const item = await at.client.work(name, query);
        taken.set((item.parameters as { item: string }).item, item);
      }
      return taken;
    };
    const failBad = async (items: ReadonlyMap<string, WorkItem>): Promise<void> => {
      const { token } = items.get('bad')!;
      const body = { body: '"no"', type: 'application/json' };
      const answer = await at.client.call('POST', `/api/activity/fail/${token}?retry=false`, body);
      expect(answer.status).toBe(202);
    };

    it('is awaited, and undone in order of completion', async () => {
      const [id, name] = await startBooking();
      const items = await takeAll(name);
      await failBad(items);
      const reason = await untilUndoing(id);
      expect(reason['text']).toMatch(/^undoing: waits for 2 steps in flight: book \(held by /);
      await at.client.succeed(items.get('a')!.token, null);
      await at.client.succeed(items.get('slow')!.token, null);
      expect(await trailOf(id)).toEqual(['slow Completed', 'a Completed', 'bad Failed', '-saga']);
      const steps = await at.client.steps(id);
      const books = steps.filter(({ stepId }) => stepId === 'book');
      const undone = steps.filter(({ stepId }) => stepId === 'unbook');
      const ids = new Map(books.map(({ executionId, item }) => [item, executionId]));
      expect(undone.map(({ compensates, item }) => [item, compensates])).toEqual(
        ['slow', 'a', 'bad'].map((item) => [item, ids.get(item)]),
      );
    });

    it('continues after a restart of the server', async () => {
      const [id, name] = await startBooking();
      const items = await takeAll(name);
      await failBad(items);
      await untilUndoing(id);
      await at.restart();
      await at.client.succeed(items.get('a')!.token, null);
      await at.restart();
      await at.client.succeed(items.get('slow')!.token, null);
      expect(await trailOf(id)).toEqual(['slow Completed', 'a Completed', 'bad Failed', '-saga']);
    });

    it('is reported as canceled to its workers, who may return it', async () => {
      const [id, name] = await startBooking();
      const items = await takeAll(name, '&lease=60');
      await failBad(items);
      await untilUndoing(id);
      const beat = (item: string) =>
        at.client.call<JsonObject>('PUT', `/api/activity/${items.get(item)!.token}/heartbeat`);
      await eventually('the worker is told', async () => {
        return (await beat('a')).body['cancelRequested'] === true;
      });
      await at.client.call('DELETE', `/api/activity/${items.get('slow')!.token}`);
      await at.client.succeed(items.get('a')!.token, null);
      expect(await trailOf(id)).toEqual(['a Completed', 'slow Unknown', 'bad Failed', '-saga']);
    });

    it("is unknown at the end of its lease, and isn't handed out again", async () => {
      const [id, name] = await startBooking();
      const items = await takeAll(name, '&lease=2');
      await failBad(items);
      const other = at.client.call('GET', `/api/activity/${name}?timeout=10`);
      const trail = await trailOf(id);
      expect(trail).toEqual(
        expect.arrayContaining(['slow Unknown', 'a Unknown', 'bad Failed', '-saga']),
      );
      const late = await at.client.call('POST', `/api/activity/success/${items.get('a')!.token}`);
      expect(late).toMatchObject({ status: 404, body: { code: 'work_cancelled' } });
      expect((await other).status).toBe(404);
    });

    it('is unknown at the end of the grace period', async () => {
      const [id, name] = await startBooking({ Grace: 1 });
      await failBad(await takeAll(name));
      expect(await trailOf(id)).toEqual(
        expect.arrayContaining(['slow Unknown', 'a Unknown', 'bad Failed', '-saga']),
      );
    });

    it('is omitted if no worker took it', async () => {
      const [id, name] = await startBooking();
      const first = await at.client.work(name);
      const { item } = first.parameters as { item: string };
      await failBad(new Map([['bad', first]]));
      expect(await trailOf(id)).toEqual([`${item} Failed`, '-saga']);
      expect((await at.client.call('GET', `/api/activity/${name}`)).status).toBe(404);
    });

    it('includes an HTTP call whose response arrives later', async () => {
      const branches = [chain(call('slow', '/slow'), mark('never')), [call('bad', '/bad')]];
      const id = await at.client.defineAndStart([saga(branches)]);
      await eventually('the call has arrived', () => held.length > 0);
      await untilUndoing(id);
      held.splice(0).forEach((answer) => answer());
      expect(await trailOf(id)).toEqual(['slow Completed', 'bad Failed', '-saga']);
    });
  });

  describe('the open work of a run that is terminated with compensation', () => {
    const start = async (): Promise<string> => {
      const steps = chain(mark('a', undo('a')), call('charge', '/slow'), mark('never'));
      const id = await at.client.defineAndStart(steps);
      await eventually('the call has arrived', () => held.length > 0);
      return id;
    };

    it('is awaited, and undone', async () => {
      const id = await start();
      expect((await terminate(id, '')).status).toBe(200);
      await untilUndoing(id);
      held.splice(0).forEach((answer) => answer());
      expect(await trailOf(id)).toEqual(['a', 'charge Completed', 'a Completed']);
    });

    it('is given up at the end of the grace period', async () => {
      const id = await start();
      expect((await terminate(id, '&grace=0.2')).status).toBe(200);
      expect(await trailOf(id)).toEqual(['a', 'charge Unknown', 'a Completed']);
      held.splice(0).forEach((answer) => answer());
    });

    it('is shown by a dry run, which changes nothing', async () => {
      const id = await start();
      const { body } = await terminate<CompensationPreview>(id, '&dryRun=true');
      const charge = { executionId: 2, stepId: 'charge' };
      expect(body).toEqual({
        undo: [charge, { executionId: 1, stepId: 'a' }],
        inFlight: [charge],
      });
      held.splice(0).forEach((answer) => answer());
      expect((await at.client.ended(id)).outcome).toBe('Succeeded');
    });

    it('requires compensate for grace and dryRun', async () => {
      const answer = await at.client.call('DELETE', '/api/workflow/none?grace=5');
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    });
  });
}
