/** Idempotency-Key on starts, events, definitions and modifications. */
import { expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { RepairedWorkflow } from '../../src/api/wire/models/repair.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, mark, step } from './support/steps.js';

const keyed = (key: string) => ({ 'Idempotency-Key': key });

everyStore('an Idempotency-Key', (at) => {
  it('returns the first response again for a start, and starts nothing', async () => {
    const { client } = at;
    const definition = await client.define([compute('a', { done: 'True' })]);
    const headers = keyed(fresh('key'));
    const path = `/api/workflow/${definition}?reference=r`;
    const first = await client.post<Workflow>(path, { n: 1, m: 2 }, headers);
    expect(first.status).toBe(201);
    await client.ended(first.body.workflowId);
    const again = await client.post<Workflow>(path, { m: 2, n: 1 }, headers);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const { body } = await client.get<WorkflowPage>(`/api/workflow?definitionId=${definition}`);
    expect(body.items).toHaveLength(1);
  });

  it('answers 409 for a start with different data', async () => {
    const { client } = at;
    const definition = await client.define([mark('a')]);
    const headers = keyed(fresh('key'));
    await client.post(`/api/workflow/${definition}`, { n: 1 }, headers);
    const answer = await client.post<Problem>(`/api/workflow/${definition}`, { n: 2 }, headers);
    expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('applies to one definition only', async () => {
    const { client } = at;
    const headers = keyed(fresh('key'));
    const ids = await Promise.all(
      [1, 2].map(
        async () =>
          (
            await client.post<Workflow>(
              `/api/workflow/${await client.define([mark('a')])}`,
              {},
              headers,
            )
          ).body.workflowId,
      ),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it('starts only one run for concurrent starts', async () => {
    const { client } = at;
    const definition = await client.define([step('wait', 'Delay', { Period: 0.1 })]);
    const headers = keyed(fresh('key'));
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() =>
        client.post<Workflow>(`/api/workflow/${definition}`, { n: 1 }, headers),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.workflowId)).size).toBe(1);
    await client.ended(answers[0]!.body.workflowId);
  });

  it('returns the first response again for an event, and publishes nothing', async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart(
      [
        step(
          'loop',
          'While',
          { Condition: 'len(data.got) < 2' },
          {
            Do: [
              [
                step(
                  'wait',
                  'WaitFor',
                  { EventName: `"${name}"`, EventKey: '"k"' },
                  { Outputs: { got: 'data.got + [step.EventData]' } },
                ),
              ],
            ],
          },
        ),
      ],
      { got: [] },
    );
    await client.untilWaiting(id, 'wait');
    const headers = keyed(fresh('key'));
    const path = `/api/event/${name}/k`;
    const first = await client.post(path, 'one', headers);
    expect(first.status).toBe(202);
    const again = await client.post(path, 'one', headers);
    expect([again.status, again.body]).toEqual([202, first.body]);
    const other = await client.post<Problem>(path, 'two', headers);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    await client.publish(name, 'k', 'three');
    expect((await client.ended(id)).data['got']).toEqual(['one', 'three']);
  });

  it('returns the first response again for a definition, and stores no version', async () => {
    const { client } = at;
    const id = fresh('definition');
    const headers = keyed(fresh('key'));
    const post = (v: number) =>
      client.post<Problem>(
        '/api/definition',
        client.dialect.spell({ Id: id, Steps: [compute('a', { v })] }),
        headers,
      );
    const first = await post(1);
    expect([first.status, first.body]).toEqual([201, { id, version: 1, warnings: [] }]);
    const again = await post(1);
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await post(2);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    expect((await client.get<{ version: number }>(`/api/definition/${id}`)).body.version).toBe(1);
  });

  it('accepts a repetition in the other format', async () => {
    const { client } = at;
    const definition = await client.define([mark('a')]);
    const headers = keyed(fresh('key'));
    const path = `/api/workflow/${definition}`;
    const json = await client.call<Workflow>('POST', path, {
      body: '{"a": [1, null]}',
      type: 'application/json',
      headers,
    });
    const yaml = await client.call<Workflow>('POST', path, {
      body: 'a:\n- 1\n-\n',
      type: 'application/yaml',
      headers,
    });
    expect([yaml.status, yaml.body.workflowId]).toEqual([201, json.body.workflowId]);
  });

  it.each(['', 'x'.repeat(256), 'ü'])("is rejected if it's %j", async (key) => {
    const { client } = at;
    const definition = await client.define([mark('a')]);
    const answer = await client.post(`/api/workflow/${definition}`, {}, keyed(key));
    expect(answer.status).toBe(400);
  });

  it('applies a modification once, also after a restart and on the ended run', async () => {
    const wait = step('w', 'WaitFor', { EventName: '"never"', EventKey: '"k"' });
    const id = await at.client.defineAndStart([wait, mark('extra')]);
    await at.client.untilWaiting(id, 'w');
    const headers = keyed(fresh('key'));
    const modify = async () => {
      const body = { reason: 'r', cancel: ['*'], start: [{ stepId: 'extra' }] };
      const path = `/api/workflow/${id}/modify`;
      const answer = await at.client.post<RepairedWorkflow>(path, body, headers);
      expect(answer.status, answer.text).toBe(200);
      const { cancelled, started } = answer.body;
      return { cancelled, started };
    };
    const first = await modify();
    expect(await modify()).toEqual(first);
    expect((await at.client.ended(id)).data).toEqual({ trail: ['extra'] });
    await at.restart();
    expect(await modify()).toEqual(first);
    expect((await at.client.ended(id)).data).toEqual({ trail: ['extra'] });
  });

  it('survives a restart', async () => {
    const { client } = at;
    const definition = await client.define([mark('a')]);
    const headers = keyed(fresh('key'));
    const first = await client.post<Workflow>(`/api/workflow/${definition}`, { n: 1 }, headers);
    await at.restart();
    const again = await at.client.post<Workflow>(`/api/workflow/${definition}`, { n: 1 }, headers);
    expect(again.body).toEqual(first.body);
  });
});
