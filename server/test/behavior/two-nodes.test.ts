/** Two processes on one embedded store, without Redis: each knows what the other has accepted. */
import { expect, it } from 'vitest';
import type { DefinitionDocument } from '../../src/api/wire/models/definition.js';
import type { WorkerList } from '../../src/api/wire/models/worker.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { Client, fresh } from './support/client.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { activity, chain, compute, mark, step } from './support/steps.js';

async function twoNodes(settings: Readonly<Record<string, string>> = {}): Promise<{
  nodes: [SpawnedServer, SpawnedServer];
  a: Client;
  b: Client;
}> {
  const shared = { PORT: '0', DATA_DIR: await temporaryFolder(), python_spares: '0' };
  const environment = { ...shared, ...settings };
  const nodes: [SpawnedServer, SpawnedServer] = [
    await startProcess(environment),
    await startProcess(environment),
  ];
  return { nodes, a: new Client(nodes[0].url), b: new Client(nodes[1].url) };
}

it('lists on each node the workers that poll the other one, and the items they hold', async () => {
  const { a, b, nodes } = await twoNodes();
  const name = fresh('queue');
  const id = await a.define([activity('ask', name)]);
  const run = await a.start(id);
  const taken = await a.get(`/api/activity/${name}?workerId=w1&timeout=30`);
  expect(taken.status, taken.text).toBe(200);
  const listed = await eventually('the other node reports the worker', async () => {
    const { body } = await b.get<WorkerList>(`/api/workers?activityName=${name}`);
    return body.items[0]?.lastPollTime != null && body.items[0].items[0]?.heldSince != null && body;
  });
  expect(listed).toMatchObject({
    items: [{ workerId: 'w1', polling: 0, held: 1, items: [{ workflowId: run, attempt: 1 }] }],
    count: 1,
    exact: true,
  });
  await Promise.all(nodes.map((node) => node.stop()));
});

it('fires a trigger that was registered on the node that joined later', async () => {
  const { b, nodes } = await twoNodes();
  const Id = fresh('ticking');
  const Triggers = [{ Name: 'tick', Cron: '* * * * * *' }];
  const { status, text } = await b.postDefinition({ Id, Triggers, Steps: [mark('done')] });
  expect(status, text).toBe(201);
  await eventually('a run has started', async () => {
    const { body } = await b.get<WorkflowPage>(`/api/workflow?definitionId=${Id}`);
    return body.items.length > 0;
  });
  await Promise.all(nodes.map((node) => node.stop()));
});

it('does the work of an event on the node that published it, wherever the run was before', async () => {
  const { a, b, nodes } = await twoNodes({ node_lease_ms: '4500' });
  const names = [fresh('first'), fresh('second')] as const;
  const definition = await a.define([
    waitFor('one', names[0], { NextStepId: 'two' }),
    waitFor('two', names[1]),
  ]);
  let before = { onA: await workOf(a), onB: await workOf(b) };
  const id = await eventually('the second node takes a run from the first one', async () => {
    const run = await a.start(definition);
    await a.untilWaiting(run, 'one');
    before = { onA: await workOf(a), onB: await workOf(b) };
    await b.publish(names[0], 'k', 1);
    await b.untilWaiting(run, 'two');
    return (await workOf(b)).commits > before.onB.commits && run;
  });
  const { onA, onB } = before;
  await eventually('the second node has searched for the second event', async () => {
    return (await workOf(b)).searches > onB.searches;
  });
  // The step that stored the event has claimed the run, and has seen no other event. The search is for the second wait.
  const work = { claims: onB.claims, commits: onB.commits + 1, searches: onB.searches + 1 };
  expect(await workOf(b)).toEqual(work);
  expect(await workOf(a)).toEqual(onA);

  // What the first node has kept of the run is outdated, so it claims the run again.
  await a.publish(names[1], 'k', 2);
  expect((await a.ended(id)).data).toEqual({ one: 1, two: 2 });
  // The event may end other runs of the first node, too.
  expect(await workOf(a)).toMatchObject({ claims: onA.claims });
  expect(await workOf(b)).toEqual(work);
  await Promise.all(nodes.map((node) => node.stop()));
});

function waitFor(id: string, name: string, more: object = {}): ReturnType<typeof step> {
  const inputs = { EventName: `"${name}"`, EventKey: '"k"' };
  return step(id, 'WaitFor', inputs, { Outputs: { [id]: 'step.EventData' }, ...more });
}

/** How often the node has claimed an instance, committed one, and searched for the events of a wait. */
async function workOf(
  client: Client,
): Promise<{ claims: number; commits: number; searches: number }> {
  const { text } = await client.get('/metrics');
  const count = (operation: string): number => {
    const series = new RegExp(
      `^stepwright_store_operations_total\\{[^}]*"${operation}"[^}]*\\} (\\d+)`,
      'gm',
    );
    return [...text.matchAll(series)].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return {
    claims: count('claimInstance'),
    commits: count('commitInstance'),
    searches: count('findEvents'),
  };
}

it('serves as one server on two nodes, and continues the work of the other', async () => {
  const { a, b, nodes } = await twoNodes();

  // Versions posted on both nodes at the same time differ; each node uses the latest immediately for new runs.
  const Id = fresh('shared');
  const posted = await Promise.all(
    [a, b, a, b].map((client) =>
      client.postDefinition<{ version: number }>({ Id, Steps: [compute('v', { v: '0' })] }),
    ),
  );
  expect(posted.map(({ body }) => body.version).sort()).toEqual([1, 2, 3, 4]);
  for (const [version, [on, elsewhere]] of [[5, [a, b]] as const, [6, [b, a]] as const]) {
    await on.postDefinition({ Id, Steps: [compute('v', { v: String(version) })] });
    const ended = await elsewhere.ended(await elsewhere.start(Id));
    expect(ended).toMatchObject({ version, data: { v: version } });
    expect((await elsewhere.get<DefinitionDocument>(`/api/definition/${Id}`)).body.version).toBe(
      version,
    );
  }

  // A script that is replaced on one node runs on the other.
  const script = await a.script('v = 1');
  const uses = await b.define([step('s', script, {}, { Outputs: { v: 'step.v' } })]);
  expect((await b.ended(await b.start(uses))).data).toEqual({ v: 1 });
  await a.call('POST', `/api/step/${script}`, { body: 'v = 2', type: 'text/x-python' });
  expect((await b.ended(await b.start(uses))).data).toEqual({ v: 2 });

  // A poll that waits on one node gets work from the other, and its result can be sent to either.
  const work = fresh('work');
  const poll = b.work(work);
  const asked = await a.defineAndStart(
    chain(step('ask', 'Activity', { ActivityName: `"${work}"` }), mark('after')),
  );
  const item = await poll;
  expect(item.workflowId).toBe(asked);
  const waiting = b.get<Workflow>(`/api/workflow/${asked}?wait=20`);
  await b.succeed(item.token, 1);
  expect((await waiting).body).toMatchObject({ status: 'Complete', data: { trail: ['after'] } });

  // An event published on one node wakes a run on the other; control actions work on either.
  const name = fresh('event');
  const listens = await a.defineAndStart([
    step(
      'wait',
      'WaitFor',
      { EventName: `"${name}"`, EventKey: '"k"' },
      { Outputs: { e: 'step.EventData' } },
    ),
  ]);
  await a.untilWaiting(listens, 'wait');
  expect((await b.control(listens, 'suspend')).body.status).toBe('Suspended');
  expect((await b.publish(name, 'k', 'from b')).deliveredTo).toBe(1);
  expect((await a.control(listens, 'resume')).body.status).toBe('Runnable');
  expect((await b.ended(listens)).data).toEqual({ e: 'from b' });

  // A node that dies leaves its instances to the other.
  const timer = await a.defineAndStart(chain(step('wait', 'Delay', { Period: 1 }), mark('after')));
  const held = await a.defineAndStart([
    step('ask', 'Activity', { ActivityName: `"${work}"` }, { Outputs: { r: 'step.Result' } }),
  ]);
  const { token } = await a.work(work);
  await nodes[0].kill();
  await b.succeed(token, 'after death');
  expect((await b.ended(held)).data).toEqual({ r: 'after death' });
  expect((await b.ended(timer)).data).toEqual({ trail: ['after'] });
}, 120_000);
