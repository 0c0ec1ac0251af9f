/** Servers that stop or die during each kind of wait: the next one on the same store continues. */
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { Client, fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import { chain, compute, mark, step } from './support/steps.js';
import { succeedsAfterRestart, WAITS } from './support/waits.js';

everyStore(
  'a server that restarts',
  (at) => {
    // All of them together: one restart for all tests the same as one for each, and is much quicker.
    it('continues every kind of wait', async () => {
      const begun = await Promise.all(WAITS.map((wait) => wait.begin(at.client)));
      await at.restart();
      const ended = await Promise.allSettled(
        begun.map((each) => succeedsAfterRestart(at.client, each)),
      );
      const failed = ended.flatMap((result, index) =>
        result.status === 'rejected' ? [`${WAITS[index]!.does}: ${String(result.reason)}`] : [],
      );
      expect(failed).toEqual([]);
    });

    it('keeps definitions, scripts, ended runs and their steps', async () => {
      const before = at.client;
      const script = await before.script('v = 7');
      const definition = await before.define(
        chain(step('s', script, {}, { Outputs: { v: 'step.v' } }), mark('a')),
      );
      const id = await before.start(definition);
      const ended = await before.ended(id);
      const steps = await before.steps(id);
      const document = await before.get(`/api/definition/${definition}`);
      await at.restart();
      const { client } = at;
      expect(await client.workflow(id)).toEqual(ended);
      expect(await client.steps(id)).toEqual(steps);
      expect((await client.get(`/api/definition/${definition}`)).body).toEqual(document.body);
      expect((await client.get(`/api/step/${script}`)).text).toBe('v = 7');
      expect((await client.ended(await client.start(definition))).data).toEqual(ended.data);
    });

    it('answers pending calls first: polls with nothing, waits with the current state', async () => {
      const { client } = at;
      const id = await client.defineAndStart([step('wait', 'Delay', { Period: 3600 })]);
      const poll = client.pull(fresh('none'), '?timeout=60');
      const wait = client.get<Workflow>(`/api/workflow/${id}?wait=60`);
      await client.untilWaiting(id, 'wait');
      await at.restart();
      expect([404, 503]).toContain((await poll).status);
      const answer = await wait;
      expect([200, 503]).toContain(answer.status);
      if (answer.status === 200) expect(answer.body.status).toBe('Runnable');
      await at.client.terminate(id);
    });

    it('runs an interrupted script again, and records its step once', async () => {
      const { client } = at;
      const slow = await client.script(
        'import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: pass\nv = 1',
      );
      const id = await client.defineAndStart(
        chain(step('slow', slow, {}, { Outputs: { v: 'step.v' } }), mark('after')),
      );
      await client.untilStep(id, 'slow', ({ status }) => status === 'Running');
      await at.restart();
      expect((await at.client.ended(id)).data).toEqual({ v: 1, trail: ['after'] });
      expect(await at.client.trace(id)).toEqual(['slow Complete', 'after Complete']);
    });
  },
  { dialects: [CAMEL_JSON] },
);

describe('kill -9 of a process with the embedded store', () => {
  it('loses nothing that was acknowledged, in any kind of wait', async () => {
    const environment = { PORT: '0', DATA_DIR: await temporaryFolder() };
    const first = await startProcess(environment);
    const begun = await Promise.all(WAITS.map((wait) => wait.begin(new Client(first.url))));
    await first.kill();
    const second = await startProcess(environment);
    const client = new Client(second.url);
    const ended = await Promise.allSettled(begun.map((each) => succeedsAfterRestart(client, each)));
    const failed = ended.flatMap((result, index) =>
      result.status === 'rejected' ? [`${WAITS[index]!.does}: ${String(result.reason)}`] : [],
    );
    expect(failed).toEqual([]);
    expect(await second.stop()).toBe(0);
  });

  it('completes every acknowledged start, and counts each step once', async () => {
    const environment = { PORT: '0', DATA_DIR: await temporaryFolder() };
    const first = await startProcess(environment);
    const before = new Client(first.url);
    const definition = await before.define([
      step(
        'loop',
        'While',
        { Condition: 'data.n < 30' },
        {
          Do: [
            chain(compute('more', { n: 'data.n + 1' }), step('pause', 'Delay', { Period: 0.02 })),
          ],
        },
      ),
    ]);
    const ids: string[] = [];
    const starting = (async () => {
      for (;;) ids.push(await before.start(definition, { n: 0 }));
    })().catch(() => undefined);
    await before.untilWorkflow(
      await before.start(definition, { n: 0 }),
      ({ data }) => Number(data['n']) >= 10,
    );
    await first.kill();
    await starting;
    expect(ids.length).toBeGreaterThan(3);
    const second = await startProcess(environment);
    const client = new Client(second.url);
    for (const id of ids) {
      expect((await client.ended(id)).data).toEqual({ n: 30 });
      const counted = (await client.steps(id)).filter(({ stepId }) => stepId === 'more');
      expect(counted.map(({ outputs }) => (outputs as { n: number }).n)).toEqual(
        Array.from({ length: 30 }, (_, n) => n + 1),
      );
    }
  });
});
