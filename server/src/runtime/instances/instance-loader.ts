/**
 * Brings a stored instance into memory: reads it, claims it if it has no owner, and creates an actor for it.
 *
 * An instance that can't run here is quarantined, or left unchanged if a newer server has written it.
 */
import { restoreSession } from '../../engine/flow/lifecycle.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import { markSearched } from './event-lookup.js';
import { TRIAL_FROM } from './crash-trials.js';
import type { Quarantine } from './quarantine.js';
import type { TakeOver } from './take-over.js';
import { InstanceActor, type ActorOwner } from './instance-actor.js';
import { readStored } from '../instance-state/long-states.js';
import { recordCost } from '../instance-state/message-codec.js';
import type { ResidentSet } from './resident-set.js';
import type { RunnerEnvironment } from './runner-environment.js';
import { hasUnderWay } from '../instance-state/under-way.js';

export interface InstanceLoaderOptions {
  readonly environment: RunnerEnvironment;
  /** The owner of the actors created here. */
  readonly owner: ActorOwner;
  readonly nodes: Pick<NodeRegistry, 'id' | 'isGone' | 'isKnown'>;
  readonly residents: ResidentSet;
  readonly quarantine: Quarantine;
  /** A function, because the takeover is constructed with this loader. */
  readonly takeOver: () => Pick<TakeOver, 'claimNow' | 'hasClaimed' | 'trials'>;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** Asks the node that owns an instance to check it; without an owner, all nodes. */
  readonly hintOwner: (instanceId: string, owner?: string) => void;
  readonly isStopping: () => boolean;
  /** Called when the node is stopping and leaves one of its instances not running. */
  readonly unfinished: () => void;
  /** Called when the instance is about to be in memory. */
  readonly coming: (instanceId: string) => void;
}

export class InstanceLoader {
  readonly #options: InstanceLoaderOptions;
  readonly #onlyEvents = new WeakMap<InstanceRecord, string>();

  constructor(options: InstanceLoaderOptions) {
    this.#options = options;
  }

  /** Returns the instance if this node owns it or has claimed it. */
  async load(id: string): Promise<InstanceRecord | null> {
    const { environment, hintOwner, nodes, takeOver } = this.#options;
    const record = await environment.store.getInstance(id);
    if (record === null || this.isNewer(record)) return null;
    const { owner } = record;
    if (owner === nodes.id) {
      if (record.crashes < TRIAL_FROM) return record;
      // The instance was claimed for a trial, and the response was lost.
      takeOver().trials.add(id, null);
      return null;
    }
    const wasKnown = owner !== null && nodes.isKnown(owner);
    if (owner === null || (await nodes.isGone(owner))) return takeOver().claimNow(record);
    // Claims it only if the caller believed that it has no owner: a hint makes every node check it.
    if (!wasKnown) hintOwner(id);
    return null;
  }

  /**
   * Takes an instance that rested when this node added a message to it, and returns it. Null if its owner works on the message
   * by now, or if another node was faster: its claim came after the message, which it has therefore seen.
   */
  async take(id: string, epoch: number): Promise<InstanceRecord | null> {
    const { environment, hintOwner, nodes } = this.#options;
    const record = await environment.store.claimInstance({
      id,
      epoch,
      owner: nodes.id,
      suspected: false,
      resting: true,
      schemaVersionMax: STATE_VERSION,
    });
    // Its owner may be of a newer version, and hasn't been notified of the message.
    if (record === null) hintOwner(id);
    return record;
  }

  /** See `PostedMessage.onlyEventOf`. */
  noteOnlyEvent(claimed: InstanceRecord, nameKey: string): void {
    this.#onlyEvents.set(claimed, nameKey);
  }

  /** Starts work on an instance of this node. */
  async activate(record: InstanceRecord): Promise<void> {
    const { findDefinition, isStopping, unfinished, quarantine, residents } = this.#options;
    if (residents.has(record.id)) return;
    if (isStopping()) {
      unfinished();
      return;
    }
    const definition = await quarantine.definitionOf(record, findDefinition);
    if (definition !== null) await this.#wakeUp(record, definition);
  }

  /** True if a newer server has written the instance. It is left unclaimed, for a node that can read it. */
  isNewer({ id, schemaVersion }: Pick<InstanceRecord, 'id' | 'schemaVersion'>): boolean {
    if (schemaVersion <= STATE_VERSION) return false;
    const { environment, quarantine } = this.#options;
    // Warn once: a dead node's work is checked repeatedly.
    if (quarantine.has(id)) return true;
    quarantine.leave(id);
    environment.logger.error(
      { workflowId: id, schemaVersion, known: STATE_VERSION },
      'ignoring an instance that a newer version of the server wrote',
    );
    return true;
  }

  async #wakeUp(record: InstanceRecord, definition: WorkflowDefinition): Promise<void> {
    const { coming, environment, owner, quarantine, residents, takeOver } = this.#options;
    const { clock, logger } = environment;
    let actor: InstanceActor;
    try {
      const session = restoreSession(definition, await readStored(record), clock.now());
      const onlyEventOf = this.#onlyEvents.get(record);
      if (onlyEventOf !== undefined) markSearched(session, onlyEventOf);
      actor = new InstanceActor(environment, owner, session, { kind: 'loaded', record });
    } catch (error) {
      logger.error({ workflowId: record.id, err: error }, 'unreadable state');
      const message = 'the stored state cannot be read';
      await quarantine.suspend(record, { type: 'UnreadableState', message });
      return;
    }
    if (residents.has(record.id)) return;
    if (takeOver().hasClaimed(record)) environment.takenOver(actor.session.instance, definition);
    coming(record.id);
    residents.keep(actor);
    residents.memory.seat({
      id: record.id,
      rootId: record.rootId ?? record.id,
      bytes: recordCost(record),
    });
    // A commit must replace a wake time that has passed. Otherwise, every scan would find it.
    const isDue = record.wakeAt !== null && record.wakeAt <= clock.now();
    const isMarked = record.underWay && !hasUnderWay(actor.session.instance);
    actor.receiveInbox(record.inbox, isDue || isMarked || record.crashes > 0);
    actor.wake();
  }
}
