/**
 * One run for each key: definitions say which reference their runs have, what a start does if another run has it, and whether ended
 * runs count. By every door, on every store.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import {
  deliver,
  runsOf,
  SECRET,
  start,
  triggerOf,
  webhook,
  type Started,
} from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];
const ORDER = { Reference: 'data.order', ConflictScope: 'kePT' } as const;
const environment = {
  data_dir: mkdtempSync(join(tmpdir(), 'stepwright-keys-')),
};

everyStore(
  'one run for each key',
  (at) => {
    it('gives runs the reference that the definition computes from their data', async () => {
      const { client } = at;
      const id = await client.define({
        Reference: 'data["order"] if "order" in data else data.get("other")',
        Input: { properties: { other: { default: 'o' } } },
        Steps: WAITING,
      });
      for (const [data, query, reference] of [
        [{ order: 'A1' }, '', 'A1'],
        [{ order: 7 }, '', '7'],
        [{ order: 'A1' }, 'reference=own', 'own'],
        [{ order: 'A1' }, 'reference=', 'A1'],
        // After the defaults of Input.
        [{}, '', 'o'],
        [{ order: null }, '', null],
        [{ order: '' }, '', null],
      ] as const) {
        const { body, status, text } = await start(client, id, data, query);
        expect(status, text).toBe(201);
        expect(body.reference).toBe(reference);
        expect((await client.workflow(body.workflowId)).reference).toBe(reference);
      }
    });

    it("refuses a start if the Reference fails or isn't a name", async () => {
      const { client } = at;
      const id = await client.define({ Reference: 'data.order', Steps: WAITING });
      for (const [data, problem] of [
        [{}, 'order'],
        [{ order: ['x'] }, 'expected a string'],
        [{ order: 'x'.repeat(201) }, 'longer than 200'],
        [{ order: 'a\nb' }, 'control character'],
      ] as const) {
        const { body, status } = await start(client, id, data);
        expect([status, body.code]).toEqual([400, 'expression_failed']);
        expect(body.detail).toContain("Reference 'data.order'");
        expect(body.detail).toContain(problem);
      }
      expect(await runsOf(client, id)).toEqual([]);
    });

    it('uses the rule of the definition unless the start has its own', async () => {
      const { client } = at;
      const id = await client.define({ ...ORDER, OnConflict: 'FAIL', Steps: [mark('a')] });
      const first = await start(client, id, { order: 'A1' }, 'wait=20');
      expect(first.body).toMatchObject({ status: 'Complete' });
      const { workflowId } = first.body;
      const refused = await start(client, id, { order: 'A1' });
      expect(refused.body).toMatchObject({
        status: 409,
        code: 'reference_in_use',
        workflowId,
        detail: expect.stringContaining('has ended') as unknown,
      });
      const joined = await start(client, id, { order: 'A1' }, 'onConflict=existing&wait=20');
      expect(joined.status).toBe(200);
      expect(joined.body).toMatchObject({
        workflowId,
        status: 'Complete',
        data: { trail: ['a'] },
      });
      // No other run is open.
      const again = await start(client, id, { order: 'A1' }, 'conflictScope=open');
      expect(again.status).toBe(201);
      const allowed = await start(client, id, { order: 'A1' }, 'onConflict=allow');
      expect(allowed.status).toBe(201);
      // Without a reference, there is nothing to be the same.
      const other = await client.define({
        Reference: 'data.get("order")',
        OnConflict: 'fail',
        Steps: WAITING,
      });
      for (let n = 0; n < 2; n += 1) expect((await start(client, other, {})).status).toBe(201);
      const unnamed = await start(client, other, {}, 'onConflict=existing');
      expect(unnamed.body).toMatchObject({ status: 400, errors: [{ parameter: 'onConflict' }] });
      expect((await start(client, other, {}, 'conflictScope=all')).status).toBe(400);
    });

    it("counts kept runs, newest first, until they're purged", async () => {
      const { client } = at;
      const id = await client.define(WAITING);
      const kept = 'reference=r&conflictScope=kept';
      const older = (await start(client, id, {}, kept)).body.workflowId;
      const newest = (await start(client, id, {}, 'reference=r')).body.workflowId;
      await client.terminate(newest);
      for (const rule of ['fail', 'existing']) {
        const { body } = await start(client, id, {}, `${kept}&onConflict=${rule}`);
        expect(body.workflowId).toBe(newest);
      }
      const replacing = await start(client, id, {}, `${kept}&onConflict=terminate`);
      expect(replacing.status).toBe(201);
      expect(await client.workflow(older)).toMatchObject({ status: 'Terminated' });
      const ids = [older, newest, replacing.body.workflowId];
      await client.terminate(replacing.body.workflowId);
      for (const each of ids) {
        const purged = await client.call('DELETE', `/api/workflow/${each}?purge=true`);
        expect(purged.status, purged.text).toBe(200);
      }
      const free = await start(client, id, {}, `${kept}&onConflict=fail`);
      expect(free.status, free.text).toBe(201);
    });

    it('joins a run whatever the new data is, by its own or the raw data', async () => {
      const { client } = at;
      const id = await client.define({
        ...ORDER,
        OnConflict: 'existing',
        Input: { type: 'object', required: ['n'] },
        Steps: [compute('n', { n: 'data.n + 1' })],
      });
      const { workflowId } = (await start(client, id, { order: 'A1', n: 1 }, 'wait=20')).body;
      const joined = await start(client, id, { order: 'A1' });
      expect([joined.status, joined.body.workflowId]).toEqual([200, workflowId]);
      const invalid = await start(client, id, { order: 'A2' });
      expect(invalid.body).toMatchObject({ status: 400, code: 'invalid_data' });
    });

    it("doesn't apply to a run that is started again", async () => {
      const { client } = at;
      const id = await client.define({ ...ORDER, OnConflict: 'fail', Steps: [mark('a')] });
      const { workflowId } = (await start(client, id, { order: 'A1' }, 'wait=20')).body;
      const again = await client.post<Started>(`/api/workflow/${workflowId}/restart`, {
        reason: 'once more',
      });
      expect(again.status, again.text).toBe(201);
      expect(again.body).toMatchObject({ reference: 'A1', restartOf: workflowId });
    });

    it('returns the first response for a start that is repeated with its Idempotency-Key', async () => {
      const { client } = at;
      const id = await client.define({ ...ORDER, OnConflict: 'existing', Steps: [mark('a')] });
      const send = (key: string) =>
        client.call<Started>('POST', `/api/workflow/${id}`, {
          body: '{"order":"A1"}',
          type: 'application/json',
          headers: { 'idempotency-key': key },
        });
      const keys = [fresh('key'), fresh('key')] as const;
      const first = await send(keys[0]);
      const joined = await send(keys[1]);
      expect([first.status, joined.status]).toEqual([201, 200]);
      expect(joined.body.workflowId).toBe(first.body.workflowId);
      expect(await send(keys[0])).toMatchObject({ status: 201, body: first.body });
      await client.call('DELETE', `/api/workflow/${first.body.workflowId}?purge=true`);
      expect((await send(keys[1])).status).toBe(201);
    });

    it('applies to SubWorkflow steps, which get the result of an ended run', async () => {
      const { client } = at;
      const child = await client.define({
        ...ORDER,
        OnConflict: 'existing',
        Steps: [compute('a', { paid: 'data.order + " by " + data.by' })],
      });
      const failing = await client.define([
        step('no', 'Fail', { Message: '"no"' }, { ErrorBehavior: 'Terminate' }),
      ]);
      const parentOf = (definition: string, rest: JsonObject) =>
        step(
          'sub',
          'SubWorkflow',
          { DefinitionId: `"${definition}"`, ...rest },
          {
            Outputs: { child: 'step.WorkflowId', got: 'step.Data' },
            ErrorBehavior: 'Terminate',
          },
        );
      const parent = await client.define(
        chain(parentOf(child, { Data: { order: 'A1', '@by': 'data.by' } })),
      );
      const first = await client.ended(await client.start(parent, { by: 'Ada' }));
      const second = await client.ended(await client.start(parent, { by: 'Bob' }));
      expect(first.data).toMatchObject({ got: { paid: 'A1 by Ada' } });
      expect(second.data).toMatchObject({ got: { paid: 'A1 by Ada' } });
      expect(second.data['child']).toBe(first.data['child']);
      const other = await client.run([
        parentOf(child, { Data: { order: 'A1', by: 'Cy' }, OnConflict: '"allow"' }),
      ]);
      expect(other.data).toMatchObject({ got: { paid: 'A1 by Cy' } });
      // A run that has failed is joined, too, and fails the step.
      const terms = { Reference: '"r"', OnConflict: '"Existing"', ConflictScope: '"KEPT"' };
      for (let n = 0; n < 2; n += 1) {
        const ended = await client.run([parentOf(failing, terms)]);
        expect(ended).toMatchObject({ outcome: 'Failed' });
      }
      expect(await runsOf(client, failing)).toHaveLength(1);
      const refused = await client.run([
        parentOf(child, { Data: { order: 'A1', by: 'Cy' }, OnConflict: '"fail"' }),
      ]);
      expect(refused.lastError).toMatchObject({ type: 'SubWorkflowFailed' });
      const unnamed = await client.run([parentOf(child, { Data: {} })]);
      expect(unnamed.lastError?.message).toContain('Reference');
    });

    it('shows a trigger as Skipped if its start joins a run or is refused', async () => {
      const { client } = at;
      for (const OnConflict of ['Existing', 'Fail']) {
        const eventName = fresh('paid');
        const id = await client.define({
          ...ORDER,
          OnConflict,
          Triggers: [{ Name: 'main', Event: { Name: eventName } }],
          Steps: [mark('a')],
        });
        await client.publish(eventName, '1', { order: 'A1' });
        const outcome = async () => (await triggerOf(client, id)).last?.outcome;
        await eventually('the first event has started a run', async () => {
          return (await outcome()) === 'Started';
        });
        await client.publish(eventName, '2', { order: 'A1' });
        await eventually('the second event was skipped', async () => {
          return (await outcome()) === 'Skipped';
        });
        const [run, ...others] = await runsOf(client, id);
        expect(others).toEqual([]);
        expect((await triggerOf(client, id)).last).toMatchObject({
          workflowId: null,
          reason: expect.stringContaining(run!.workflowId) as unknown,
        });
      }
    });

    it('applies to fired triggers', async () => {
      const { client } = at;
      const fire = (id: string) =>
        client.call<Started>('POST', `/api/definition/${id}/triggers/main/fire`);
      const define = (OnConflict: string) =>
        client.define({
          OnConflict,
          ConflictScope: 'Kept',
          Reference: '"n-" + context.Trigger.Name',
          Triggers: [{ Name: 'main', Cron: '@yearly' }],
          Steps: [mark('a')],
        });
      const joining = await define('existing');
      const first = await fire(joining);
      expect([first.status, first.body.reference]).toEqual([201, 'n-main']);
      const second = await fire(joining);
      expect(second.status).toBe(200);
      expect(second.body).toMatchObject({ workflowId: first.body.workflowId });
      expect((await triggerOf(client, joining)).last).toMatchObject({ outcome: 'Skipped' });
      const refusing = await define('fail');
      await fire(refusing);
      expect((await fire(refusing)).body).toMatchObject({ status: 409, code: 'reference_in_use' });
      expect((await triggerOf(client, refusing)).last).toMatchObject({ outcome: 'Skipped' });
    });

    it('applies to webhooks, which can have their own rule', async () => {
      const { client } = at;
      const definitionId = await client.define([mark('a')]);
      const reference = 'hook.body["order"]';
      const hook = async (rules: JsonObject) =>
        webhook(client, { definitionId, reference, ...rules });
      const refusing = await hook({ onConflict: 'FAIL', conflictScope: 'Kept' });
      const shown = await client.get<JsonObject>(`/api/webhook/${refusing}`);
      expect(shown.body['start']).toMatchObject({ onConflict: 'fail', conflictScope: 'kept' });
      const first = await deliver(client, refusing, { order: 'A1' });
      expect(first.status, first.text).toBe(202);
      await client.ended(first.body.id);
      const refused = await deliver(client, refusing, { order: 'A1' });
      expect([refused.status, refused.body.code]).toEqual([409, 'reference_in_use']);
      const joining = await hook({ onConflict: 'existing', conflictScope: 'kept' });
      const joined = await deliver(client, joining, { order: 'A1' });
      expect([joined.status, joined.body.id]).toEqual([202, first.body.id]);
      const wrong = await client.call<Problem>('PUT', `/api/webhook/${fresh('hook')}`, {
        body: JSON.stringify({
          scheme: 'github',
          secret: SECRET,
          start: { definitionId, onConflict: 'hook.body["rule"]' },
        }),
        type: 'application/json',
      });
      expect(wrong.status).toBe(400);
      expect(wrong.text).toContain('/start/onConflict');
    });
  },
  { dialects: 'alternating', environment },
);
