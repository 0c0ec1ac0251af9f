/** What a pass needs from the node: the environment of an instance actor extends it. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Evaluator } from './evaluator.js';

export interface PassLimits {
  /** Maximum number of steps that an instance may run without waiting; beyond it, the instance is suspended. */
  readonly stepsWithoutWaitMax: number;
  /** Maximum number of open steps of an instance; beyond it, the instance is suspended. */
  readonly openStepsMax: number;
}

export interface PassEnvironment {
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly limits: PassLimits;
  readonly logger: Logger;
}
