/** Which instances are forgiven the nodes that stopped while they had them. */
import { expect, it } from 'vitest';
import { parseDefinition } from '../../src/engine/definitions/parse-definition.js';
import { startRun } from '../../src/engine/lifecycle.js';
import type { Run } from '../../src/engine/run.js';
import { enterStep, nextWork } from '../../src/engine/step-work.js';
import { hasSurvived } from '../../src/runtime/set-aside-state.js';
import type { InstanceRecord } from '../../src/store/store.js';

function runOf(stepType: string, inputs: Record<string, string>): Run {
  const { definition } = parseDefinition({
    Id: 'd',
    Steps: [{ Id: 's', StepType: stepType, Inputs: inputs }],
  });
  if (definition === null) throw new Error('the definition is valid');
  return startRun(definition, { id: 'i', data: {}, reference: null, parent: null }, 1000);
}

function entered(run: Run, inputs: Record<string, string | number>): Run {
  const work = nextWork(run);
  if (work === null) throw new Error('a step is ready');
  enterStep(run, work.pointer, inputs, null);
  return run;
}

const crashed = (crashes: number): InstanceRecord => ({ crashes }) as InstanceRecord;

const waiting = (): Run => entered(runOf('Delay', { Period: '60' }), { Period: 60 });
const calling = (): Run =>
  entered(runOf('HttpRequest', { BaseUrl: '"http://x"' }), { BaseUrl: 'http://x' });

it.each([
  ['waits for time', 2, waiting, true],
  ['waits for time, after one crash only', 1, waiting, false],
  ['has a call under way', 4, calling, false],
  ['has a step ready to run', 4, () => runOf('NoOp', {}), false],
])('an instance that %s, after %i crashes', (_what, crashes, run, survived) => {
  expect(hasSurvived(crashed(crashes), run())).toBe(survived);
});
