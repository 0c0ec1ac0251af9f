/** Termination with compensation. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import type { Answer, Client } from './support/client.js';
import { fresh } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { activity, chain, failing, mark, step } from './support/steps.js';

interface Workflow {
  readonly status: string;
  readonly outcome: string | null;
}

const TERMINATED = { status: 'Terminated', outcome: 'Terminated' } as const;

const undoable = (Id: string, rest = {}) => mark(Id, { CompensateWith: [mark(`-${Id}`)], ...rest });

const hang = step('hang', 'Delay', { Period: 3600 });

everyStore('termination with compensation', suite, { dialects: 'alternating' });

function suite(at: Surroundings): void {
  const terminate = (id: string, query = '?compensate=true'): Promise<Answer<Workflow>> =>
    at.client.call('DELETE', `/api/workflow/${id}${query}`);
  const explain = async (id: string) =>
    (await at.client.get<{ summary: string; reasons: JsonObject[] }>(`/api/workflow/${id}/explain`))
      .body;
  const waitingAt = async (steps: readonly JsonObject[], stepId = 'hang'): Promise<string> => {
    const id = await at.client.defineAndStart(steps);
    await at.client.untilWaiting(id, stepId);
    return id;
  };

  describe('the compensation of a terminated run', () => {
    it('undoes completed steps and open sagas, newest first', async () => {
      const saga = step(
        'saga',
        'Sequence',
        {},
        { Saga: true, CompensateWith: [mark('-saga')], Do: [chain(undoable('b'), hang)] },
      );
      const id = await waitingAt(chain(undoable('a'), saga, undoable('never')));
      const answer = await terminate(id);
      expect(answer.status).toBe(200);
      const workflow = await at.client.ended(id);
      expect(workflow).toMatchObject(TERMINATED);
      expect(workflow.data['trail']).toEqual(['a', 'b', '-b', '-saga', '-a']);
      expect(await at.client.trace(id)).toEqual([
        'a Complete',
        'b Complete',
        'hang Cancelled',
        'saga Cancelled',
        '-b Complete',
        '-saga Complete',
        '-a Complete',
      ]);
      expect((await explain(id)).summary).toMatch(/^terminated by .* \(with compensation\)/);
      // The run has ended, so that nothing changes.
      expect((await terminate(id)).body).toMatchObject(TERMINATED);
      expect((await at.client.ended(id)).data).toEqual(workflow.data);
    });

    it('does nothing if there is nothing to compensate', async () => {
      const id = await waitingAt([hang]);
      expect((await terminate(id)).status).toBe(200);
      expect(await at.client.ended(id)).toMatchObject({ ...TERMINATED, data: {} });
    });

    it('undoes the completed steps of a suspended run', async () => {
      const steps = chain(undoable('a'), failing('f', { ErrorBehavior: 'Suspend' }), mark('never'));
      const id = await at.client.defineAndStart(steps);
      await at.client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect((await terminate(id)).body.status).toBe('Runnable');
      const workflow = await at.client.ended(id);
      expect(workflow).toMatchObject({ ...TERMINATED, lastError: { stepId: 'f' } });
      expect(workflow.data['trail']).toEqual(['a', '-a']);
    });

    it('undoes running children first, then the parent', async () => {
      const { client } = at;
      const name = fresh('undo');
      const child = await client.define(
        chain(mark('c', { CompensateWith: [activity('-c', name)] }), hang),
      );
      const sub = step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` });
      const id = await client.defineAndStart(chain(undoable('a'), sub, mark('never')));
      const childId = await childOf(client, id);
      await client.untilWaiting(childId, 'hang');
      await terminate(id);
      const { token } = await client.work(name);
      expect(await client.workflow(id)).toMatchObject({
        status: 'Runnable',
        data: { trail: ['a'] },
      });
      expect((await explain(id)).summary).toMatch(
        /^undoing: waits for 1 step in flight: sub \(run [^)]+\), at most \d+ min more$/,
      );
      await client.succeed(token, null);
      expect(await client.ended(childId)).toMatchObject(TERMINATED);
      expect((await client.ended(id)).data['trail']).toEqual(['a', '-a']);
      expect(await auditOf(client, childId)).toMatchObject([
        { action: 'terminate', detail: `with its parent ${id}, with compensation` },
      ]);
    });
  });

  describe('a compensation in progress', () => {
    /** The compensation waits for a worker, once for each of two steps. */
    const begin = async (): Promise<{ id: string; name: string }> => {
      const name = fresh('undo');
      const undoes = (Id: string) => mark(Id, { CompensateWith: [activity(`-${Id}`, name)] });
      const id = await waitingAt(chain(undoes('a'), undoes('b'), hang));
      expect((await terminate(id)).body).toMatchObject({ status: 'Runnable', outcome: null });
      return { id, name };
    };
    const answer = async (name: string): Promise<void> => {
      const { token } = await at.client.work(name);
      await at.client.succeed(token, null);
    };

    it('reports its progress, and continues after a restart', async () => {
      const { id, name } = await begin();
      await at.client.untilWaiting(id, '-b');
      const { reasons, summary } = await explain(id);
      expect(summary).toBe('being terminated with compensation: 0 of 2 steps compensated');
      expect(reasons).toMatchObject([
        { kind: 'compensating', actions: ['terminate'] },
        { kind: 'activity', stepId: '-b' },
      ]);
      await answer(name);
      await at.client.untilWaiting(id, '-a');
      await at.restart();
      expect((await explain(id)).summary).toContain('1 of 2 steps compensated');
      await answer(name);
      expect(await at.client.ended(id)).toMatchObject(TERMINATED);
      expect(await at.client.trace(id)).toEqual([
        'a Complete',
        'b Complete',
        'hang Cancelled',
        '-b Complete',
        '-a Complete',
      ]);
    });

    it("doesn't start again, and doesn't resume a suspended run", async () => {
      const { id, name } = await begin();
      await at.client.untilWaiting(id, '-b');
      expect((await terminate(id)).status).toBe(200);
      expect((await at.client.control(id, 'suspend')).status).toBe(200);
      expect((await terminate(id)).body.status).toBe('Suspended');
      const { reasons } = await explain(id);
      expect(reasons.map(({ kind }) => kind)).toEqual(['suspended', 'compensating', 'activity']);
      await at.client.control(id, 'resume');
      await answer(name);
      await answer(name);
      expect(await at.client.ended(id)).toMatchObject(TERMINATED);
      const ran = (await at.client.trace(id)).filter((line) => line.startsWith('-'));
      expect(ran).toEqual(['-b Complete', '-a Complete']);
      const actions = (await auditOf(at.client, id)).map(({ action }) => action);
      expect(actions).toEqual(['resume', 'suspend', 'terminate']);
    });

    it('ends at once on a termination without compensation', async () => {
      const { id } = await begin();
      await at.client.untilWaiting(id, '-b');
      expect((await terminate(id, '')).body).toMatchObject(TERMINATED);
      await at.client.untilStep(id, '-b', ({ status }) => status === 'Cancelled');
      expect(await at.client.trace(id)).not.toContain('-a Complete');
    });
  });

  it('compensates many runs at once on request', async () => {
    const ids = await Promise.all([1, 2].map(() => waitingAt(chain(undoable('a'), hang))));
    const send = (body: JsonObject) =>
      at.client.call('PATCH', '/api/workflow', {
        body: JSON.stringify(body),
        type: 'application/json',
      });
    const request = { action: 'terminate', compensate: true, workflowIds: [...ids, 'none'] };
    expect((await send(request)).body).toEqual({
      results: [
        ...ids.map((workflowId) => ({ workflowId, outcome: 'done', status: 'Runnable' })),
        { workflowId: 'none', outcome: 'missing', status: null },
      ],
    });
    for (const id of ids) {
      const workflow = await at.client.ended(id);
      expect(workflow).toMatchObject(TERMINATED);
      expect(workflow.data['trail']).toEqual(['a', '-a']);
    }
    expect((await send(request)).body).toMatchObject({
      results: [{ outcome: 'refused', status: 'Terminated' }, {}, { outcome: 'missing' }],
    });
    const wrong = await send({ ...request, action: 'suspend' });
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.text).toContain('compensate applies only to the action terminate, not to suspend');
  });

  it('is rejected if the request is invalid', async () => {
    const id = await waitingAt([hang]);
    for (const query of ['?compensate=maybe', '?compensate=', '?compensat=true']) {
      expect((await terminate(id, query)).status).toBe(400);
    }
    expect((await terminate('none')).status).toBe(404);
    expect((await at.client.workflow(id)).status).toBe('Runnable');
    expect((await terminate(id, '?compensate=false')).body).toMatchObject(TERMINATED);
  });
}

async function childOf(client: Client, id: string): Promise<string> {
  return eventually('the child has started', async () => {
    const [, sub] = await client.steps(id);
    const childId = sub?.childWorkflowId ?? '';
    // Its id is known before it is started.
    const isThere = childId !== '' && (await client.get(`/api/workflow/${childId}`)).status === 200;
    return isThere && childId;
  });
}

async function auditOf(client: Client, id: string): Promise<readonly JsonObject[]> {
  const { body } = await client.get<{ items: JsonObject[] }>(`/api/workflow/${id}/audit`);
  return body.items;
}
