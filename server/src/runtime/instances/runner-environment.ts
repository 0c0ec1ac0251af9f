/** What the parts of the runner need of the node around them: what each actor needs, and what concerns all of them. */
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { Store } from '../../store/store.js';
import type { ActorEnvironment, ActorLimits } from './actor-environment.js';

export interface RunnerLimits extends ActorLimits {
  /** Instances that work at the same time. */
  readonly concurrencyMax: number;
  /** Parked instances that are kept in memory. */
  readonly parkedMax: number;
  /** Instances that descend from one that a client started, and are open at the same time. */
  readonly descendantsMax: number;
  /** Memory that instances may take together, in bytes. */
  readonly instanceMemoryMax: number;
}

export interface RunnerEnvironment extends ActorEnvironment {
  readonly store: Store;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;

  /** Waits until nobody works, and lets this instance alone work until the answer is called. */
  takeAllTurns(instanceId: string): Promise<() => void>;
}
