/** The options of the instance runner. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import type { Instance } from '../../engine/model/instance.js';
import type { RunnerEnvironment } from './runner-environment.js';
import type { UnsavedChanges } from '../instance-state/unsaved-changes.js';
import type { NodeRegistry } from '../fleet/node-registry.js';

export interface InstanceRunnerOptions {
  readonly environment: RunnerEnvironment;
  readonly nodes: NodeRegistry;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** Asks the node that owns an instance to check it. */
  readonly hintOwner: (instanceId: string, owner?: string) => void;
  /** Called when a commit is durable: its follow-up work outside the instance can begin. */
  readonly committed: (
    instance: Instance,
    saved: UnsavedChanges,
    committedAt: number,
    since: number | null,
  ) => void;
  /** Called when the status of an instance was changed in the store, by this node or another. */
  readonly changed: (record: InstanceSummary) => void;
  /** Called when a message did not fit into the inbox of its instance. */
  readonly inboxOverflowed: () => void;
  readonly scanIntervalMs: () => number;
  /** How long running external calls may take to finish when the node stops. */
  readonly drainMs: number;
  /** An instance is quarantined after this many consecutive node crashes, the last of them in trials. */
  readonly crashesMax: number;
}
