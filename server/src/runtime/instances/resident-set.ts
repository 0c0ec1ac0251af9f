/**
 * The instances that a node has in memory: each at most once (R5), within the memory limit.
 *
 * Owns: the set of instances in memory. Must not know: why an instance is loaded, its work, and the choice of instances to
 * evict (`InstanceMemory`).
 */
import { nextTimer } from '../../engine/flow/timers.js';
import { isEnded } from '../../engine/model/instance.js';
import { InstanceMemory } from '../memory/instance-memory.js';
import type { InstanceActor } from './instance-actor.js';
import type { RunnerLimits } from './runner-environment.js';

export interface ResidentSetOptions {
  readonly limits: RunnerLimits;
  /** Called when the instance is no longer in memory, for whatever reason. */
  readonly removed: (instanceId: string) => void;
  /** Called when the instance was evicted; it is due at `dueAt`. */
  readonly evicted: (instanceId: string, dueAt: number) => void;
}

export class ResidentSet {
  readonly memory: InstanceMemory;
  readonly #options: ResidentSetOptions;
  readonly #actors = new Map<string, InstanceActor>();

  constructor(options: ResidentSetOptions) {
    this.#options = options;
    const { concurrencyMax, instanceMemoryMax, parkedMax } = options.limits;
    this.memory = new InstanceMemory({
      bytesMax: instanceMemoryMax,
      concurrencyMax,
      parkedMax,
      evict: (id) => {
        const actor = this.get(id);
        if (actor?.isDisposable === true) this.#evict(actor);
      },
    });
  }

  get size(): number {
    return this.#actors.size;
  }

  /** All actors in memory, including actors that have given up their instance. */
  all(): Iterable<InstanceActor> {
    return this.#actors.values();
  }

  /** The actor that runs an instance here. An actor that has given up its instance does not block another. */
  get(id: string): InstanceActor | undefined {
    const actor = this.#actors.get(id);
    return actor?.isAbandoned === true ? undefined : actor;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  keep(actor: InstanceActor): void {
    // Replaces an actor that has given up its instance.
    this.#actors.set(actor.id, actor);
  }

  forget(actor: InstanceActor): void {
    if (this.#actors.get(actor.id) !== actor) return;
    this.#actors.delete(actor.id);
    this.memory.forget(actor.id);
    this.#options.removed(actor.id);
  }

  /** Stops all actors, because the node stops. */
  abandonAll(): void {
    for (const actor of this.#actors.values()) actor.abandon();
    this.#actors.clear();
  }

  /** Called when a commit has changed the memory of the instance. */
  grown(actor: InstanceActor): void {
    if (this.get(actor.id) === actor) this.memory.set(actor.id, actor.memory.stateCost);
  }

  /** True if the instance may use this many bytes in total. */
  mayGrow(actor: InstanceActor, bytes: number): boolean {
    return this.#actors.get(actor.id) !== actor || this.memory.mayGrow(actor.id, bytes);
  }

  /** Called when the actor is parked: it may be evicted, and is removed if its instance has ended. */
  parked(actor: InstanceActor): void {
    if (!actor.isDisposable) return;
    if (isEnded(actor.session.instance)) this.forget(actor);
    else this.memory.parked(actor.id);
  }

  #evict(actor: InstanceActor): void {
    const timer = nextTimer(actor.session);
    this.forget(actor);
    actor.abandon();
    if (timer !== null) this.#options.evicted(actor.id, timer);
  }
}
