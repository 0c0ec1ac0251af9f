/** The order in which the work of several fairness keys is handed out, in each of the queues and on every store. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { ActivityItemPage } from '../../src/api/wire/models/activity.js';
import type { Limit } from '../../src/api/wire/models/limit.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from './support/callee.js';
import { fresh, type Client } from './support/client.js';
import { start } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { activity, step } from './support/steps.js';

/** Of the start: `fairnessKey=…`; empty for none. */
type Query = string;

const A = 'fairnessKey=a';
const B = 'fairnessKey=b';

/** The work items of several runs, in one queue. */
class Queue {
  readonly #client: Client;
  readonly #name = fresh('work');
  readonly #queries = new Map<string, Query>();
  #offered = 0;
  #id: Promise<string> | null = null;

  constructor(client: Client) {
    this.#client = client;
  }

  /** A run of the query with this many items. */
  async offer(query: Query, count: number, priority = 3): Promise<void> {
    const { workflowId } = await started(this.#client, await this.#definition(), {
      data: { items: Array.from({ length: count }, (_, index) => index) },
      query: `${query}&priority=${priority}`,
    });
    this.#queries.set(workflowId, query);
    this.#offered += count;
    const path = `/api/activity/${this.#name}/queue?limit=100`;
    await eventually('the items are in the queue', async () => {
      const { body } = await this.#client.get<ActivityItemPage>(path);
      return body.items.length === this.#offered;
    });
  }

  /** The queries of the next items, which stay with their workers. */
  async take(count: number): Promise<readonly Query[]> {
    const taken: Query[] = [];
    for (let n = 0; n < count; n += 1) {
      const { workflowId } = await this.#client.work(this.#name);
      taken.push(this.#queries.get(workflowId) ?? '?');
    }
    return taken;
  }

  #definition(): Promise<string> {
    this.#id ??= this.#client.define([
      step(
        'each',
        'Foreach',
        { Collection: 'data.items', RunParallel: 'True' },
        { Do: [[activity('ask', this.#name)]] },
      ),
    ]);
    return this.#id;
  }
}

async function started(
  client: Client,
  id: string,
  { data = {}, query }: { readonly data?: JsonObject; readonly query: Query },
) {
  const { body, status, text } = await start(client, id, data, query);
  expect(status, text).toBe(201);
  return body;
}

const countOf = (taken: readonly Query[], query: Query): number =>
  taken.filter((each) => each === query).length;

/** While two keys both have items, any 20 in a row contain at least 9 of each: no key is ever more than 2 ahead. */
function expectTurns(taken: readonly Query[], [first, second]: readonly [Query, Query]): void {
  const text = taken.join(' ');
  for (let from = 0; from < taken.length; from += 1) {
    for (let to = from + 1; to <= taken.length; to += 1) {
      const rest = taken.slice(to - 1);
      if (countOf(rest, first) === 0 || countOf(rest, second) === 0) break;
      const part = taken.slice(from, to);
      const ahead = Math.abs(countOf(part, first) - countOf(part, second));
      expect(ahead, text).toBeLessThanOrEqual(2);
    }
  }
}

/** Everything of one key comes before that of the other. */
const KEYS = [A, A, A, A, A, A, B, B, B, B, B, B];

/** The answers that calls of the test wait for, by their paths. */
const calls = new Map<string, () => void>();
const callee = useCallee((request, response) => {
  calls.set(request.url ?? '', () => response.end('{}'));
});

/** A call of one of these paths. */
function nextOf(paths: ReadonlyMap<string, unknown>): readonly [string, () => void] | undefined {
  return [...calls].find(([path]) => paths.has(path));
}

everyStore('turns of fairness keys', (at) => {
  it('hands out the items of two keys in turns', async () => {
    const queue = new Queue(at.client);
    await queue.offer(A, 15);
    await queue.offer(B, 15);
    const taken = await queue.take(30);
    expectTurns(taken, [A, B]);
    expect(countOf(taken.slice(0, 20), B)).toBeGreaterThanOrEqual(9);
  });

  it('counts runs without a key as one group', async () => {
    const queue = new Queue(at.client);
    await queue.offer('', 8);
    await queue.offer('', 8);
    await queue.offer(A, 16);
    expectTurns(await queue.take(32), ['', A]);
  });

  it('gives a key with three times the weight three times as much', async () => {
    const queue = new Queue(at.client);
    const heavy = 'fairnessKey=h&fairnessWeight=3';
    await queue.offer(A, 8);
    await queue.offer(heavy, 24);
    const taken = await queue.take(24);
    for (const from of [0, 4, 8]) {
      const part = taken.slice(from, from + 16);
      expect(countOf(part, A), taken.join(' ')).toBeGreaterThanOrEqual(3);
      expect(countOf(part, A), taken.join(' ')).toBeLessThanOrEqual(5);
    }
  });

  it('lets a key that comes late begin at the present', async () => {
    const queue = new Queue(at.client);
    await queue.offer(A, 20);
    await queue.take(8);
    await queue.offer(B, 12);
    expectTurns(await queue.take(24), [A, B]);
  });

  it('hands out everything of a higher priority first, and then of the lower one in turns', async () => {
    const queue = new Queue(at.client);
    await queue.offer(B, 8);
    await queue.offer(A, 4, 1);
    await queue.offer(A, 8);
    const taken = await queue.take(20);
    expect(taken.slice(0, 4)).toEqual([A, A, A, A]);
    expectTurns(taken.slice(4), [A, B]);
  });

  it('hands out items that need slots of a limit in turns', async () => {
    const { client } = at;
    const limit = await limitOf(client);
    const name = fresh('work');
    const id = await client.define({ Steps: [{ ...activity('ask', name), Limits: [limit] }] });
    const queries = new Map<string, Query>();
    for (const query of KEYS) {
      const { workflowId } = await started(client, id, { query });
      await client.untilWaiting(workflowId, 'ask');
      queries.set(workflowId, query);
    }
    const taken: Query[] = [];
    for (let n = 0; n < KEYS.length; n += 1) {
      const { token, workflowId } = await client.work(name);
      expect((await client.pull(name)).status).toBe(404);
      taken.push(queries.get(workflowId) ?? '?');
      await client.succeed(token, null);
    }
    expectTurns(taken, [A, B]);
  });

  it('lets steps that wait for a slot begin in turns', async () => {
    const { client } = at;
    const limit = await limitOf(client);
    const inputs = { BaseUrl: `"${callee.url}"`, Resource: '"/" + context.Workflow.Id' };
    const id = await client.define({
      Steps: [step('call', 'HttpRequest', inputs, { Limits: [limit] })],
    });
    const queries = new Map<string, Query>();
    for (const query of KEYS) {
      const { workflowId } = await started(client, id, { query });
      queries.set(`/${workflowId}`, query);
    }
    await eventually('all but one wait', async () => {
      const { body } = await client.get<Limit>(`/api/limit/${limit}`);
      return body.waiting === KEYS.length - 1;
    });
    const taken: Query[] = [];
    for (let n = 0; n < KEYS.length; n += 1) {
      const [path, answer] = await eventually('a call', () => nextOf(queries));
      calls.delete(path);
      taken.push(queries.get(path) ?? '?');
      answer();
    }
    // The first one began before the others came.
    expectTurns(taken.slice(1), [A, B]);
  });

  it('lets runs that wait for a place begin in turns', async () => {
    const { client } = at;
    const name = fresh('work');
    const id = await client.define({
      Concurrency: { Limit: 1 },
      Steps: [activity('ask', name)],
    });
    const queries = new Map<string, Query>();
    for (const query of KEYS) {
      const { workflowId } = await started(client, id, { query });
      queries.set(workflowId, query);
    }
    const taken: Query[] = [];
    for (let n = 0; n < KEYS.length; n += 1) {
      const { token, workflowId } = await client.work(name);
      taken.push(queries.get(workflowId) ?? '?');
      await client.succeed(token, null);
    }
    expectTurns(taken.slice(1), [A, B]);
  });
});

/** A limit of one unit. */
async function limitOf(client: Client): Promise<string> {
  const name = fresh('limit');
  const body = JSON.stringify({ concurrency: 1 });
  const put = await client.call('PUT', `/api/limit/${name}`, { body, type: 'application/json' });
  expect(put.status, put.text).toBe(201);
  return name;
}
