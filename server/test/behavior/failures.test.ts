/** Failed runs in groups by their cause, and the list filter that selects a group, on every store. */
import { expect, it } from 'vitest';
import type { FailureGroups } from '../../src/api/wire/models/failure.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { WorkflowCount } from '../../src/api/wire/models/workflow-filter.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { everyStore } from './support/every-store.js';
import { activity, compute } from './support/steps.js';

/** Fails with a message that contains the text, until the data has a `cure`. */
const READ = { n: 'int(data["text"]) if "cure" not in data else 1' };

everyStore('failures', (at) => {
  const failures = async (query: string): Promise<FailureGroups> => {
    const answer = await at.client.get<FailureGroups>(`/api/workflow/failures?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const list = async (query: string): Promise<string[]> => {
    const { body } = await at.client.get<WorkflowPage>(`/api/workflow?${query}`);
    const counted = await at.client.get<WorkflowCount>(`/api/workflow/count?${query}`);
    expect(counted.body).toEqual({ count: body.items.length, exact: true });
    return body.items.map(({ workflowId }) => workflowId).toSorted();
  };
  const failed = (id: string, holds: (run: Workflow) => boolean) =>
    at.client.untilWorkflow(id, (run) => run.lastError !== null && holds(run));
  const isSuspended = ({ status }: Workflow): boolean => status === 'Suspended';

  it('groups runs by step and message without its numbers, and lists the runs of a group', async () => {
    const definition = await at.client.define([
      compute('read', READ, { ErrorBehavior: 'Suspend' }),
    ]);
    const texts = ['order 17', 'order 4711', 'order -3', 'customer 8'];
    const ids: string[] = [];
    for (const text of texts) {
      ids.push(await at.client.start(definition, { text }));
      await failed(ids.at(-1)!, isSuspended);
    }
    const found = await failures(`definitionId=${definition}`);
    expect(found).toMatchObject({ groups: 2, count: 4, exact: true });
    const [orders, customers] = found.items;
    expect(orders).toMatchObject({
      definitionId: definition,
      stepId: 'read',
      type: 'ValueError',
      message: expect.stringMatching(
        /^invalid literal for int\(\) with base #: 'order #'/,
      ) as string,
      count: 3,
      suspended: 3,
      retrying: 0,
      failed: 0,
      example: ids[2],
      trend: [...new Array<number>(23).fill(0), 3],
    });
    const first = await at.client.workflow(ids[0]!);
    const third = await at.client.workflow(ids[2]!);
    expect(orders!.firstTime).toBe(first.failureTime);
    expect(orders!.lastTime).toBe(third.failureTime);
    expect(first.failure).toEqual({
      key: orders!.key,
      stepId: 'read',
      type: 'ValueError',
      message: expect.stringMatching(
        /^invalid literal for int\(\) with base 10: 'order 17'/,
      ) as string,
    });
    expect(await list(`failure=${orders!.key}`)).toEqual(ids.slice(0, 3).toSorted());
    expect(await list(`failure=${orders!.key}&status=Runnable`)).toEqual([]);
    expect(await list(`failure=${customers!.key}&definitionId=${definition}`)).toEqual([ids[3]]);
    const newest = await failures(`definitionId=${definition}&order=lastTime&limit=1`);
    expect(newest).toMatchObject({ groups: 2, items: [{ key: customers!.key, count: 1 }] });
    const from = `definitionId=${definition}&failedFrom=${customers!.lastTime}`;
    expect((await failures(from)).items).toMatchObject([{ key: customers!.key }]);
    const to = `definitionId=${definition}&failedTo=${customers!.lastTime}`;
    expect((await failures(to)).items).toMatchObject([{ key: orders!.key }]);
    expect((await failures('definitionId=none')).items).toEqual([]);
  });

  it('groups only runs that fulfill conditions on tags and index fields', async () => {
    const definition = await at.client.define({
      Steps: [compute('read', READ, { ErrorBehavior: 'Suspend' })],
      Index: { customer: 'data.customer', amount: 'data.amount' },
    });
    const orders = [
      ['C-1', 5],
      ['C-1', 50],
      ['C-2', 500],
    ] as const;
    for (const [customer, amount] of orders) {
      const id = await at.client.start(definition, { text: 'x', customer, amount });
      await failed(id, isSuspended);
    }
    const counted = async (...where: string[]): Promise<number> => {
      const conditions = where.map((each) => `&where=${encodeURIComponent(each)}`).join('');
      const groups = await failures(`definitionId=${definition}${conditions}`);
      expect(groups).toMatchObject({ exact: true, groups: groups.count > 0 ? 1 : 0 });
      const query = `definitionId=${definition}&failedFrom=2020-01-01${conditions}`;
      expect(await list(query)).toHaveLength(groups.count);
      return groups.count;
    };
    expect(await counted()).toBe(3);
    expect(await counted('customer=C-1')).toBe(2);
    expect(await counted('customer=C-1', 'amount>=50')).toBe(1);
    expect(await counted('customer^=C-')).toBe(3);
    expect(await counted('customer=C-3')).toBe(0);
    const wrong = await at.client.get<Problem>('/api/workflow/failures?where=customer');
    expect(wrong.status, wrong.text).toBe(400);
    expect(wrong.body.detail).toContain('"customer" is invalid');
  });

  it('removes a run from its group when the failure is over', async () => {
    const parallel = await at.client.define([
      {
        Id: 'both',
        StepType: 'Parallel',
        Do: [
          [compute('read', READ, { ErrorBehavior: 'Retry', RetryInterval: 'PT0.05S' })],
          [activity('ask', 'cure', {}, { Outputs: { cure: 'step.Result' } })],
        ],
      },
    ]);
    const id = await at.client.start(parallel, { text: 'x' });
    await failed(id, () => true);
    const [group] = (await failures(`definitionId=${parallel}&status=Runnable`)).items;
    expect(group).toMatchObject({ retrying: 1, count: 1 });
    const { token } = await at.client.work('cure');
    await at.client.succeed(token, 1);
    const { failure, outcome } = await at.client.ended(id);
    expect({ failure, outcome }).toEqual({ failure: null, outcome: 'Succeeded' });
    expect((await failures(`definitionId=${parallel}`)).items).toEqual([]);
    expect(await list(`failure=${group!.key}`)).toEqual([]);
  });

  it("removes an ended run from its group when it's repaired, until it fails again", async () => {
    const definition = await at.client.define([
      compute('read', READ, { ErrorBehavior: 'Terminate' }),
    ]);
    const ids: string[] = [];
    for (const text of ['x 1', 'x 2', 'x 3', 'x 4']) {
      ids.push(await at.client.start(definition, { text }));
      await at.client.ended(ids.at(-1)!);
    }
    const [restarted, rerun, modified, corrected] = ids as [string, string, string, string];
    const [group] = (await failures(`definitionId=${definition}`)).items;
    expect(group).toMatchObject({ failed: 4 });
    const repair = async (id: string, how: string, body: object): Promise<void> => {
      const json = { reason: 'a test', ...body };
      const answer = await at.client.post(`/api/workflow/${id}/${how}`, json);
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    // Data alone repairs nothing: the run stays as it ended.
    await repair(corrected, 'modify', { data: { note: 1 } });
    const data = { cure: 1 };
    await repair(modified, 'modify', { data, start: [{ stepId: 'read' }] });
    await repair(rerun, 'rerun', { data });
    for (const id of [modified, rerun]) {
      expect(await at.client.ended(id)).toMatchObject({ outcome: 'Succeeded', failure: null });
    }
    expect(await list(`failure=${group!.key}`)).toEqual([restarted, corrected].toSorted());
    await repair(restarted, 'restart', {});
    const { failure, lastError, outcome, restartedAs } = await at.client.workflow(restarted);
    expect({ failure, outcome }).toEqual({ failure: null, outcome: 'Failed' });
    expect(lastError).not.toBeNull();
    await at.client.ended(restartedAs!);
    // The new run has failed for the same reason.
    expect(await list(`failure=${group!.key}`)).toEqual([corrected, restartedAs!].toSorted());
    // A later commit does not bring it back.
    await repair(restarted, 'modify', { data: { note: 2 } });
    expect(await list(`failure=${group!.key}`)).toEqual([corrected, restartedAs!].toSorted());
    expect((await failures(`definitionId=${definition}`)).items).toMatchObject([{ failed: 2 }]);
  });

  it('distinguishes failures from compensations and terminations by a caller', async () => {
    const of = (read: object) =>
      at.client.define([compute('read', READ, read as Record<string, string>)]);
    const failing = await of({ ErrorBehavior: 'Terminate' });
    const run = await at.client.start(failing, { text: 'x' });
    expect(await at.client.ended(run)).toMatchObject({
      outcome: 'Failed',
      failure: { stepId: 'read' },
    });
    expect((await failures(`definitionId=${failing}`)).items).toMatchObject([{ failed: 1 }]);
    expect((await failures(`definitionId=${failing}&status=Suspended`)).items).toEqual([]);

    const undone = await at.client.define([
      compute('read', READ, { CompensateWith: [compute('undo', { undone: 'True' })] as never }),
    ]);
    const compensated = await at.client.start(undone, { text: 'x' });
    expect(await at.client.ended(compensated)).toMatchObject({
      outcome: 'Compensated',
      failure: null,
    });
    expect((await failures(`definitionId=${undone}`)).items).toEqual([]);

    const stuck = await of({ ErrorBehavior: 'Suspend' });
    const ended = await at.client.start(stuck, { text: 'x' });
    const { failure } = await failed(ended, isSuspended);
    expect((await failures(`definitionId=${stuck}`)).items).toMatchObject([{ suspended: 1 }]);
    await at.client.terminate(ended);
    expect((await failures(`definitionId=${stuck}`)).items).toEqual([]);
    expect(await list(`failure=${failure!.key}`)).toEqual([]);
    expect(await at.client.ended(ended)).toMatchObject({ outcome: 'Terminated', failure: null });
  });

  it('rejects an invalid key', async () => {
    for (const key of ['x', '', 'A'.repeat(32), `${'a'.repeat(31)}%00`]) {
      const answer = await at.client.get<Problem>(`/api/workflow?failure=${key}`);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body.detail).toContain('failure must be the key of a group');
    }
    expect(await list(`failure=${'0'.repeat(32)}`)).toEqual([]);
    for (const query of ['limit=101', 'limit=0', 'order=x', 'failedFrom=soon', 'reference=x']) {
      expect((await at.client.get(`/api/workflow/failures?${query}`)).status, query).toBe(400);
    }
  });
});
