/** `descendants_max`: how many open runs one run may have started, directly or indirectly. */
import { expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import { serverForTests } from '../security/support/secured-server.js';
import { chain, step } from './support/steps.js';

const at = serverForTests({ DESCENDANTS_MAX: '2' });

const start = (id: string, definitionId: string) =>
  step(id, 'SubWorkflow', { DefinitionId: `"${definitionId}"`, Wait: 'False' });
const LATER = { ErrorBehavior: 'Retry', RetryInterval: '01:00:00' };

it('fails the step that would start one descendant too many, until another has ended', async () => {
  const { client } = at;
  const sleeper = await client.define([step('sleep', 'Delay', { Period: '"01:00:00"' })]);
  const middle = await client.define(
    chain(start('inner', sleeper), step('sleep', 'Delay', { Period: '"01:00:00"' })),
  );
  const top = await client.define(
    chain(start('first', middle), step('meet', 'WaitFor', { EventName: '"go"', EventKey: '"k"' }), {
      ...start('second', sleeper),
      ...LATER,
    }),
  );
  const id = await client.start(top);
  const first = await client.untilStep(id, 'first', ({ status }) => status === 'Complete');
  const child = first.childWorkflowId!;
  // The child of the child counts too.
  const inner = await client.untilStep(child, 'inner', ({ status }) => status === 'Complete');
  await client.publish('go', 'k', null);

  const refused = await client.untilStep(id, 'second', ({ error }) => error !== null);
  const message =
    `run ${id} has 2 open descendants, the maximum (descendants_max); ` +
    'another one can start when one of them has ended';
  expect(refused.error).toMatchObject({ type: 'TooManyDescendants', message });
  expect(refused.childWorkflowId).toBeNull();
  const { body } = await client.get<Explanation>(`/api/workflow/${id}/explain`);
  expect(body.summary).toContain('descendants_max');
  const metrics = await client.get('/metrics');
  expect(metrics.text).toMatch(/^stepwright_descendants_refused_total 1$/m);
  // Another run has its own limit.
  const other = await client.start(middle);
  await client.untilStep(other, 'inner', ({ status }) => status === 'Complete');

  await client.terminate(inner.childWorkflowId!);
  expect((await client.call('PUT', `/api/workflow/${id}/retry`)).status).toBe(200);
  expect((await client.ended(id)).outcome).toBe('Succeeded');
  // Its descendants continue without it, and still count.
  const again = (await client.steps(id)).filter(({ stepId }) => stepId === 'second').at(-1);
  expect(await client.workflow(again!.childWorkflowId!)).toMatchObject({ status: 'Runnable' });
});
