/**
 * Goal: the walk-throughs of docs/repair.md work as printed.
 * Method: the definitions are posted, and the requests sent, as they are in the document; each response, and the run at the end,
 * must have what the document shows. Workers and services fail as the walk-through assumes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { useCallee } from './support/callee.js';
import { Client, type Answer } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { readWalkthroughs, type DocumentBlock } from './support/walkthroughs.js';
import { eventually } from '../../../sdk/test/support/eventually.js';

const SECTIONS = readWalkthroughs();

/** The code blocks of one walk-through, to be used in their order. */
class Page {
  readonly #blocks: DocumentBlock[];

  constructor(
    readonly client: Client,
    title: string,
  ) {
    this.#blocks = [...(SECTIONS.get(title) ?? [])];
  }

  get isDone(): boolean {
    return this.#blocks.length === 0;
  }

  /** Stores the next definition, and returns its id. */
  async define(): Promise<string> {
    const body = this.#next('yaml');
    const answer = await this.client.call('POST', '/api/definition', {
      body,
      type: 'application/yaml',
    });
    expect(answer.status, answer.text).toBe(201);
    return (parse(body) as { Id: string }).Id;
  }

  /** Sends the next request. */
  send(id: string): Promise<Answer<JsonObject>> {
    const [line = '', ...body] = this.#next('http').split('\n');
    const [method = '', path = ''] = line.replace('{id}', id).split(' ');
    return this.client.call(method, path, { body: body.join('\n'), type: 'application/json' });
  }

  /** What the document shows next. */
  shown(): JsonObject {
    return JSON.parse(this.#next('json')) as JsonObject;
  }

  async endsAsShown(id: string): Promise<void> {
    const { data, ...shown } = this.shown();
    const ended = await this.client.ended(id);
    expect(ended).toMatchObject(shown);
    expect(ended.data).toMatchObject(data as JsonObject);
  }

  #next(language: string): string {
    const block = this.#blocks.shift();
    expect(block?.language).toBe(language);
    return block?.text ?? '';
  }
}

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ store: createMemoryStore() });
});

afterAll(() => server.stop());

/** A service that is down at first. */
let isDown = true;
const charged: string[] = [];
const cards = useCallee((request, response) => {
  response.statusCode = isDown ? 503 : 200;
  if (!isDown) charged.push(request.url ?? '');
  response.end('{}');
});

const isSuspended = ({ status }: Workflow): boolean => status === 'Suspended';

/** Each walk-through by its title. */
const TRIALS: Readonly<Record<string, (page: Page, client: Client) => Promise<void>>> = {
  'A saga whose compensation failed': async (page, client) => {
    const id = await client.start(await page.define());
    await client.succeed((await client.work('airline-book')).token, {});
    await client.fail((await client.work('hotel-book')).token, 'full');
    await client.fail((await client.work('airline-cancel')).token, 'not possible');
    await client.untilWorkflow(id, isSuspended);
    const answer = await page.send(id);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      cancelled: [{ executionId: 4, stepId: 'cancel-flight' }],
      repeats: [],
      warnings: [],
    });
    await page.endsAsShown(id);
  },

  'One bad item of 5,000': async (page, client) => {
    const orders = Array.from({ length: 5000 }, (_, index) => ({
      price: index === 4711 ? '12,-' : 1,
    }));
    const id = await client.start(await page.define(), { orders, total: 0 });
    await eventually('one item is left', async () => {
      const path = `/api/workflow/${id}/steps?order=desc&limit=3`;
      const { items } = (await client.get<{ items: JsonObject[] }>(path)).body;
      const open = items.filter(({ endTime }) => endTime === null);
      const { data } = await client.workflow(id);
      return data['total'] === 4999 && open.some(({ executionId }) => executionId === 4713);
    });
    const answer = await page.send(id);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ cancelled: [{ executionId: 4713, stepId: 'price' }] });
    await page.endsAsShown(id);
  },

  'A run that was terminated by mistake': async (page, client) => {
    const order = 'order-17';
    const id = await client.start(await page.define(), { order });
    await client.succeed((await client.work('reserve-goods')).token, {});
    await client.untilWaiting(id, 'approval');
    await client.terminate(id);
    expect(await client.trace(id)).toEqual(['reserve Complete', 'approval Cancelled']);
    expect((await page.send(id)).body).toMatchObject(page.shown());
    expect((await client.workflow(id)).status).toBe('Terminated');
    // Published while the run had ended, and taken all the same.
    await client.publish('order-approved', order, 'Ann');
    const answer = await page.send(id);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body['started']).toMatchObject([{ stepId: 'approval' }]);
    await page.endsAsShown(id);
  },

  '500 runs that failed in an outage': async (page, client) => {
    const definitionId = await page.define();
    const ids: string[] = [];
    for (let number = 0; number < 500; number += 50) {
      const starts = Array.from({ length: 50 }, (_, at) =>
        client.start(definitionId, { service: cards.url, order: String(number + at) }),
      );
      ids.push(...(await Promise.all(starts)));
    }
    for (const id of ids) expect((await client.ended(id)).outcome).toBe('Failed');
    isDown = false;
    const preview = await page.send('');
    expect(preview.status, preview.text).toBe(200);
    expect(preview.body).toMatchObject(page.shown());
    expect(charged).toEqual([]);
    const job = await page.send('');
    expect(job.status, job.text).toBe(202);
    const state = await eventually('the job is done', async () => {
      const { body } = await client.get<JsonObject>(`/api/bulk/${job.body['id'] as string}`);
      return body['state'] === 'Done' && body;
    });
    expect(state).toMatchObject(page.shown());
    for (const id of ids) expect((await client.ended(id)).outcome).toBe('Succeeded');
    expect(new Set(charged).size).toBe(500);
    expect(charged.length).toBe(500);
  },

  'A bug that the next version fixes': async (page, client) => {
    const id = await client.start(await page.define(), { costs: 90, persons: 3 });
    await client.succeed((await client.work('approve-costs')).token, {});
    await client.untilWorkflow(id, isSuspended);
    await page.define();
    const refused = await page.send(id);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject(page.shown());
    expect(refused.text).toContain('compute-share');
    expect(await client.workflow(id)).toMatchObject({ status: 'Suspended', version: 1 });
    const answer = await page.send(id);
    expect(answer.status, answer.text).toBe(200);
    await page.endsAsShown(id);
    expect((await client.pull('approve-costs')).status).toBe(404);
  },
};

describe('the set of walk-throughs in docs/repair.md', () => {
  it('is tested completely', () => {
    expect([...SECTIONS.keys()]).toEqual(Object.keys(TRIALS));
  });

  it.each(Object.entries(TRIALS))('matches the actual behavior: %s', async (title, run) => {
    const client = new Client(server.url);
    const page = new Page(client, title);
    await run(page, client);
    expect(page.isDone, 'the document shows more than the test reads').toBe(true);
  });
});
