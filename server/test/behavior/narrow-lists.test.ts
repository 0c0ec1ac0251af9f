/** What narrowed scopes leave in counts, groups, streams, bulk jobs and events; and keys that have such scopes. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ControlAnswer } from '../../src/api/wire/models/control.js';
import type { BulkJobPage } from '../../src/api/wire/models/bulk.js';
import type { DefinitionPage } from '../../src/api/wire/models/definition.js';
import type { EventPage } from '../../src/api/wire/models/event.js';
import type { FailureGroups } from '../../src/api/wire/models/failure.js';
import type { CreatedApiKey } from '../../src/api/wire/models/key.js';
import type { Overview } from '../../src/api/wire/models/overview.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { WorkflowCount } from '../../src/api/wire/models/workflow-filter.js';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { seeded } from '../support/seeded.js';
import { bulkDone, postBulk, previewBulk } from './support/bulk.js';
import { fresh, type Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { LiveChanges } from './support/live-changes.js';
import { step } from './support/steps.js';
import { clientWith, TokenClient, TOKEN_ENVIRONMENT, tokenWith } from './support/token-client.js';

const CALLS = 40;

everyStore(
  'narrow lists',
  (at) => {
    let admin: Client;
    /** A prefix that no other test uses. */
    let prefix: string;

    beforeAll(async () => {
      admin = await clientWith(at.client.url, 'conductor:admin');
    });

    const as = (...scopes: readonly string[]) =>
      clientWith(at.client.url, scopes.map((scope) => `conductor:${scope}`).join(' '));
    const define = async (id: string, ...Steps: readonly ReturnType<typeof step>[]) => {
      const answer = await admin.postDefinition({ Id: id, Steps: [...Steps] });
      expect(answer.status, answer.text).toBe(201);
      return id;
    };
    const waitFor = (event: string) =>
      step('wait', 'WaitFor', { EventName: event, EventKey: '"key"' });
    const startWaiting = async (definitionId: string, data = {}): Promise<string> => {
      const run = await admin.start(definitionId, data);
      await admin.untilWaiting(run, 'wait');
      return run;
    };
    const statusOf = async (run: string) => (await admin.workflow(run)).status;
    /** Definitions `<team>-in` and `<team>-out` with a run each. */
    const twoTeams = async (event = '"e"') => {
      prefix = fresh('team');
      const inside = await define(`${prefix}-in-a`, waitFor(event));
      const outside = await define(`${prefix}-out-a`, waitFor(event));
      return {
        inside,
        outside,
        insideRun: await startWaiting(inside),
        outsideRun: await startWaiting(outside),
      };
    };

    it('counts only runs inside', async () => {
      const { outside } = await twoTeams();
      const viewer = await as(`viewer:${prefix}-in*`);
      const count = async (query = '') =>
        (await viewer.get<WorkflowCount>(`/api/workflow/count${query}`)).body;
      expect(await count()).toEqual({ count: 1, exact: true });
      expect(await count('?status=Runnable')).toEqual({ count: 1, exact: true });
      expect(await count(`?definitionId=${outside}`)).toEqual({ count: 0, exact: true });
    });

    it('groups only failures inside', async () => {
      prefix = fresh('team');
      for (const side of ['in', 'out']) {
        const fails = step(
          'f',
          'Fail',
          { Message: `"${prefix}-${side}"` },
          { ErrorBehavior: 'Suspend' },
        );
        const run = await admin.start(await define(`${prefix}-${side}`, fails));
        await admin.untilWorkflow(run, ({ status }) => status === 'Suspended');
      }
      const viewer = await as(`viewer:${prefix}-in*`);
      const { body } = await viewer.get<FailureGroups>('/api/workflow/failures');
      expect(body.items.map(({ definitionId }) => definitionId)).toEqual([`${prefix}-in`]);
      const other = await viewer.get<FailureGroups>(
        `/api/workflow/failures?definitionId=${prefix}-out`,
      );
      expect(other.body.items).toEqual([]);
    });

    it("shows an overview of runs inside, without the server's totals", async () => {
      const { inside } = await twoTeams();
      const viewer = await as(`viewer:${prefix}-in*`);
      const { body } = await viewer.get<Overview>('/api/overview');
      expect(body.definitions.map(({ definitionId }) => definitionId)).toEqual([inside]);
      expect(body).toMatchObject({ runs: null, lastHour: [], lastDay: [], queues: [] });
    });

    it('shows an overview of runs inside behind a hundred definitions of others', async () => {
      await Promise.all(
        Array.from({ length: 110 }, (_, at) => define(`${prefix}-a${at}`, waitFor('"e"'))),
      );
      const { inside } = await twoTeams();
      const viewer = await as(`viewer:${prefix}-in*`);
      const overview = async () => (await viewer.get<Overview>('/api/overview')).body;
      // The server keeps what it has counted for a few seconds.
      await expect
        .poll(async () => (await overview()).definitions)
        .toMatchObject([{ definitionId: inside, runnable: 1 }]);
      expect(await overview()).toMatchObject({ definitionsExact: true, runs: null });
    });

    it("explains the wait for a child outside without the child's state", async () => {
      const { outside } = await twoTeams();
      const child = step('sub', 'SubWorkflow', { DefinitionId: `"${outside}"` });
      const parent = await admin.start(await define(`${prefix}-in-parent`, child));
      await admin.untilWaiting(parent, 'sub');
      const paths = [`/api/workflow/${parent}/explain`, `/api/workflow/explain?id=${parent}`];
      const texts = async (caller: Client) =>
        (await Promise.all(paths.map((path) => caller.get(path)))).map(({ text }) => text);
      await expect
        .poll(async () => (await texts(admin)).filter((text) => text.includes('waiting for event')))
        .toHaveLength(2);
      for (const text of await texts(await as(`viewer:${prefix}-in*`))) {
        expect(text).toContain('has been waiting for run');
        expect(text).not.toContain('it is ');
        expect(text).not.toContain('event');
      }
    });

    it('streams only changes inside', async () => {
      const { inside, outside, outsideRun } = await twoTeams();
      const token = await tokenWith(`conductor:viewer:${prefix}-in*`);
      const changes = await LiveChanges.open(at.client.url, '', token);
      const seen: string[] = [];
      try {
        await admin.control(outsideRun, 'suspend');
        await startWaiting(outside);
        await define(`${prefix}-out-b`, waitFor('"e"'));
        await define(`${prefix}-in-b`, waitFor('"e"'));
        const run = await startWaiting(inside);
        await changes.until(({ data }) => {
          seen.push(JSON.stringify(data));
          return data['workflowId'] === run;
        });
      } finally {
        changes.close();
      }
      expect(seen.join('\n')).toContain(`${prefix}-in-b`);
      expect(seen.join('\n')).not.toContain(`${prefix}-out`);
    });

    describe('PATCH /api/workflow', () => {
      it('acts only inside, and responds for runs outside as for unknown ones', async () => {
        const { insideRun, outsideRun } = await twoTeams();
        const controller = await as(`controller:${prefix}-in*`);
        const unknown = '01hx5v3x9t6k2m4n8p0q';
        const body = { action: 'suspend', workflowIds: [outsideRun, insideRun, unknown] };
        const answer = await controller.call<ControlAnswer>('PATCH', '/api/workflow', {
          body: JSON.stringify(body),
          type: 'application/json',
        });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.body.results).toEqual([
          { workflowId: outsideRun, outcome: 'missing', status: null },
          { workflowId: insideRun, outcome: 'done', status: 'Suspended' },
          { workflowId: unknown, outcome: 'missing', status: null },
        ]);
        expect(await statusOf(outsideRun)).toBe('Runnable');
      });
    });

    describe('a bulk job', () => {
      it('acts only on runs inside, whatever its filter is', async () => {
        const { insideRun, outside, outsideRun } = await twoTeams();
        const caller = await as(`controller:${prefix}-in*`, `viewer:${prefix}-in*`);
        const everything = { action: 'suspend', filter: {} } as const;
        const preview = await previewBulk(caller, everything);
        expect(preview.workflows.map(({ workflowId }) => workflowId)).toEqual([insideRun]);
        const others = await previewBulk(caller, {
          action: 'suspend',
          filter: { definitionId: outside },
        });
        expect(others).toMatchObject({ matched: 0, workflows: [] });
        const { body } = await postBulk(caller, everything);
        expect(await bulkDone(caller, body.id)).toMatchObject({ matched: 1, done: 1 });
        expect(await statusOf(insideRun)).toBe('Suspended');
        expect(await statusOf(outsideRun)).toBe('Runnable');
      });

      it('treats named runs outside as missing', async () => {
        const { insideRun, outsideRun } = await twoTeams();
        const caller = await as(`controller:${prefix}-in*`, `viewer:${prefix}-in*`);
        const end = async (second: string) => {
          const { body } = await postBulk(caller, {
            action: 'suspend',
            workflowIds: [insideRun, second],
          });
          const { done, failed, failures, skipped } = await bulkDone(caller, body.id);
          return { done, failed, skipped, texts: failures.map(({ problem }) => problem.detail) };
        };
        const ofUnknown = await end('01hx5v3x9t6k2m4n8p0q');
        await admin.control(insideRun, 'resume');
        const ofOutside = await end(outsideRun);
        const text = JSON.stringify(ofOutside).replaceAll(outsideRun, '01hx5v3x9t6k2m4n8p0q');
        expect(JSON.parse(text)).toEqual(ofUnknown);
        expect(await statusOf(outsideRun)).toBe('Runnable');
      });

      it('is shown to callers who reach everything that it may act on', async () => {
        const { insideRun } = await twoTeams();
        const own = await as(`controller:${prefix}-in-a*`);
        const { body } = await postBulk(own, { action: 'suspend', workflowIds: [insideRun] });
        const ids = async (caller: Client) =>
          (await caller.get<BulkJobPage>('/api/bulk')).body.items.map(({ id }) => id);
        expect(await ids(await as(`viewer:${prefix}-in*`))).toEqual([body.id]);
        expect(await ids(await as('viewer'))).toContain(body.id);
        const narrower = await as(`viewer:${prefix}-in-a-x*`);
        expect(await ids(narrower)).toEqual([]);
        expect((await narrower.get(`/api/bulk/${body.id}`)).status).toBe(404);
      });
    });

    describe('events', () => {
      it('publishes only events that a definition inside names literally', async () => {
        prefix = fresh('team');
        const named = `${prefix}-named`;
        await define(`${prefix}-in-named`, waitFor(`"${named}"`));
        await define(`${prefix}-out-named`, waitFor(`"${prefix}-others"`));
        const computed = await define(`${prefix}-in-computed`, waitFor('data.event'));
        await startWaiting(computed, { event: `${prefix}-computed` });
        const controller = await as(`controller:${prefix}-in*`);
        const publish = async (name: string) =>
          (await controller.post(`/api/event/${name}/key`, {})).status;
        expect(await publish(named)).toBe(202);
        expect(await publish(`${prefix}-computed`)).toBe(403);
        expect(await publish(`${prefix}-others`)).toBe(403);
        expect(await publish(`${prefix}-unknown`)).toBe(403);
      });

      it('delivers an event to all waiting runs, and shows only runs inside', async () => {
        const event = fresh('shared');
        const { insideRun, outsideRun } = await twoTeams(`"${event}"`);
        const controller = await as(`controller:${prefix}-in*`);
        await controller.publish(event, 'key', {});
        await admin.ended(insideRun);
        await admin.ended(outsideRun);
        const takers = async (caller: Client) => {
          const path = `/api/event?name=${event}&key=key`;
          return (await caller.get<EventPage>(path)).body.items[0]?.takenBy;
        };
        await expect
          .poll(async () => new Set(await takers(admin)))
          .toEqual(new Set([insideRun, outsideRun]));
        expect(await takers(await as(`viewer:${prefix}-in*`))).toEqual([insideRun]);
      });

      it('accepts only a run inside for the audit log', async () => {
        const event = fresh('shared');
        const { insideRun, outsideRun } = await twoTeams(`"${event}"`);
        const controller = await as(`controller:${prefix}-in*`);
        const publishFor = async (run: string) =>
          (await controller.post(`/api/event/${event}/other?workflowId=${run}`, {})).status;
        expect(await publishFor(outsideRun)).toBe(404);
        expect(await publishFor(insideRun)).toBe(202);
      });
    });

    describe('several scopes', () => {
      it('applies each scope to its own reach: control here, data there', async () => {
        const { insideRun, outsideRun } = await twoTeams();
        const caller = await as('controller', `viewer:${prefix}-in*`);
        for (const [run, shown] of [
          [insideRun, true],
          [outsideRun, false],
        ] as const) {
          const answer = await caller.call<object>('PUT', `/api/workflow/${run}/suspend`);
          expect(answer.status, answer.text).toBe(200);
          expect('data' in answer.body).toBe(shown);
        }
        expect((await caller.get(`/api/workflow/${outsideRun}`)).status).toBe(404);
      });

      it('shows all definitions to an author', async () => {
        const { outside } = await twoTeams();
        const author = await as('author', `viewer:${prefix}-in*`);
        expect((await author.get(`/api/definition/${outside}`)).status).toBe(200);
        const { text } = await author.get('/api/definition?limit=500');
        expect(text).toContain(outside);
      });
    });

    describe('an API key', () => {
      const create = (scopes: readonly string[]) =>
        admin.post<CreatedApiKey & Problem>('/api/key', {
          name: fresh('key'),
          scopes: [...scopes],
        });

      it('accepts narrowed scopes', async () => {
        const { inside, insideRun, outsideRun } = await twoTeams();
        const created = await create([`conductor:viewer:${inside}*`]);
        expect(created.status, created.text).toBe(201);
        const client = new TokenClient(at.client.url, created.body.key);
        expect((await client.get(`/api/workflow/${insideRun}`)).status).toBe(200);
        expect((await client.get(`/api/workflow/${outsideRun}`)).status).toBe(404);
      });

      it.each(['conductor:viewer:', 'conductor:viewer:*', 'conductor:author:a*', 'order*'])(
        'rejects the scope %s',
        async (scope) => {
          const { body, status } = await create([scope]);
          expect(status).toBe(400);
          expect(JSON.stringify(body)).toContain('is not a scope');
        },
      );
    });

    it('finds exactly the items that begin with one of its random prefixes', async () => {
      const next = seeded(20_261_124);
      const random = (below: number): number => Math.floor(next() * below);
      const root = fresh('z');
      const endings = [
        '',
        'a',
        'ab',
        'aB',
        'A',
        'a%',
        'a_b',
        'é',
        'é-b',
        '😀',
        '😀x',
        'b.c',
        "b'c",
        'b\\c',
      ];
      const runs = new Map<string, string>();
      for (const ending of endings) {
        const id = await define(`${root}-${ending}`, waitFor('"e"'));
        runs.set(id, await startWaiting(id));
      }
      for (let call = 0; call < CALLS; call += 1) {
        const prefixes = Array.from({ length: 1 + random(3) }, () => {
          const [name] = [...runs.keys()].slice(random(runs.size));
          const letters = Array.from(name!);
          const cut = letters
            .slice(0, root.length + 1 + random(letters.length - root.length))
            .join('');
          return random(8) === 0 ? cut.toUpperCase() : cut + (random(8) === 0 ? '%' : '');
        });
        const viewer = await as(...prefixes.map((each) => `viewer:${each}*`));
        const reached = [...runs.keys()].filter((id) =>
          prefixes.some((each) => id.startsWith(each)),
        );
        const listed = await viewer.get<WorkflowPage>('/api/workflow?limit=500');
        const found = listed.body.items.map(({ definitionId }) => definitionId);
        expect(found.toSorted(), prefixes.join(' ')).toEqual(reached.toSorted());
        const { body: count } = await viewer.get<WorkflowCount>('/api/workflow/count');
        expect(count.count, prefixes.join(' ')).toBe(reached.length);
        const { body: definitions } = await viewer.get<DefinitionPage>('/api/definition?limit=500');
        const ids = definitions.items.map(({ id }) => id);
        expect(ids.toSorted(), prefixes.join(' ')).toEqual(reached.toSorted());
        for (const [id, run] of runs) {
          const { status } = await viewer.get(`/api/workflow/${run}`);
          expect(status, `${id} with ${prefixes.join(' ')}`).toBe(reached.includes(id) ? 200 : 404);
        }
      }
    });
  },
  { environment: TOKEN_ENVIRONMENT, dialects: 'alternating' },
);
