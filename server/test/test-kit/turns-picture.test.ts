/**
 * Goal: the picture in docs/flow-control.md shows what the server does: the order of age, of priorities, and of fairness.
 * Method: ten items of three tenants under a limit of three, in virtual time. The picture is drawn from the times at which they
 * held a slot. `-u` writes it again.
 */
import { afterAll, expect, it } from 'vitest';
import type { Json } from '../../src/engine/values/json.js';
import { TestPythons } from '../../src/test-kit/files/pythons.js';
import { createTestServer, type TestStartOptions } from '../../src/test-kit/index.js';
import { drawTimeline, type Held } from './support/timeline.js';

const PICTURE = '../../../docs/flow-control/turns.svg';
const SLOTS = 3;
const ITEM_SECONDS = 10;
/** In the order in which they come, all at once. */
const ITEMS = ['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'B1', 'B2', 'B3', 'C1'];

const CALL = {
  Id: 'call',
  Steps: [{ Id: 'call', StepType: 'Delay', Inputs: { Period: ITEM_SECONDS } }],
};
const ORDER = {
  Id: 'order',
  Steps: [
    {
      Id: 'call',
      StepType: 'SubWorkflow',
      Inputs: { DefinitionId: '"call"' },
      Limits: ['service'],
    },
  ],
};

const pythons = new TestPythons();
afterAll(() => pythons[Symbol.asyncDispose]());

/** When each item held its slot. */
async function held(
  members: Readonly<Record<string, Json>>,
  optionsOf: (tenant: string) => TestStartOptions = () => ({}),
): Promise<readonly Held[]> {
  await using server = await createTestServer({
    definitions: [CALL, { ...ORDER, ...members }],
    limits: { service: { concurrency: SLOTS } },
    python: pythons.of({}),
  });
  const began = server.now.getTime();
  const runs: string[] = [];
  for (const item of ITEMS) {
    const tenant = item.charAt(0);
    const run = await server.start('order', { tenant }, { reference: item, ...optionsOf(tenant) });
    runs.push(run.id);
  }
  await server.advance(ITEMS.length * ITEM_SECONDS);
  return await Promise.all(
    runs.map(async (id, index) => {
      const run = await server.run(id);
      const label = ITEMS[index] ?? '';
      const child = await server.run(run.steps[0]?.childWorkflowId ?? '');
      const [step] = child.steps;
      expect(step, label).toMatchObject({ status: 'Complete' });
      const second = (time: number | null | undefined): number => ((time ?? 0) - began) / 1000;
      return {
        label,
        tenant: label.charAt(0),
        from: second(step?.startTime),
        to: second(step?.endTime),
      };
    }),
  );
}

it('draws ten items of three tenants by age, by priority and by fairness', async () => {
  const byAge = await held({});
  const byPriority = await held({}, (tenant) => ({ priority: tenant === 'C' ? 1 : 3 }));
  const byFairness = await held({ Fairness: { Key: 'data.tenant' } });
  const picture = drawTimeline('Ten items of three tenants under a limit of three', [
    {
      title: 'By age',
      note: 'The tenants B and C wait until everything of A has begun.',
      held: byAge,
    },
    {
      title: 'By priority: C has the priority 1',
      note: 'C goes first as soon as a slot is free. B still waits for A.',
      held: byPriority,
    },
    {
      title: 'By fairness: the key is the tenant',
      note: 'The tenants take turns. Nobody waits for the whole backlog of another.',
      held: byFairness,
    },
  ]);
  await expect(picture).toMatchFileSnapshot(PICTURE);
});
