/**
 * Brings changes of instances to whoever does their work: the actor on this node, the owner on another node, or this node itself,
 * which takes an instance that rests.
 *
 *  R15 Whoever adds a message to an instance that rests takes it: the claim increments the epoch, so the former owner can't write
 *      any more. The step that adds the message also claims, if it is told who does (S13); otherwise, a claim follows. Nobody takes
 *      an instance that has other messages or work under way, not even by the claim that follows: its owner does the work, and
 *      its effects would be repeated. A message is therefore seen by the claim that follows it, or by the owner, who is notified.
 *  R16 What a node keeps of a resting instance is a cache. An older epoch than the stored one makes it worthless.
 */
import type { Clock } from '../../base/clock.js';
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import type { InstanceRecord, InstanceSummary } from '../../store/records/instances.js';
import { OVERFLOW_MESSAGE, type InboxMessage } from '../../store/records/messages.js';
import type { MessageClaimer, PostedMessage } from '../../store/records/posted-messages.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import type { Quarantine } from './quarantine.js';
import type { InstanceActor } from './instance-actor.js';
import type { InstanceLoader } from './instance-loader.js';
import { claimOnce, type InstanceLoads } from './instance-loads.js';
import type { ResidentSet } from './resident-set.js';
import type { UncertainWrites } from './uncertain-writes.js';

export interface ChangeDispatchOptions {
  readonly clock: Clock;
  readonly loader: Pick<InstanceLoader, 'load' | 'noteOnlyEvent' | 'take'>;
  readonly loads: Pick<InstanceLoads, 'bring' | 'bringClaimed' | 'isBusy'>;
  readonly nodes: Pick<NodeRegistry, 'id' | 'isAlive' | 'isEstablished' | 'others'>;
  readonly quarantine: Pick<Quarantine, 'forget'>;
  readonly residents: Pick<ResidentSet, 'get' | 'forget'>;
  readonly uncertain: Pick<UncertainWrites, 'read'>;
  readonly hintOwner: (instanceId: string, owner?: string) => void;
  readonly inboxOverflowed: () => void;
  readonly isStopping: () => boolean;
}

export class ChangeDispatch {
  readonly #options: ChangeDispatchOptions;

  constructor(options: ChangeDispatchOptions) {
    this.#options = options;
  }

  /** Who claims the instances of messages that this node is about to add; undefined: nobody. */
  get claimer(): MessageClaimer | undefined {
    if (!this.#mayTake()) return undefined;
    const { id: owner, others } = this.#options.nodes;
    if (others.length === 0) return undefined;
    return { owner, from: others.map(({ id }) => id), schemaVersionMax: STATE_VERSION };
  }

  /** Called when a message was stored for an instance. */
  posted(
    { claimed, epoch, inSeq, instanceId, onlyEventOf, overflowed, owner, rested }: PostedMessage,
    message: InboxMessage,
  ): void {
    const added = overflowed === true ? OVERFLOW_MESSAGE : message;
    if (overflowed === true) this.#options.inboxOverflowed();
    const actor = this.currentActor(instanceId, epoch);
    if (actor?.epoch === epoch) {
      actor.deliver({ ...added, inSeq });
      return;
    }
    actor?.refresh();
    if (claimed !== undefined && actor === undefined) this.#bring(claimed, onlyEventOf);
    else if (rested && actor === undefined && this.#mayTakeFrom(owner)) {
      this.#take(instanceId, epoch);
    }
    // The owner was notified of the messages that filled the inbox.
    else if (overflowed !== true) this.#notifyOwner(instanceId, owner);
  }

  /** Called when the status of an instance was changed in the store. */
  controlled({ id, owner }: Pick<InstanceSummary, 'id' | 'owner'>): void {
    const actor = this.#options.residents.get(id);
    this.#options.quarantine.forget(id);
    actor?.controlled();
    if (actor === undefined || (owner !== null && this.isElsewhere(owner))) {
      this.#notifyOwner(id, owner);
    }
  }

  /** Called for a hint of another node. */
  heard({ id, owner }: { readonly id: string; readonly owner?: string }): void {
    if (owner === undefined || owner === this.#options.nodes.id) this.check(id);
  }

  /** The instance may have changed: checks it if this node owns it or if it has no owner. */
  check(id: string): void {
    const { clock, loader, loads, residents, uncertain } = this.#options;
    const actor = residents.get(id);
    if (actor === undefined) void loads.bring(id, () => loader.load(id));
    else {
      actor.refresh();
      uncertain.read(id, clock.now());
    }
  }

  /** The actor of an instance here, unless it is at rest and the stored epoch, which is given, is a later one (R16). */
  currentActor(id: string, epoch: number): InstanceActor | undefined {
    const { residents } = this.#options;
    const actor = residents.get(id);
    if (actor === undefined || !actor.isDisposable || actor.epoch >= epoch) return actor;
    actor.abandon();
    residents.forget(actor);
    return undefined;
  }

  /** True if another node that is alive has this id. */
  isElsewhere(owner: string): boolean {
    const { nodes } = this.#options;
    return owner !== nodes.id && nodes.isAlive(owner);
  }

  /**
   * A busy node leaves the work to the owner, so that one event for many instances doesn't bring all of them here. So does a new
   * node: an owner that doesn't know it yet takes its own instances for unchanged.
   */
  #mayTake(): boolean {
    const { isStopping, loads, nodes } = this.#options;
    return nodes.isEstablished && !loads.isBusy && !isStopping();
  }

  #mayTakeFrom(owner: string | null): boolean {
    return owner !== null && this.isElsewhere(owner) && this.#mayTake();
  }

  #bring(claimed: InstanceRecord, onlyEventOf?: string): void {
    if (onlyEventOf !== undefined) this.#options.loader.noteOnlyEvent(claimed, onlyEventOf);
    this.#options.quarantine.forget(claimed.id);
    void this.#options.loads.bringClaimed(claimed);
  }

  #take(id: string, epoch: number): void {
    const { loader, loads, quarantine } = this.#options;
    quarantine.forget(id);
    const take = claimOnce(
      () => loader.take(id, epoch),
      () => loader.load(id),
    );
    void loads.bring(id, take);
  }

  /** An instance that is not in memory here is checked by its owner, or by this node if it has none. */
  #notifyOwner(id: string, owner: string | null): void {
    this.#options.quarantine.forget(id);
    if (owner !== null && this.isElsewhere(owner)) this.#options.hintOwner(id, owner);
    else this.check(id);
  }
}
