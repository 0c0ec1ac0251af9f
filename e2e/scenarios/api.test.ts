/** What clients rely on besides workflows: YAML, paging, idempotency, problems. */
import { expect } from 'vitest';
import { assign, reached, run, waitFor } from '../environment/steps.js';
import { scenarios } from '../environment/test-environment.js';

scenarios('the API', {
  'accepts and returns YAML like JSON': async (environment) => {
    const id = environment.unique('yaml');
    const posted = await environment.call('/api/definition', {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: `Id: ${id}\nSteps:\n- Id: a\n  StepType: NoOp\n  Outputs:\n    sum: data.x + 1\n`,
    });
    expect(posted.status).toBe(201);
    await environment.checkpoint();
    const started = await environment.call(`/api/workflow/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-yaml', accept: 'application/yaml' },
      body: 'x: 41\n',
    });
    expect(started.status).toBe(201);
    expect(started.headers.get('content-type')).toContain('application/yaml');
    const workflowId = /workflowId: "?([\w-]+)/.exec(await started.text())?.[1] ?? '';
    const { data } = await environment.client.workflows.wait(workflowId, { timeoutMs: 30_000 });
    expect(data).toEqual({ x: 41, sum: 42 });
  },

  'starts one run per idempotency key, whenever and wherever the request is repeated': async (
    environment,
  ) => {
    const id = environment.unique('once');
    await environment.client.definitions.register(
      JSON.stringify({ Id: id, Steps: [assign('a', { a: 1 })] }),
    );
    const options = { idempotencyKey: environment.unique('key') };
    const first = await environment.client.workflows.start(id, { n: 1 }, options);
    await environment.checkpoint();
    const second = await environment.client.workflows.start(id, { n: 1 }, options);
    expect(second.id).toBe(first.id);
    await expect(environment.client.workflows.start(id, { n: 2 }, options)).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_conflict',
    });
  },

  'publishes one event per idempotency key': async (environment) => {
    const handle = await run(environment, [
      waitFor('one', 'one', { NextStepId: 'two' }),
      waitFor('two', 'one'),
    ]);
    await reached(handle, 'one');
    const options = { idempotencyKey: environment.unique('event') };
    const first = await environment.client.events.publish('one', handle.id, 1, options);
    await environment.checkpoint();
    expect(await environment.client.events.publish('one', handle.id, 1, options)).toEqual(first);
    await reached(handle, 'two');
    expect((await handle.get()).data).toEqual({ one: 1 });
  },

  'lists runs newest first, in pages, with filters': async (environment) => {
    const id = environment.unique('listed');
    await environment.client.definitions.register(
      JSON.stringify({ Id: id, Steps: [assign('a', { a: 1 })] }),
    );
    const started: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      const handle = await environment.client.workflows.start(
        id,
        {},
        { reference: `ref-${n % 2}` },
      );
      started.unshift(handle.id);
    }
    await environment.checkpoint();
    const listed: string[] = [];
    for await (const { workflowId } of environment.client.workflows.list({
      definitionId: id,
      limit: 3,
    })) {
      listed.push(workflowId);
    }
    expect([...listed].sort()).toEqual([...started].sort());
    const odd: string[] = [];
    for await (const { workflowId } of environment.client.workflows.list({
      definitionId: id,
      reference: 'ref-1',
    })) {
      odd.push(workflowId);
    }
    expect(odd).toHaveLength(3);
  },

  'reports every problem of a definition': async (environment) => {
    const refused = environment.client.definitions.register(
      JSON.stringify({ Steps: [{ Id: 'a', StepType: 'Nope', NextStepId: 'gone' }] }),
    );
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_definition' });
    const problem = await refused.catch(
      (error: unknown) => error as { problem: { errors: { code: string }[] } },
    );
    const codes = 'problem' in problem ? problem.problem.errors.map(({ code }) => code) : [];
    expect(codes).toEqual(
      expect.arrayContaining(['missing_id', 'unknown_step_type', 'unknown_next_step']),
    );
  },
});
