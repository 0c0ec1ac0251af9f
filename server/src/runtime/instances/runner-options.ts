/** What the runner of instances needs of the node around it. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import type { WorkflowInstance } from '../../engine/model/instance.js';
import type { RunnerEnvironment } from './runner-environment.js';
import type { UnsavedChanges } from './unsaved-changes.js';
import type { NodeRegistry } from '../fleet/node-registry.js';

export interface InstanceRunnerOptions {
  readonly environment: RunnerEnvironment;
  readonly nodes: NodeRegistry;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** Tells the node that owns an instance to look at it. */
  readonly hintOwner: (instanceId: string) => void;
  /** A commit is durable; what has to follow outside of the instance follows now. */
  readonly committed: (
    instance: WorkflowInstance,
    saved: UnsavedChanges,
    committedAt: number | null,
  ) => void;
  /** The status of an instance was changed in the store, by whomever. */
  readonly changed: (record: InstanceSummary) => void;
  readonly scanIntervalMs: () => number;
  /** How long calls to the outside that are under way may take to end when the node stops. */
  readonly drainMs: number;
  /** An instance is set aside after so many deaths of nodes in a row, the last ones of them on trial. */
  readonly crashesMax: number;
}
