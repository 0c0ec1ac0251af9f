/** SubWorkflow steps whose reference belongs to a run that is above them: who waits for whom, and who is replaced. */
import { expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { fresh, type Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, mark, step } from './support/steps.js';

const LEVELS = 4;
const WAITING = step('wait', 'Delay', { Period: 3600 });

/** A run for each level, each of which is waited for by the one above, and then this step. */
function tower(Id: string, last: JsonObject): JsonObject {
  const isAbove = `data.get("level", 0) < ${LEVELS}`;
  const below = step(
    'below',
    'SubWorkflow',
    {
      DefinitionId: `"${Id}"`,
      Data: { '@level': 'data.get("level", 0) + 1' },
      Reference: '"level " + str(data.get("level", 0) + 1)',
    },
    { ErrorBehavior: 'Terminate' },
  );
  const sub = step(
    'last',
    'SubWorkflow',
    { DefinitionId: `"${Id}"`, ...last },
    { ErrorBehavior: 'Terminate' },
  );
  return {
    Id,
    Steps: chain(
      step('which', 'If', { Condition: isAbove }, { Do: [below] }),
      step('then', 'If', { Condition: `not (${isAbove})` }, { Do: [sub] }),
    ),
  };
}

async function openOf(client: Client, definitionId: string): Promise<readonly Workflow[]> {
  const path = `/api/workflow?definitionId=${definitionId}&status=Runnable&limit=500`;
  return (await client.get<{ items: Workflow[] }>(path)).body.items;
}

everyStore(
  'a SubWorkflow step below the run with its Reference',
  (at) => {
    it.each(['existing', 'terminate'])('fails with %s if that run waits for it', async (rule) => {
      const { client } = at;
      for (const reference of ['"top"', '"level 2"', '"level 4"']) {
        const Id = fresh('tower');
        const last = { Reference: reference, OnConflict: `"${rule}"` };
        await client.postDefinition(tower(Id, last));
        const ended = await client.ended(await client.start(Id, {}, 'top'));
        expect(ended, reference).toMatchObject({ status: 'Terminated', outcome: 'Failed' });
        expect(ended.lastError?.message).toContain('waits for this step itself');
        expect(await openOf(client, Id)).toEqual([]);
      }
    });

    it('replaces its own run with Wait false, and exactly one is open', async () => {
      const { client } = at;
      const Id = fresh('successor');
      const next = step('next', 'SubWorkflow', {
        DefinitionId: `"${Id}"`,
        Data: { n: 1 },
        Reference: '"me"',
        OnConflict: '"terminate"',
        Wait: false,
      });
      const isFirst = { Condition: '"n" not in data' };
      const first = step('first', 'If', isFirst, { Do: chain(next, WAITING) });
      await client.postDefinition({ Id, Steps: chain(first, { ...WAITING, Id: 'on' }) });
      const id = await client.start(Id, {}, 'me');
      const replaced = await client.ended(id);
      expect(replaced).toMatchObject({ status: 'Terminated', outcome: 'Terminated' });
      expect(Date.parse(replaced.endTime!)).toBeGreaterThanOrEqual(Date.parse(replaced.startTime));
      const [open, ...others] = await openOf(client, Id);
      expect(others).toEqual([]);
      expect(open).toMatchObject({ reference: 'me' });
      expect((await client.workflow(open!.workflowId)).data).toEqual({ n: 1 });
      await client.terminate(open!.workflowId);
    });

    it('waits for that run if nothing there waits for it', async () => {
      const { client } = at;
      const key = fresh('key');
      const below = await client.define([
        step(
          'join',
          'SubWorkflow',
          { DefinitionId: 'data.above', Reference: '"top"', OnConflict: '"existing"' },
          { Outputs: { outcome: 'step.Outcome' } },
        ),
      ]);
      const Id = fresh('above');
      await client.postDefinition({
        Id,
        Steps: chain(
          step(
            'start',
            'SubWorkflow',
            { DefinitionId: `"${below}"`, Data: { above: Id }, Wait: false },
            { Outputs: { below: 'step.WorkflowId' } },
          ),
          step('wait', 'WaitFor', { EventName: '"go"', EventKey: `"${key}"` }),
          mark('end'),
        ),
      });
      const above = await client.start(Id, {}, 'top');
      const started = await client.untilWorkflow(above, (run) => 'below' in run.data);
      const child = String(started.data['below']);
      await eventually('the child has joined', async () => {
        const [joining] = await client.steps(child);
        return joining?.childWorkflowId === above;
      });
      await client.publish('go', key, true);
      expect((await client.ended(child)).data).toMatchObject({ outcome: 'Succeeded' });
    });
  },
  { dialects: 'alternating' },
);
