/** Where the open runs of a definition are, on every store. */
import { expect, it } from 'vitest';
import type { OpenSteps } from '../../src/api/wire/models/definition.js';
import { everyStore } from './support/every-store.js';

const waitFor = (id: string, key: string) => ({
  Id: id,
  StepType: 'WaitFor',
  Inputs: { EventName: '"open-steps"', EventKey: key },
});

everyStore('open steps', (at) => {
  const openSteps = async (definitionId: string, query = ''): Promise<OpenSteps> => {
    const answer = await at.client.get<OpenSteps>(
      `/api/definition/${definitionId}/open-steps${query}`,
    );
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  it('counts open runs by step, and no others', async () => {
    const definition = await at.client.define([
      {
        Id: 'choose',
        StepType: 'Decide',
        SelectNextStep: { one: 'data.n == 1', two: 'data.n == 2' },
      },
      waitFor('one', '"never"'),
      waitFor('two', '"never"'),
    ]);
    for (const n of [1, 2, 2, 3]) await at.client.start(definition, { n });
    await expect
      .poll(() => openSteps(definition))
      .toEqual({
        items: [
          { stepId: 'two', count: 2 },
          { stepId: 'one', count: 1 },
        ],
        count: 3,
        exact: true,
      });
    expect(await openSteps(definition, '?version=1')).toMatchObject({ count: 3 });
  });

  it('stops counting at about 200 runs, and reports that', async () => {
    const definition = await at.client.define([waitFor('wait', '"never"')]);
    await Promise.all(Array.from({ length: 230 }, () => at.client.start(definition, {})));
    const { count, exact, items } = await openSteps(definition);
    expect(exact).toBe(false);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(200);
    expect(items.every(({ stepId }) => stepId === 'wait')).toBe(true);
  });

  it('rejects unknown definitions and versions', async () => {
    const definition = await at.client.define([waitFor('wait', '"never"')]);
    expect((await at.client.get('/api/definition/no-such/open-steps')).status).toBe(404);
    expect((await at.client.get(`/api/definition/${definition}/open-steps?version=9`)).status).toBe(
      404,
    );
    expect((await at.client.get(`/api/definition/${definition}/open-steps?version=x`)).status).toBe(
      400,
    );
  });
});
