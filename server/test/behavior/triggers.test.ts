/** Triggers: what clients see of them, and what they do, on every store. */
import { describe, expect, it, vi } from 'vitest';
import type { DefinitionCheck } from '../../src/api/wire/models/definition.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { BackfillTimes, Schedule, Trigger } from '../../src/api/wire/models/trigger.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { readTriggerState, triggerId } from '../../src/runtime/trigger-records/trigger-state.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

const eventually = (check: () => Promise<void> | void): Promise<void> =>
  vi.waitFor(check, { timeout: 40_000, interval: 100 });

const END = step('end', 'NoOp');
const WAIT = step('wait', 'WaitFor', { EventName: '"never"', EventKey: '"1"' });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SECONDLY = '* * * * * *';
const YEARLY = '@yearly';

everyStore(
  'triggers',
  (at) => {
    const define = (trigger: JsonObject, Steps: readonly JsonObject[] = [END]) =>
      at.client.define({ Triggers: [{ Name: 'main', ...trigger }], Steps: [...Steps] });
    const triggerOf = async (id: string): Promise<Trigger> => {
      const { body, status, text } = await at.client.get<Trigger[]>(
        `/api/definition/${id}/triggers`,
      );
      expect(status, text).toBe(200);
      return body[0]!;
    };
    const runsOf = async (id: string) =>
      (await at.client.get<WorkflowPage>(`/api/workflow?definitionId=${id}&limit=500`)).body.items;
    const act = (id: string, action: string) =>
      at.client.call<Trigger & Problem>('PUT', `/api/definition/${id}/triggers/main/${action}`);
    const fire = (id: string) =>
      at.client.call<Omit<Workflow, 'status'> & Problem>(
        'POST',
        `/api/definition/${id}/triggers/main/fire`,
      );
    const backfill = (id: string, from: string, to: string) =>
      at.client.post<BackfillTimes & Problem>(`/api/definition/${id}/triggers/main/backfill`, {
        from,
        to,
      });

    describe('a cron trigger', () => {
      it('starts one run at each due second, at most a second late', async () => {
        const id = await define({ Cron: SECONDLY });
        await eventually(async () => expect((await runsOf(id)).length).toBeGreaterThanOrEqual(3));
        await act(id, 'pause');
        const runs = await runsOf(id);
        const planned = runs.map(({ trigger }) => trigger!.time);
        expect(new Set(planned).size).toBe(planned.length);
        for (const { startTime, trigger } of runs) {
          expect(trigger!.name).toBe('main');
          const lateMs = Date.parse(startTime) - Date.parse(trigger!.time);
          expect(lateMs).toBeGreaterThanOrEqual(0);
        }
        const { last } = await triggerOf(id);
        expect(last).toEqual({
          time: planned[0],
          workflowId: runs[0]!.workflowId,
          outcome: 'Started',
          reason: null,
        });
      });

      it('shows its settings and its next times', async () => {
        const id = await define({ Cron: '0 12 1 1 *', TimeZone: 'Asia/Tokyo' });
        const trigger = await triggerOf(id);
        expect(trigger).toEqual({
          name: 'main',
          kind: 'cron',
          cron: '0 12 1 1 *',
          timeZone: 'Asia/Tokyo',
          eventName: null,
          eventKey: null,
          paused: false,
          nextTimes: trigger.nextTimes,
          last: null,
        });
        expect(trigger.nextTimes).toHaveLength(5);
        expect(trigger.nextTimes[0]).toMatch(/^\d{4}-01-01T03:00:00.000Z$/);
      });

      it('shows that data was rejected, and still fires the next time', async () => {
        const Input = { type: 'object', required: ['order'] };
        const id = await at.client.define({
          Input,
          Triggers: [{ Name: 'main', Cron: SECONDLY }],
          Steps: [END],
        });
        const times = new Set<string>();
        await eventually(async () => {
          const { last } = await triggerOf(id);
          expect(last).toMatchObject({ outcome: 'Failed', workflowId: null });
          times.add(last!.time);
          expect(times.size).toBeGreaterThan(1);
        });
        await act(id, 'pause');
        expect(await runsOf(id)).toEqual([]);
      });

      it("starts nothing while it's paused, and makes up for nothing", async () => {
        const id = await define({ Cron: SECONDLY, CatchUp: '1h' });
        expect((await act(id, 'pause')).body).toMatchObject({ name: 'main', paused: true });
        const before = (await runsOf(id)).length;
        const pausedAt = Date.now();
        await eventually(() => expect(Date.now() - pausedAt).toBeGreaterThan(2500));
        expect(await runsOf(id)).toHaveLength(before);
        expect((await act(id, 'resume')).body.paused).toBe(false);
        await eventually(async () => expect((await runsOf(id)).length).toBeGreaterThan(before));
        await act(id, 'pause');
        const resumed = (await runsOf(id)).slice(0, -before || undefined);
        for (const { trigger } of resumed) {
          expect(Date.parse(trigger!.time)).toBeGreaterThan(pausedAt + 2000);
        }
      });

      it('continues after a server restart', async () => {
        const id = await define({ Cron: SECONDLY });
        await eventually(async () => expect(await runsOf(id)).not.toEqual([]));
        await at.restart();
        const before = (await runsOf(id)).length;
        await eventually(async () => expect((await runsOf(id)).length).toBeGreaterThan(before));
        await act(id, 'pause');
        const times = (await runsOf(id)).map(({ trigger }) => trigger!.time);
        expect(new Set(times).size).toBe(times.length);
      });

      it('makes up for an outage of an hour as far as CatchUp reaches, each time once', async () => {
        const id = await define({ Cron: '* * * * *', Overlap: 'Allow', CatchUp: '30m' });
        // As if the server had stopped an hour ago.
        await at.restart(async (store) => {
          const record = (await store.getTrigger(triggerId(id, 'main')))!;
          const state = readTriggerState(record);
          const cursor = state.cursor - HOUR_MS;
          const changes = { body: JSON.stringify({ ...state, cursor }), dueAt: cursor };
          await store.saveTrigger({ ...record, ...changes, revision: 99 }, record.revision);
        });
        await eventually(async () => {
          const { last } = await triggerOf(id);
          expect(Date.now() - Date.parse(last!.time)).toBeLessThan(MINUTE_MS);
        });
        await act(id, 'pause');
        const times = (await runsOf(id)).map(({ trigger }) => Date.parse(trigger!.time)).sort();
        const gaps = times.slice(1).map((time, index) => time - times[index]!);
        expect(new Set(gaps)).toEqual(new Set([MINUTE_MS]));
        expect(times.length).toBeGreaterThanOrEqual(30);
        // One more if a minute begins while the test runs.
        expect(times.length).toBeLessThanOrEqual(32);
      });
    });

    describe('fire', () => {
      it('starts a run now, also while the trigger is paused and another run is open', async () => {
        const id = await define({ Cron: YEARLY, Data: { '@by': 'context.Trigger.Name' } }, [WAIT]);
        await act(id, 'pause');
        for (const count of [1, 2]) {
          const { body, headers, status, text } = await fire(id);
          expect(status, text).toBe(201);
          expect(headers.get('location')).toBe(`/api/workflow/${body.workflowId}`);
          expect(body).toMatchObject({ data: { by: 'main' }, trigger: { name: 'main' } });
          expect(await runsOf(id)).toHaveLength(count);
        }
      });

      it('is refused for a disabled definition, failing data and unknown names', async () => {
        const id = await define({ Cron: YEARLY, Data: { '@n': 'context.nothing' } });
        expect(await fire(id)).toMatchObject({ status: 400, body: { code: 'invalid_data' } });
        await at.client.call('PUT', `/api/definition/${id}/disable`);
        const valid = await define({ Cron: YEARLY });
        await at.client.call('PUT', `/api/definition/${valid}/disable`);
        expect(await fire(valid)).toMatchObject({
          status: 409,
          body: { code: 'definition_disabled' },
        });
        expect(await fire(fresh('unknown'))).toMatchObject({
          status: 404,
          body: { code: 'definition_not_found' },
        });
        const plain = await at.client.define([END]);
        expect(await act(plain, 'pause')).toMatchObject({
          status: 404,
          body: { code: 'trigger_not_found' },
        });
      });
    });

    describe('backfill', () => {
      it('starts the runs of a period, without its end, each once', async () => {
        const id = await define({ Cron: '@hourly', Overlap: 'Allow' });
        await act(id, 'pause');
        const answer = await backfill(id, '2026-01-01T00:00:00Z', '2026-01-01T03:00:00Z');
        expect([answer.status, answer.body]).toEqual([
          202,
          {
            times: ['00', '01', '02'].map((hour) => `2026-01-01T${hour}:00:00.000Z`),
          },
        ]);
        await backfill(id, '2026-01-01T02:00:00Z', '2026-01-01T04:00:00Z');
        await eventually(async () => expect(await runsOf(id)).toHaveLength(4));
        const times = (await runsOf(id)).map(({ trigger }) => trigger!.time.slice(11, 13));
        expect(times.toSorted()).toEqual(['00', '01', '02', '03']);
      });

      it('starts one run after the other with Overlap Queue', async () => {
        const id = await define({ Cron: '@hourly', Overlap: 'Queue' }, [WAIT]);
        await backfill(id, '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z');
        await eventually(async () => expect(await runsOf(id)).toHaveLength(1));
        const [first] = await runsOf(id);
        expect(first!.trigger!.time).toBe('2026-01-01T00:00:00.000Z');
        await at.client.call('DELETE', `/api/workflow/${first!.workflowId}`);
        await eventually(async () => expect(await runsOf(id)).toHaveLength(2));
      });

      it('lets 100 periods wait, however many come at once, and refuses more', async () => {
        const id = await define({ Cron: '@hourly', Overlap: 'Queue' }, [WAIT]);
        await backfill(id, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z');
        await eventually(async () => expect(await runsOf(id)).toHaveLength(1));
        const hour = (n: number): string => new Date(Date.UTC(2026, 0, 2, n)).toISOString();
        const answers = await Promise.all(
          Array.from({ length: 102 }, (_, n) => backfill(id, hour(n), hour(n + 1))),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((status) => status === 202)).toHaveLength(100);
        expect(statuses.filter((status) => status === 429)).toHaveLength(2);
      });

      it('leaves out future times, and is refused for a period of them', async () => {
        const id = await define({ Cron: '@hourly', Overlap: 'Allow' });
        await act(id, 'pause');
        const now = Date.now();
        const at = (ms: number): string => new Date(now + ms).toISOString();
        const { body, status } = await backfill(id, at(-2 * HOUR_MS), at(5 * HOUR_MS));
        expect(status).toBe(202);
        for (const time of body.times) expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
        await eventually(async () => expect(await runsOf(id)).toHaveLength(body.times.length));
        const later = await backfill(id, at(HOUR_MS), at(5 * HOUR_MS));
        expect([later.status, later.body.detail]).toEqual([
          400,
          expect.stringContaining(`'from' is in the future: ${at(HOUR_MS)}`),
        ]);
      });

      it('is refused for too many times, and for events', async () => {
        const id = await define({ Cron: '* * * * *' });
        expect(await backfill(id, '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toMatchObject({
          status: 400,
        });
        expect(await backfill(id, '2026-01-02T00:00Z', '2026-01-01T00:00Z')).toMatchObject({
          status: 400,
        });
        const onEvent = await define({ Event: { Name: fresh('event') } });
        expect(await backfill(onEvent, '2026-01-01', '2026-01-02')).toMatchObject({ status: 400 });
      });
    });

    describe('an event trigger', () => {
      it('starts one run for each event with its name, of any key', async () => {
        const name = fresh('paid');
        const id = await define({ Event: { Name: name } });
        const publish = (key: string, data: JsonObject) =>
          at.client.post(`/api/event/${name}/${key}`, data, {
            'Idempotency-Key': `${name}-${key}`,
          });
        for (const key of ['a', 'b', 'a']) await publish(key, { key });
        await at.client.post(`/api/event/${name}-other/a`, {});
        await eventually(async () => expect(await runsOf(id)).toHaveLength(2));
        const runs = await Promise.all(
          (await runsOf(id)).map(({ workflowId }) => at.client.workflow(workflowId)),
        );
        expect(runs.map(({ data }) => data['key']).toSorted()).toEqual(['a', 'b']);
        expect(await triggerOf(id)).toMatchObject({
          kind: 'event',
          eventName: name,
          eventKey: null,
          nextTimes: [],
          last: { outcome: 'Started' },
        });
      });

      it("starts nothing for events before it, or while it's paused or disabled", async () => {
        const name = fresh('paid');
        const publish = () => at.client.post(`/api/event/${name}/a`, {});
        await publish();
        const id = await define({ Event: { Name: name } });
        await act(id, 'pause');
        await publish();
        await act(id, 'resume');
        await at.client.call('PUT', `/api/definition/${id}/disable`);
        await publish();
        await at.client.call('PUT', `/api/definition/${id}/enable`);
        expect(await runsOf(id)).toEqual([]);
        await publish();
        await eventually(async () => expect(await runsOf(id)).toHaveLength(1));
      });
    });

    describe('the schedule', () => {
      const schedule = async (query = ''): Promise<Schedule> =>
        (await at.client.get<Schedule>(`/api/schedule${query}`)).body;
      const scheduled = async (id: string, query = '?limit=500') =>
        (await schedule(query)).items.find(({ definitionId }) => definitionId === id);

      it('lists the triggers that fire in the period, without paused ones and disabled definitions', async () => {
        const id = await define({ Cron: '30 1 * * *', TimeZone: 'Asia/Tokyo' });
        const often = await define({ Cron: '*/7 * * * *' });
        const { nextTimes } = await triggerOf(id);
        expect(await scheduled(id)).toEqual({
          definitionId: id,
          name: 'main',
          cron: '30 1 * * *',
          timeZone: 'Asia/Tokyo',
          times: nextTimes.slice(0, 1),
          more: false,
        });
        expect((await scheduled(id, '?hours=72&limit=500'))?.times).toEqual(nextTimes.slice(0, 3));
        const frequent = await scheduled(often);
        expect(frequent?.more).toBe(true);
        expect(frequent?.times).toHaveLength(24);
        await act(id, 'pause');
        expect(await scheduled(id)).toBeUndefined();
        await at.client.call('PUT', `/api/definition/${often}/disable`);
        expect(await scheduled(often)).toBeUndefined();
        await act(id, 'resume');
        expect(await scheduled(id)).toBeDefined();
        await act(id, 'pause');
      });

      it('contains neither triggers that fire later nor event triggers', async () => {
        const day = new Date(Date.now() + 3 * 86_400_000).getUTCDate();
        const later = await define({ Cron: `0 0 ${day} * *` });
        const event = await define({ Event: { Name: fresh('paid') } });
        expect(await scheduled(later)).toBeUndefined();
        expect(await scheduled(later, '?hours=96&limit=500')).toBeDefined();
        expect(await scheduled(event)).toBeUndefined();
      });

      it('lists the triggers that fire first, and reports that there are more', async () => {
        const ids = [await define({ Cron: '@hourly' }), await define({ Cron: '@hourly' })];
        const { from, items, more, to } = await schedule('?limit=1');
        expect(Date.parse(to) - Date.parse(from)).toBe(24 * 3_600_000);
        expect(items.length).toBeLessThanOrEqual(1);
        expect(more).toBe(true);
        const all = (await schedule('?limit=500')).items;
        const first = all.map(({ times }) => Date.parse(times[0]!));
        expect(first).toEqual(first.toSorted((a, b) => a - b));
        expect(all.map(({ definitionId }) => definitionId)).toEqual(expect.arrayContaining(ids));
      });

      it.each(['hours=0', 'hours=169', 'hours=x', 'limit=0', 'limit=501', 'days=1'])(
        'rejects %s',
        async (query) => {
          const { body, status } = await at.client.get<Problem>(`/api/schedule?${query}`);
          expect(status).toBe(400);
          expect(body.code).toBe('invalid_request');
          expect(JSON.stringify(body)).toContain(query.split('=')[0]);
        },
      );
    });

    describe('a definition with triggers', () => {
      it('is checked with the next times of each', async () => {
        const { body } = await at.client.post<DefinitionCheck>('/api/definition/validate', {
          Id: 'checked',
          Triggers: [
            { Name: 'nightly', Cron: '0 2 * * *', TimeZone: 'Europe/Zurich' },
            { Name: 'paid', Event: { Name: 'paid' } },
          ],
          Steps: [END],
        });
        expect(body.errors).toEqual([]);
        expect(body.triggers).toMatchObject([{ name: 'nightly' }, { name: 'paid', nextTimes: [] }]);
        expect(body.triggers[0]!.nextTimes).toHaveLength(5);
      });
    });
  },
  { dialects: 'alternating' },
);
