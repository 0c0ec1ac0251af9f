/** The environment of the runner's parts on their node: of each actor, and of all actors together. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { Instance } from '../../engine/model/instance.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { Store } from '../../store/store.js';
import type { ActorEnvironment, ActorLimits } from './actor-environment.js';

export interface RunnerLimits extends ActorLimits {
  /** Maximum number of instances that work at the same time. */
  readonly concurrencyMax: number;
  /** Maximum number of parked instances in memory. */
  readonly parkedMax: number;
  /** Maximum number of open descendants of an instance that a client started. */
  readonly descendantsMax: number;
  /** Maximum memory of all instances together, in bytes. */
  readonly instanceMemoryMax: number;
}

export interface RunnerEnvironment extends ActorEnvironment {
  readonly store: Store;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;

  /** Called when the instance was claimed from another node. */
  takenOver(instance: Instance, definition: WorkflowDefinition): void;
  /** Waits until no instance works, and then lets only this one work until the returned function is called. */
  takeAllTurns(instanceId: string): Promise<() => void>;
}
