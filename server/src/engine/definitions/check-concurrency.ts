/** Finds runs that would wait for themselves: each holds the only place of its definition, which its child needs. */
import type { RunConcurrency, StepDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import { isFalse, literalValue } from './check-literal-input.js';
import type { ParseState } from './parse-state.js';

export function checkConcurrency(
  definitionId: string | null,
  concurrency: RunConcurrency | null,
  state: ParseState,
): void {
  if (definitionId === null || concurrency?.limit !== 1 || concurrency.onFull !== 'Queue') return;
  // The child may have another key.
  if (concurrency.key !== null && literalValue(concurrency.key) === undefined) return;
  for (const [id, posted] of state.postedSteps) {
    const step = state.steps.get(id);
    if (step === undefined || !waitsForRunOf(definitionId, step)) continue;
    const message = `This step waits for a run of '${definitionId}' itself, which waits for the only place, which this run holds. Set Wait to False, or allow more runs in Concurrency.`;
    state.errors.add('endless_wait', posted.pointerOf('inputs'), message);
  }
}

function waitsForRunOf(definitionId: string, step: StepDefinition): boolean {
  const valueOf = (name: string): InputValue | undefined =>
    step.inputs.find((input) => input.name === name)?.value;
  const started = valueOf('DefinitionId');
  const wait = valueOf('Wait');
  return (
    step.type === 'SubWorkflow' &&
    started !== undefined &&
    literalValue(started) === definitionId &&
    (wait === undefined || !isFalse(wait))
  );
}
