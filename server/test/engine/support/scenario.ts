/**
 * Runs each scenario twice: with the instance kept in memory, and with the instance stored and read back at every step.
 */
import { describe } from 'vitest';
import { define, type DefinitionMembers, type StepSource } from './define.js';
import { EngineDriver, type DriverOptions } from './engine-driver.js';

/** Starts an instance of these steps and runs it until everything is waiting. */
export type Start = (
  steps: readonly StepSource[],
  options?: DefinitionMembers & Omit<DriverOptions, 'reload'>,
) => EngineDriver;

const MODES = [
  { mode: 'in memory', reload: () => false },
  { mode: 'read back at every step', reload: () => true },
] as const;

export function scenarios(subject: string, body: (start: Start) => void): void {
  describe.each(MODES)(`${subject} ($mode)`, ({ reload }) => {
    body((steps, options = {}) => {
      return new EngineDriver(define(steps, membersOf(options)), { ...options, reload });
    });
  });
}

/** The options that are members of the document. */
function membersOf(options: DefinitionMembers): DefinitionMembers {
  const { defaultErrorBehavior, defaultErrorRetryInterval } = options;
  return {
    ...(defaultErrorBehavior === undefined ? {} : { defaultErrorBehavior }),
    ...(defaultErrorRetryInterval === undefined ? {} : { defaultErrorRetryInterval }),
  };
}
