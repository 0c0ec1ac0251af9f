/** Finding runs by tags and index fields (section 13 of the contract), on every store. */
import { expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type {
  Workflow,
  WorkflowPage,
  WorkflowSummary,
} from '../../src/api/wire/models/workflow.js';
import type { WorkflowCount } from '../../src/api/wire/models/workflow-filter.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Answer } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, step } from './support/steps.js';

const INDEX = {
  Customer: 'data.customer.id',
  Amount: 'data.amount',
  Paid: 'data.paid',
  Skus: 'data.skus',
};

everyStore('search', (at) => {
  const query = (parameters: Readonly<Record<string, string | readonly string[]>>): string => {
    const search = new URLSearchParams();
    for (const [name, values] of Object.entries(parameters)) {
      for (const value of [values].flat()) search.append(name, value);
    }
    return search.toString();
  };
  /** The runs of one definition that fulfill the conditions, oldest first. */
  const find = async (definitionId: string, ...where: readonly string[]): Promise<string[]> => {
    const text = query({ definitionId, where });
    const { body, status, text: said } = await at.client.get<WorkflowPage>(`/api/workflow?${text}`);
    expect(status, said).toBe(200);
    const counted = await at.client.get<WorkflowCount>(`/api/workflow/count?${text}`);
    expect(counted.body).toEqual({ count: body.items.length, exact: true });
    return body.items.map(({ workflowId }) => workflowId).reverse();
  };
  const define = (Steps: readonly JsonObject[] = [compute('a', {})], rest: JsonObject = {}) =>
    at.client.define({ Index: INDEX, Steps: [...Steps], ...rest });
  const startAll = async (definition: string, ...datas: readonly JsonObject[]) => {
    const ids: string[] = [];
    for (const data of datas) {
      ids.push(await at.client.start(definition, data));
      // Runs that start in the same millisecond are ordered by their ids.
      const { startTime } = await at.client.ended(ids.at(-1)!);
      while (Date.now() <= Date.parse(startTime)) await new Promise(setImmediate);
    }
    return ids;
  };
  const patch = <Body = Workflow>(id: string, changes: Json): Promise<Answer<Body>> => {
    const { mediaType: type } = at.client.dialect;
    const body = at.client.dialect.write(changes);
    return at.client.call<Body>('PATCH', `/api/workflow/${id}/tags`, { body, type });
  };

  it('finds runs by text, numbers, booleans and elements of lists', async () => {
    const definition = await define();
    const [a, b, c] = await startAll(
      definition,
      { customer: { id: 'C-17' }, amount: 9, paid: true, skus: ['x', 'y', { no: 1 }, null] },
      { customer: { id: 17 }, amount: 10.5, paid: false, skus: [[1]] },
      { customer: { id: '17' }, amount: '10', paid: 'true', skus: 'x' },
    );
    expect(await find(definition, 'Customer=C-17')).toEqual([a]);
    expect(await find(definition, 'Customer=c-17')).toEqual([]);
    expect(await find(definition, 'Customer=17')).toEqual([b, c]);
    expect(await find(definition, 'Customer="17"')).toEqual([c]);
    expect(await find(definition, 'Customer!=17')).toEqual([a]);
    expect(await find(definition, 'Customer^=C')).toEqual([a]);
    expect(await find(definition, 'Paid=true')).toEqual([a, c]);
    expect(await find(definition, 'Paid="true"')).toEqual([c]);
    expect(await find(definition, 'Amount<10')).toEqual([a]);
    expect(await find(definition, 'Amount>9')).toEqual([b]);
    expect(await find(definition, 'Amount>=9')).toEqual([a, b]);
    expect(await find(definition, 'Amount>="1"')).toEqual([c]);
    expect(await find(definition, 'Skus=y')).toEqual([a]);
    expect(await find(definition, 'Skus=x')).toEqual([a, c]);
    // A list without an element that can be indexed is not there.
    expect(await find(definition, 'Skus!=y')).toEqual([c]);
    expect(await find(definition, 'Customer=17', 'Amount>10')).toEqual([b]);
    expect(await find(definition, 'unknown=1')).toEqual([]);
    expect(await find(definition, 'unknown!=1')).toEqual([]);
    const { index } = await at.client.workflow(a!);
    expect(index).toEqual({ Customer: 'C-17', Amount: 9, Paid: true, Skus: ['x', 'y'] });
  });

  it('updates index fields with every commit', async () => {
    const name = fresh('work');
    const definition = await define(
      chain(
        activity('ask', name, { Parameters: '"x"' }),
        compute('set', { amount: 'data.amount + 1', customer: '{"id": "new"}' }),
      ),
    );
    const id = await at.client.start(definition, { amount: 1, customer: { id: 'old' } });
    expect(await find(definition, 'Amount=1', 'Customer=old')).toEqual([id]);
    const item = await at.client.work(name);
    await at.client.succeed(item.token, null);
    await at.client.ended(id);
    expect(await find(definition, 'Amount=1')).toEqual([]);
    expect(await find(definition, 'Customer=old')).toEqual([]);
    expect(await find(definition, 'Amount=2', 'Customer=new')).toEqual([id]);
  });

  it('updates open runs after a new version of the definition has changed Index', async () => {
    const name = fresh('work');
    const steps = [activity('ask', name, {})];
    const definition = await define(steps);
    const waiting = await at.client.start(definition, { amount: 1, region: 'north' });
    const [plain] = await Promise.all([at.client.start(definition, { region: 'south' })]);
    expect(await find(definition, 'Amount=1')).toEqual([waiting]);
    const changed = { Id: definition, Steps: steps, Index: { Region: 'data.region' } };
    expect((await at.client.postDefinition(changed)).status).toBe(201);
    await expect
      .poll(() => find(definition, 'Region=north'), { timeout: 20_000 })
      .toEqual([waiting]);
    await expect.poll(() => find(definition, 'Region^=s'), { timeout: 20_000 }).toEqual([plain]);
    expect(await find(definition, 'Amount=1')).toEqual([]);
    // The run goes on as if nothing had happened.
    for (let n = 0; n < 2; n += 1) await at.client.succeed((await at.client.work(name)).token, n);
    const ended = await at.client.ended(waiting);
    expect(ended).toMatchObject({ outcome: 'Succeeded', index: { Region: 'north' }, version: 1 });
    expect(await find(definition, 'Region=north')).toEqual([waiting]);
  });

  it('indexes text of up to 256 characters', async () => {
    const definition = await define();
    const [fits] = await startAll(
      definition,
      { customer: { id: '\u{1f600}'.repeat(256) } },
      { customer: { id: 'x'.repeat(257) } },
    );
    expect(await find(definition, 'Customer!=none')).toEqual([fits]);
  });

  it('sets tags with PATCH, also on ended runs, and records the caller', async () => {
    const definition = await define();
    const [id] = await startAll(definition, { amount: 1 });
    const set = await patch(id!, { team: 'billing', 'prio rity': '1' });
    expect(set.status, set.text).toBe(200);
    expect((await at.client.workflow(id!)).tags).toEqual({ team: 'billing', 'prio rity': '1' });
    expect(await find(definition, 'tag.team=billing')).toEqual([id]);
    expect(await find(definition, 'tag.prio rity=1')).toEqual([id]);
    expect(await find(definition, 'team=billing')).toEqual([]);
    await patch(id!, { team: null });
    const { body } = await at.client.get<WorkflowPage>(`/api/workflow?definitionId=${definition}`);
    expect(body.items[0]).toMatchObject<Partial<WorkflowSummary>>({
      tags: { 'prio rity': '1' },
      index: { Amount: 1 },
    });
    expect(await find(definition, 'tag.team=billing')).toEqual([]);
    const audit = await at.client.get<{ items: { action: string; detail: string }[] }>(
      `/api/workflow/${id}/audit`,
    );
    expect(audit.body.items).toMatchObject([
      { action: 'set-tags', detail: '{"team":null}' },
      { action: 'set-tags' },
    ]);
  });

  it('keeps tags that are set while the run continues', async () => {
    const name = fresh('work');
    const definition = await define([activity('ask', name, {})]);
    const id = await at.client.start(definition, {});
    await patch(id, { team: 'billing' });
    const item = await at.client.work(name);
    await at.client.succeed(item.token, 'done');
    expect((await at.client.ended(id)).tags).toEqual({ team: 'billing' });
    expect((await at.client.workflow(id)).tags).toEqual({ team: 'billing' });
  });

  it('refuses tags that are invalid, and changes nothing', async () => {
    const definition = await define();
    const [id] = await startAll(definition, {});
    await patch(id!, { kept: 'x' });
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, 'x']));
    const refused: readonly Json[] = [
      { team: 7 },
      { team: true },
      { team: ['x'] },
      { '': 'x' },
      { ['n'.repeat(65)]: 'x' },
      { team: 'v'.repeat(257) },
      ['team'],
      'team',
      many,
    ];
    for (const changes of refused) {
      const { body, status } = await patch<Problem>(id!, changes);
      expect([status, typeof body.detail], JSON.stringify(changes)).toEqual([400, 'string']);
    }
    expect((await at.client.workflow(id!)).tags).toEqual({ kept: 'x' });
    expect((await patch('nobody', { a: 'b' })).status).toBe(404);
  });

  it('combines conditions with the other filters, and pages through the results', async () => {
    const definition = await define([
      ...chain(compute('a', {}), step('wait', 'Delay', { Period: 'data.wait' })),
    ]);
    const ids = await startAll(
      definition,
      ...Array.from({ length: 5 }, (_, n) => ({ amount: n % 2, wait: 0 })),
    );
    const text = query({ definitionId: definition, where: 'Amount=0', limit: '2' });
    const first = await at.client.get<WorkflowPage>(`/api/workflow?${text}`);
    expect(first.body.items.map(({ workflowId }) => workflowId)).toEqual([ids[4], ids[2]]);
    const cursor = first.body.nextCursor!;
    const rest = await at.client.get<WorkflowPage>(`/api/workflow?${text}&cursor=${cursor}`);
    expect(rest.body).toMatchObject({ items: [{ workflowId: ids[0] }], nextCursor: null });
    const open = await at.client.start(definition, { amount: 0, wait: 3600 });
    const status = query({ definitionId: definition, where: 'Amount=0', status: 'Runnable' });
    const found = await at.client.get<WorkflowPage>(`/api/workflow?${status}`);
    expect(found.body.items.map(({ workflowId }) => workflowId)).toEqual([open]);
    const { endTime } = await at.client.workflow(ids[2]!);
    const list = async (filter: Readonly<Record<string, string>>) => {
      const { body } = await at.client.get<WorkflowPage>(
        `/api/workflow?${query({ definitionId: definition, where: 'Amount=0', ...filter })}`,
      );
      return body.items.map(({ workflowId }) => workflowId);
    };
    expect(await list({ endedFrom: endTime! })).toEqual([ids[4], ids[2]]);
    expect(await list({ endedTo: endTime! })).toEqual([ids[0]]);
    // No run has succeeded and is open.
    expect(await list({ status: 'Runnable', outcome: 'Succeeded' })).toEqual([]);
  });

  it('accepts escapes in quotes, and refuses malformed conditions with their position', async () => {
    const definition = await define();
    const [id] = await startAll(definition, { customer: { id: 'say "hi" \\ =<>!^' } });
    expect(await find(definition, String.raw`Customer="say \"hi\" \\ =<>!^"`)).toEqual([id]);
    expect(await find(definition, 'Customer=say "hi" \\ =<>!^')).toEqual([id]);
    const malformed: Readonly<Record<string, RegExp>> = {
      '': /no operator/,
      Customer: /no operator/,
      'Customer~x': /no operator/,
      '=x': /name before = is missing/,
      'tag.=x': /name before = is missing/,
      'Customer=': /value after = is missing/,
      'Customer!=': /value after != is missing/,
      'Customer="x': /quote at character 10 is not closed/,
      'Customer="x"y': /text follows the closing quote at character 12/,
      [String.raw`Customer="\n"`]: /escapes, at character 11/,
      [`Customer=${'x'.repeat(1000)}`]: /more than 1000 characters/,
    };
    for (const [where, message] of Object.entries(malformed)) {
      const { body, status } = await at.client.get<Problem>(`/api/workflow?${query({ where })}`);
      expect([where, status]).toEqual([where, 400]);
      expect(body.detail).toMatch(message);
      expect(body.errors).toMatchObject([{ parameter: 'where' }]);
    }
    const many = Array.from({ length: 1000 }, () => 'a=1');
    const refused = await at.client.get<Problem>(`/api/workflow/count?${query({ where: many })}`);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      'At most 20 conditions are possible, not 1000',
    ]);
  });
});
