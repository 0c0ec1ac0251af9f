/** Bulk jobs: one action on many runs, on the server. */
import { describe, expect, it } from 'vitest';
import type { BulkJobPage } from '../../src/api/wire/models/bulk.js';
import {
  bulkActionsOn,
  bulkDone,
  bulkJob,
  createBulk,
  postBulk,
  previewBulk,
  REASON,
  startWaiting,
  untilBulk,
} from './support/bulk.js';
import { fresh } from './support/client.js';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { everyStore } from './support/every-store.js';
import { compute, step } from './support/steps.js';

everyStore(
  'bulk jobs',
  (at) => {
    const statuses = async (ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await at.client.workflow(id)).status));

    describe('a bulk job', () => {
      it('acts on all runs that match a filter, and on no others', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 30);
        const others = await startWaiting(at.client, 2);
        const created = await postBulk(at.client, { action: 'suspend', filter: { definitionId } });
        const { body, headers, status } = created;
        expect([status, body]).toEqual([202, { id: body.id, matched: 30, exact: true }]);
        expect(headers.get('location')).toBe(`/api/bulk/${body.id}`);
        const job = await bulkDone(at.client, body.id);
        expect(job).toEqual({
          id: body.id,
          action: 'suspend',
          actor: 'anonymous',
          apiKey: null,
          reason: REASON,
          perSecond: 50,
          state: 'Done',
          matched: 30,
          exact: true,
          done: 30,
          skipped: 0,
          failed: 0,
          startTime: job.startTime,
          endTime: job.endTime,
          failures: [],
        });
        expect(Date.parse(job.endTime!)).toBeGreaterThanOrEqual(Date.parse(job.startTime));
        expect(new Set(await statuses(ids))).toEqual(new Set(['Suspended']));
        expect(await statuses(others.ids)).toEqual(['Runnable', 'Runnable']);
        expect(await bulkActionsOn(at.client, ids[7]!)).toEqual([
          `suspend bulk job ${body.id}: ${REASON}`,
        ]);
      });

      it('lists its runs in their current state, in pages, without removed ones', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 5);
        const id = await createBulk(at.client, { action: 'suspend', filter: { definitionId } });
        await bulkDone(at.client, id);
        await at.client.control(ids[0]!, 'resume');
        const read = async (query: string): Promise<WorkflowPage> => {
          const { body, status, text } = await at.client.get<WorkflowPage>(
            `/api/bulk/${id}/runs?${query}`,
          );
          expect(status, text).toBe(200);
          return body;
        };
        const first = await read('limit=3');
        const rest = await read(`limit=3&cursor=${first.nextCursor ?? ''}`);
        expect(first.items).toHaveLength(3);
        expect(rest).toMatchObject({ nextCursor: null });
        const runs = new Map(
          [...first.items, ...rest.items].map(({ status, workflowId }) => [workflowId, status]),
        );
        expect(runs).toEqual(
          new Map(ids.map((one, index) => [one, index === 0 ? 'Runnable' : 'Suspended'])),
        );
        await at.client.terminate(ids[1]!);
        await at.client.call('DELETE', `/api/workflow/${ids[1]!}?purge=true`);
        expect((await read('limit=100')).items).toHaveLength(4);
        expect((await at.client.get('/api/bulk/unknown/runs')).status).toBe(404);
        expect((await at.client.get(`/api/bulk/${id}/runs?cursor=x`)).status).toBe(400);
      });

      it('compensates the finished work of the runs before it terminates them, if requested', async () => {
        const undo = compute('undo', { undone: 'True' });
        const definitionId = await at.client.define({
          Steps: [
            step('do', 'NoOp', {}, { CompensateWith: [undo], NextStepId: 'hold' }),
            step('hold', 'Delay', { Period: '86400' }),
          ],
        });
        const ids = await Promise.all([1, 2, 3].map(() => at.client.start(definitionId)));
        const request = {
          action: 'terminate',
          filter: { definitionId },
          compensate: true,
        } as const;
        const id = await createBulk(at.client, request);
        expect(await bulkDone(at.client, id)).toMatchObject({ done: 3, skipped: 0, failed: 0 });
        for (const run of ids) {
          expect(await at.client.ended(run)).toMatchObject({
            outcome: 'Terminated',
            data: { undone: true },
          });
        }
        const again = await createBulk(at.client, {
          action: 'terminate',
          compensate: true,
          workflowIds: ids,
        });
        expect(await bulkDone(at.client, again)).toMatchObject({ done: 0, skipped: 3 });
      });

      it('acts once on each named run; refused ones are skipped, unknown ones fail', async () => {
        const { ids } = await startWaiting(at.client, 3);
        await at.client.terminate(ids[2]!);
        const workflowIds = [ids[0]!, 'unknown', ids[1]!, ids[0]!, ids[2]!];
        const id = await createBulk(at.client, { action: 'terminate', workflowIds });
        const job = await bulkDone(at.client, id);
        expect(job).toMatchObject({ matched: 4, done: 2, skipped: 1, failed: 1 });
        expect(job.failures).toEqual([
          {
            workflowId: 'unknown',
            problem: {
              type: 'urn:stepwright:problem:workflow_not_found',
              title: 'Run not found',
              status: 404,
              detail: "There is no run with the id 'unknown'",
              code: 'workflow_not_found',
              workflowId: 'unknown',
            },
          },
        ]);
        expect(new Set(await statuses(ids))).toEqual(new Set(['Terminated']));
      });

      it("resumes runs, and skips those that aren't suspended", async () => {
        const { definitionId, ids } = await startWaiting(at.client, 4);
        for (const id of ids.slice(0, 3)) await at.client.control(id, 'suspend');
        const id = await createBulk(at.client, { action: 'resume', filter: { definitionId } });
        expect(await bulkDone(at.client, id)).toMatchObject({ done: 3, skipped: 1, failed: 0 });
        expect(await statuses(ids)).toEqual(ids.map(() => 'Runnable'));
      });

      it('retries steps that wait for their next attempt', async () => {
        const definitionId = await at.client.define([
          step(
            'fail',
            'NoOp',
            {},
            {
              ErrorBehavior: 'Retry',
              RetryInterval: '01:00:00',
              Outputs: { x: 'data["missing"]' },
            },
          ),
        ]);
        const ids = await Promise.all([1, 2].map(() => at.client.start(definitionId)));
        const attempts = (id: string, least: number) =>
          at.client.untilStep(
            id,
            'fail',
            ({ attempt, waitsFor }) => waitsFor?.kind === 'retry' && attempt >= least,
          );
        const before = await Promise.all(ids.map((id) => attempts(id, 1)));
        const id = await createBulk(at.client, { action: 'retry', filter: { definitionId } });
        expect(await bulkDone(at.client, id)).toMatchObject({ done: 2, skipped: 0, failed: 0 });
        for (const [index, run] of ids.entries()) await attempts(run, before[index]!.attempt + 1);
      });

      it('modifies runs, and shows why a modification was impossible', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 3);
        await at.client.terminate(ids[0]!);
        const modification = { data: { carrier: 'B' }, cancel: '*' } as const;
        const filter = { definitionId, status: 'Runnable' } as const;
        const id = await createBulk(at.client, { action: 'modify', filter, modification });
        expect(await bulkDone(at.client, id)).toMatchObject({ matched: 2, done: 2, failed: 0 });
        for (const run of ids.slice(1)) {
          expect(await at.client.ended(run)).toMatchObject({
            status: 'Complete',
            data: { carrier: 'B' },
          });
          expect(await bulkActionsOn(at.client, run)).toEqual([
            expect.stringContaining(`bulk job ${id}: ${REASON}`),
          ]);
        }
        const impossible = { start: [{ stepId: 'unknown' }] };
        const second = await createBulk(at.client, {
          action: 'modify',
          filter: { definitionId },
          modification: impossible,
        });
        const job = await bulkDone(at.client, second);
        expect(job).toMatchObject({ matched: 3, done: 0, failed: 3 });
        expect(job.failures[0]?.problem).toMatchObject({
          status: 409,
          code: 'modification_impossible',
          errors: [{ code: 'unknown_step', pointer: '/start/0/stepId' }],
        });
      });

      it('starts runs again, each once', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 3);
        const request = { action: 'restart', filter: { definitionId } } as const;
        const id = await createBulk(at.client, request);
        expect(await bulkDone(at.client, id)).toMatchObject({ matched: 3, done: 3, failed: 0 });
        const all = await at.client.get<{ items: { restartOf: string | null }[] }>(
          `/api/workflow?definitionId=${definitionId}`,
        );
        const origins = all.body.items.flatMap(({ restartOf }) => restartOf ?? []);
        expect(origins.toSorted()).toEqual(ids.toSorted());
      });

      it('purges runs that have ended, and skips open ones', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 3);
        for (const run of ids.slice(1)) await at.client.terminate(run);
        const request = { action: 'purge', filter: { definitionId } } as const;
        const id = await createBulk(at.client, request);
        expect(await bulkDone(at.client, id)).toMatchObject({ done: 2, skipped: 1, failed: 0 });
        const left = await Promise.all(ids.map((run) => at.client.get(`/api/workflow/${run}`)));
        expect(left.map(({ status }) => status)).toEqual([200, 404, 404]);
      });

      it('selects runs by all filters of the list, including conditions', async () => {
        const definitionId = await at.client.define({
          Index: { customer: 'data.customer' },
          Steps: [step('wait', 'WaitFor', { EventName: '"e"', EventKey: '"k"' })],
        });
        for (const customer of ['C-1', 'C-2', 'D-1']) {
          await at.client.start(definitionId, { customer });
        }
        const where = ['customer^=C-', 'customer!=C-2'];
        const filter = { definitionId, status: 'Runnable', where } as const;
        const id = await createBulk(at.client, { action: 'terminate', filter });
        expect(await bulkDone(at.client, id)).toMatchObject({ matched: 1, done: 1 });
        const left = await previewBulk(at.client, { action: 'terminate', filter });
        expect(left).toEqual({ matched: 0, exact: true, workflows: [], obstacles: [] });
      });

      it('ends at once if no run matches', async () => {
        const filter = { definitionId: fresh('unused') };
        const id = await createBulk(at.client, { action: 'suspend', filter });
        expect(await bulkDone(at.client, id)).toMatchObject({ matched: 0, done: 0 });
      });

      it('acts on no more runs per second than requested', async () => {
        const { definitionId } = await startWaiting(at.client, 11);
        const request = { action: 'suspend', filter: { definitionId }, perSecond: 10 } as const;
        const id = await createBulk(at.client, request);
        const { endTime, startTime } = await bulkDone(at.client, id);
        expect(Date.parse(endTime!) - Date.parse(startTime)).toBeGreaterThanOrEqual(1000);
      });
    });

    describe('a dry run', () => {
      it('shows how many runs match and the first 20, and changes nothing', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 22);
        // From then on, the runs do not change between the two lists.
        for (const id of ids) await at.client.untilWaiting(id, 'wait');
        const request = { action: 'terminate', filter: { definitionId } } as const;
        const preview = await previewBulk(at.client, request);
        expect(preview).toMatchObject({ matched: 22, exact: true });
        const newest = await at.client.get<{ items: unknown[] }>(
          `/api/workflow?definitionId=${definitionId}&limit=20`,
        );
        expect(preview.workflows).toEqual(newest.body.items);
        expect(new Set(await statuses(ids))).toEqual(new Set(['Runnable']));
      });

      it('shows the named runs that exist', async () => {
        const { ids } = await startWaiting(at.client, 2);
        const workflowIds = [ids[1]!, 'unknown', ids[0]!, ids[1]!];
        const preview = await previewBulk(at.client, { action: 'suspend', workflowIds });
        expect(preview.matched).toBe(3);
        expect(preview.workflows.map(({ workflowId }) => workflowId)).toEqual([ids[1], ids[0]]);
        expect(await statuses(ids)).toEqual(['Runnable', 'Runnable']);
      });
    });

    describe('stopping a bulk job', () => {
      it('leaves the other runs alone, and keeps the counts', async () => {
        const { definitionId, ids } = await startWaiting(at.client, 40);
        const request = { action: 'suspend', filter: { definitionId }, perSecond: 5 } as const;
        const id = await createBulk(at.client, request);
        await untilBulk(at.client, id, ({ done }) => done > 0);
        const stopped = await at.client.call('DELETE', `/api/bulk/${id}`);
        expect([stopped.status, stopped.body]).toMatchObject([200, { id, state: 'Stopped' }]);
        const suspended = async () =>
          (await statuses(ids)).filter((status) => status === 'Suspended').length;
        // Actions that were in progress still end, and are counted.
        await expect
          .poll(async () => (await bulkJob(at.client, id)).done - (await suspended()))
          .toBe(0);
        const job = await bulkJob(at.client, id);
        expect(job.endTime).not.toBeNull();
        expect(await suspended()).toBeLessThan(40);
        const again = await at.client.call('DELETE', `/api/bulk/${id}`);
        expect(again.body).toMatchObject({ state: 'Stopped', endTime: job.endTime });
      });

      it("changes nothing if it has ended, and answers 404 if it's unknown", async () => {
        const { definitionId } = await startWaiting(at.client, 1);
        const id = await createBulk(at.client, { action: 'suspend', filter: { definitionId } });
        const job = await bulkDone(at.client, id);
        expect((await at.client.call('DELETE', `/api/bulk/${id}`)).body).toEqual(job);
        for (const method of ['GET', 'DELETE']) {
          const { body, status } = await at.client.call(method, '/api/bulk/unknown');
          expect([status, body]).toMatchObject([404, { code: 'bulk_job_not_found' }]);
        }
      });
    });

    it('lists jobs newest first, in pages', async () => {
      const filter = { definitionId: fresh('unused') };
      const ids: string[] = [];
      for (const action of ['suspend', 'resume', 'retry'] as const) {
        ids.unshift(await createBulk(at.client, { action, filter }));
        await bulkDone(at.client, ids[0]!);
      }
      const page = async (query: string) =>
        (await at.client.get<BulkJobPage>(`/api/bulk?${query}`)).body;
      const first = await page('limit=2');
      expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      const { failures, ...summary } = await bulkJob(at.client, ids[0]!);
      expect([first.items[0], failures]).toEqual([summary, []]);
      const second = await page(`limit=1&cursor=${first.nextCursor ?? ''}`);
      expect(second.items.map(({ id }) => id)).toEqual(ids.slice(2));
    });

    it('continues after a server restart, and acts once on each run', async () => {
      const { definitionId, ids } = await startWaiting(at.client, 30);
      const request = { action: 'suspend', filter: { definitionId }, perSecond: 15 } as const;
      const id = await createBulk(at.client, request);
      await untilBulk(at.client, id, ({ done }) => done > 2);
      await at.restart();
      expect(await bulkDone(at.client, id)).toMatchObject({ done: 30, skipped: 0, failed: 0 });
      const actions = await Promise.all(ids.map((run) => bulkActionsOn(at.client, run)));
      expect(actions.map((each) => each.length)).toEqual(ids.map(() => 1));
    });

    it('returns the same job for the same Idempotency-Key', async () => {
      const { definitionId, ids } = await startWaiting(at.client, 2);
      const key = { 'Idempotency-Key': fresh('key') };
      const request = { action: 'suspend', filter: { definitionId } } as const;
      const first = await postBulk(at.client, request, key);
      await bulkDone(at.client, first.body.id);
      await at.client.control(ids[0]!, 'resume');
      const again = await postBulk(at.client, request, key);
      expect([again.status, again.body]).toEqual([202, first.body]);
      const other = await postBulk(at.client, { ...request, action: 'terminate' }, key);
      expect([other.status, other.body]).toMatchObject([409, { code: 'idempotency_conflict' }]);
      expect(await statuses(ids)).toEqual(['Runnable', 'Suspended']);
    });
  },
  { dialects: 'alternating' },
);
