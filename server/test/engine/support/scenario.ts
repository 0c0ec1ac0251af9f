/** A scenario is run twice: with the instance kept in memory, and with it stored and read back at every step. */
import { describe } from 'vitest';
import { define, type DefinitionMembers, type StepSource } from './define.js';
import { EngineDriver, type DriverOptions } from './engine-driver.js';

/** Starts an instance of these steps and lets it run until everything waits. */
export type Start = (
  steps: readonly StepSource[],
  options?: DefinitionMembers & Pick<DriverOptions, 'data' | 'stepsMax'>,
) => EngineDriver;

const MODES = [
  { mode: 'in memory', reload: () => false },
  { mode: 'read back at every step', reload: () => true },
] as const;

export function scenarios(subject: string, body: (start: Start) => void): void {
  describe.each(MODES)(`${subject} ($mode)`, ({ reload }) => {
    body((steps, options = {}) => {
      const { data, stepsMax, ...members } = options;
      return new EngineDriver(define(steps, members), {
        reload,
        ...(data === undefined ? {} : { data }),
        ...(stepsMax === undefined ? {} : { stepsMax }),
      });
    });
  });
}
