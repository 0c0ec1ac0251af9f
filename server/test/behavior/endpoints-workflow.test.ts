/** The calls for runs. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const hang = step('hang', 'Delay', { Period: 3600 });

everyStore(
  'the workflow endpoints',
  (at) => {
    describe('start', () => {
      it('answers 201 and Runnable, with the location of the run', async () => {
        const { client } = at;
        const id = await client.define([compute('a', { b: '1' })]);
        const before = Date.now();
        const answer = await client.post<Workflow>(`/api/workflow/${id}?reference=my%20ref`, {
          a: 1,
        });
        expect(answer.status).toBe(201);
        const { startTime, workflowId } = answer.body;
        expect(answer.body).toEqual({
          workflowId,
          definitionId: id,
          version: 1,
          reference: 'my ref',
          tags: {},
          priority: 3,
          fairnessKey: null,
          fairnessWeight: null,
          queued: false,
          debounce: null,
          index: {},
          status: 'Runnable',
          outcome: null,
          startTime,
          endTime: null,
          lastChangeTime: startTime,
          failureTime: null,
          failingSince: null,
          failure: null,
          data: { a: 1 },
          lastError: null,
          parent: null,
          restartOf: null,
          restartedAs: null,
          trigger: null,
        });
        expect(answer.headers.get('location')).toBe(`/api/workflow/${workflowId}`);
        expect(Date.parse(startTime)).toBeGreaterThanOrEqual(before);
        expect((await client.get(answer.headers.get('location')!)).status).toBe(200);
        const ended = await client.ended(workflowId);
        expect(ended).toMatchObject({
          status: 'Complete',
          reference: 'my ref',
          startTime,
          data: { a: 1, b: 1 },
        });
        expect(Date.parse(ended.endTime!)).toBeGreaterThanOrEqual(Date.parse(startTime));
      });

      it('accepts a missing or an empty body as {}', async () => {
        const { client } = at;
        const path = `/api/workflow/${await client.define([mark('a')])}`;
        for (const options of [
          {},
          { body: '', type: 'application/json' },
          { body: ' ', type: client.dialect.mediaType },
          { body: '{}', type: 'application/json' },
        ]) {
          const answer = await client.call<Workflow>('POST', path, options);
          expect([answer.status, answer.body.data], JSON.stringify(options)).toEqual([201, {}]);
        }
      });

      it.each([[[1]], ['text'], [5], [null], [true]])(
        'rejects %j as data with 400',
        async (value) => {
          const { client } = at;
          const answer = await client.post<Problem>(
            `/api/workflow/${await client.define([mark('a')])}`,
            value,
          );
          expect(answer.status, answer.text).toBe(400);
        },
      );

      it('answers 404 for an unknown definition', async () => {
        const answer = await at.client.post<Problem>(`/api/workflow/${fresh('none')}`, {});
        expect([answer.status, answer.body.code]).toEqual([404, 'definition_not_found']);
      });
    });

    describe('GET', () => {
      it('answers 404 for an unknown run on every endpoint', async () => {
        const { client } = at;
        for (const [method, path] of [
          ['GET', '/api/workflow/none'],
          ['GET', '/api/workflow/none?wait=1'],
          ['GET', '/api/workflow/none/steps'],
          ['PUT', '/api/workflow/none/suspend'],
          ['PUT', '/api/workflow/none/resume'],
          ['DELETE', '/api/workflow/none'],
        ] as const) {
          const { body, status } = await client.call<Problem>(method, path);
          expect([status, body.code], method + path).toEqual([404, 'workflow_not_found']);
        }
      });

      it('waits for the end of the run', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([
          step('a', 'Activity', { ActivityName: `"${name}"` }),
        ]);
        const waiting = client.get<Workflow>(`/api/workflow/${id}?wait=20`);
        await client.succeed((await client.work(name)).token, 1);
        const succeededAt = Date.now();
        expect((await waiting).body.status).toBe('Complete');
        expect(Date.now() - succeededAt).toBeLessThan(10_000);
      });

      it('answers when the time of its wait is up', async () => {
        const { client } = at;
        const id = await client.defineAndStart([hang]);
        const startedAt = Date.now();
        expect((await client.get<Workflow>(`/api/workflow/${id}?wait=1`)).body.status).toBe(
          'Runnable',
        );
        expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
        await client.terminate(id);
      });

      it('answers a wait when the run is terminated', async () => {
        const { client } = at;
        const id = await client.defineAndStart([hang]);
        const waiting = client.get<Workflow>(`/api/workflow/${id}?wait=20`);
        await client.terminate(id);
        expect((await waiting).body.status).toBe('Terminated');
      });
    });

    describe('suspend, resume, terminate', () => {
      it('stops and continues a run', async () => {
        const { client } = at;
        const id = await client.defineAndStart(
          chain(step('wait', 'Delay', { Period: 0.3 }), mark('after')),
        );
        const suspended = await client.control(id, 'suspend');
        expect([suspended.status, suspended.body.status]).toEqual([200, 'Suspended']);
        expect(suspended.body.endTime).toBeNull();
        const again = await client.control(id, 'suspend');
        expect([again.status, (again.body as unknown as Problem).code]).toEqual([
          400,
          'status_conflict',
        ]);
        // Nothing happens at the time when the Delay would have fired.
        expect((await client.get<Workflow>(`/api/workflow/${id}?wait=1`)).body).toMatchObject({
          status: 'Suspended',
          data: {},
        });
        const resumed = await client.control(id, 'resume');
        expect([resumed.status, resumed.body.status]).toEqual([200, 'Runnable']);
        expect(await client.ended(id)).toMatchObject({
          status: 'Complete',
          data: { trail: ['after'] },
        });
      });

      it("answers 400 to resume if the run isn't suspended", async () => {
        const { client } = at;
        const id = await client.defineAndStart([hang]);
        const answer = await client.control(id, 'resume');
        expect([answer.status, (answer.body as unknown as Problem).code]).toEqual([
          400,
          'status_conflict',
        ]);
        await client.terminate(id);
      });

      it("answers terminate with an end time, and doesn't change an ended run", async () => {
        const { client } = at;
        const id = await client.defineAndStart([hang]);
        const { body, status } = await client.terminate(id);
        expect([status, body.status]).toEqual([200, 'Terminated']);
        expect(Date.parse(body.endTime!)).toBeGreaterThanOrEqual(Date.parse(body.startTime));
        expect((await client.terminate(id)).body).toMatchObject({
          status: 'Terminated',
          endTime: body.endTime,
        });
        expect(await client.workflow(id)).toMatchObject({
          status: 'Terminated',
          endTime: body.endTime,
        });
        const complete = await client.run([mark('a')]);
        const answer = await client.terminate(complete.workflowId);
        expect([answer.status, answer.body]).toEqual([200, complete]);
        for (const action of ['suspend', 'resume'] as const) {
          expect((await client.control(id, action)).status).toBe(400);
          expect((await client.control(complete.workflowId, action)).status).toBe(400);
        }
      });

      it('terminates a suspended run', async () => {
        const { client } = at;
        const id = await client.defineAndStart([hang]);
        await client.control(id, 'suspend');
        expect((await client.terminate(id)).body.status).toBe('Terminated');
      });

      it('accepts both while a step is running, and applies its result after the resume', async () => {
        const { client } = at;
        const slow = await client.script(
          'import time\nend = time.monotonic() + 0.4\nwhile time.monotonic() < end: pass\nv = 1',
        );
        const id = await client.defineAndStart(
          chain(step('slow', slow, {}, { Outputs: { v: 'step.v' } }), mark('after')),
        );
        await client.untilStep(id, 'slow', ({ status }) => status === 'Running');
        expect((await client.control(id, 'suspend')).body.status).toBe('Suspended');
        expect((await client.control(id, 'resume')).body.status).toBe('Runnable');
        expect((await client.ended(id)).data).toEqual({ v: 1, trail: ['after'] });
        const other = await client.defineAndStart([
          step('slow', slow, {}, { Outputs: { v: 'step.v' } }),
        ]);
        await client.untilStep(other, 'slow', ({ status }) => status === 'Running');
        expect((await client.terminate(other)).body.status).toBe('Terminated');
        expect((await client.workflow(other)).data).toEqual({});
      });
    });

    describe('the run list', () => {
      const list = (query: string) => at.client.get<WorkflowPage>(`/api/workflow?${query}`);

      it('is sorted newest first, filtered and paged', async () => {
        const { client } = at;
        const quick = await client.define([mark('a')]);
        const waits = await client.define([hang]);
        const reference = fresh('ref');
        const ids: string[] = [];
        for (let n = 0; n < 5; n += 1)
          ids.push(await client.start(n % 2 === 0 ? quick : waits, { n }, reference));
        for (const id of [ids[0]!, ids[2]!, ids[4]!]) await client.ended(id);
        await client.control(ids[1]!, 'suspend');
        const idsOf = async (query: string) =>
          (await list(query)).body.items.map(({ workflowId }) => workflowId);
        const newestFirst = [...ids].reverse();

        expect(await idsOf(`reference=${reference}`)).toEqual(newestFirst);
        expect(await idsOf(`definitionId=${quick}`)).toEqual([ids[4], ids[2], ids[0]]);
        expect(await idsOf(`definitionId=${waits}&status=Suspended`)).toEqual([ids[1]]);
        expect(await idsOf(`reference=${reference}&status=Complete`)).toEqual([
          ids[4],
          ids[2],
          ids[0],
        ]);
        expect(await idsOf(`reference=${reference}&status=Runnable`)).toEqual([ids[3]]);
        expect(await idsOf(`reference=${reference}&version=1`)).toEqual(newestFirst);
        expect(await idsOf(`reference=${reference}&version=2`)).toEqual([]);
        expect(await idsOf(`reference=${reference}&startedFrom=2999-01-01T00:00:00Z`)).toEqual([]);
        expect(
          await idsOf(
            `reference=${reference}&startedFrom=2020-01-01T00:00:00Z&startedTo=2999-01-01`,
          ),
        ).toEqual(newestFirst);
        const { startTime } = await client.workflow(ids[2]!);
        const since = await idsOf(`reference=${reference}&startedFrom=${startTime}`);
        expect(since).toEqual(expect.arrayContaining([ids[4], ids[3], ids[2]]));

        const seen: string[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const { body }: { body: WorkflowPage } = await list(
            `reference=${reference}&limit=2&cursor=${cursor}`,
          );
          expect(body.items.length).toBeLessThanOrEqual(2);
          seen.push(...body.items.map(({ workflowId }) => workflowId));
          cursor = body.nextCursor;
        }
        expect(seen).toEqual(newestFirst);
        const [item] = (await list(`reference=${reference}`)).body.items;
        expect(Object.keys(item!).sort()).toEqual([
          'definitionId',
          'endTime',
          'failingSince',
          'failure',
          'failureTime',
          'fairnessKey',
          'fairnessWeight',
          'index',
          'lastChangeTime',
          'outcome',
          'parent',
          'priority',
          'queued',
          'reference',
          'restartOf',
          'restartedAs',
          'startTime',
          'status',
          'tags',
          'trigger',
          'version',
          'workflowId',
        ]);
      });

      it('skips and repeats no run when others start between two pages', async () => {
        const { client } = at;
        const reference = fresh('ref');
        const definition = await client.define([mark('a')]);
        const ids: string[] = [];
        for (let n = 0; n < 4; n += 1) ids.push(await client.start(definition, {}, reference));
        const first = (await list(`reference=${reference}&limit=2`)).body;
        await client.start(definition, {}, reference);
        const second = (await list(`reference=${reference}&limit=2&cursor=${first.nextCursor!}`))
          .body;
        expect([...first.items, ...second.items].map(({ workflowId }) => workflowId)).toEqual(
          [...ids].reverse(),
        );
      });

      it.each([
        'status=Broken',
        'status=complete%20',
        'version=x',
        'version=0',
        'startedFrom=soon',
        'startedTo=2020-13-01',
        'limit=0',
        'limit=501',
        'limit=x',
        'cursor=nonsense',
      ])('rejects the invalid filter %s with 400', async (query) => {
        const answer = await at.client.get<Problem>(`/api/workflow?${query}`);
        expect(answer.status, answer.text).toBe(400);
        expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
      });
    });
  },
  { dialects: 'alternating' },
);
