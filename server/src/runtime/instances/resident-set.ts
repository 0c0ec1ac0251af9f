/**
 * The instances that a node has in memory: each once (R5), within what memory allows.
 *
 * Owns: who is in memory. Must not know: why an instance comes, what it does, who has to make room (`InstanceMemory`).
 */
import { nextTimer } from '../../engine/flow/timers.js';
import { isEnded } from '../../engine/model/instance.js';
import { InstanceMemory } from '../memory/instance-memory.js';
import type { InstanceActor } from './instance-actor.js';
import type { RunnerLimits } from './runner-environment.js';

export interface ResidentSetOptions {
  readonly limits: RunnerLimits;
  /** It is in memory no more, whatever the reason. */
  readonly left: (instanceId: string) => void;
  /** It had to make room, and is due at that time. */
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

  /** All that are in memory, those that have given up their instance included. */
  all(): Iterable<InstanceActor> {
    return this.#actors.values();
  }

  /** The actor that runs an instance here. One that has given it up does not stand in the way of another. */
  get(id: string): InstanceActor | undefined {
    const actor = this.#actors.get(id);
    return actor?.isAbandoned === true ? undefined : actor;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  keep(actor: InstanceActor): void {
    // In the place of one that has given up its instance.
    this.#actors.set(actor.id, actor);
  }

  forget(actor: InstanceActor): void {
    if (this.#actors.get(actor.id) !== actor) return;
    this.#actors.delete(actor.id);
    this.memory.forget(actor.id);
    this.#options.left(actor.id);
  }

  /** Nobody goes on: the node stops. */
  abandonAll(): void {
    for (const actor of this.#actors.values()) actor.abandon();
    this.#actors.clear();
  }

  /** A commit has changed what the instance takes of the memory. */
  grown(actor: InstanceActor): void {
    if (this.get(actor.id) === actor) this.memory.set(actor.id, actor.memory.stateCost);
  }

  /** Whether the instance may take so many bytes, all in all. */
  mayGrow(actor: InstanceActor, bytes: number): boolean {
    return this.#actors.get(actor.id) !== actor || this.memory.mayGrow(actor.id, bytes);
  }

  /** It rests: it may have to make room for others, and leaves when it has ended. */
  parked(actor: InstanceActor): void {
    if (!actor.isDisposable) return;
    if (isEnded(actor.run.instance)) this.forget(actor);
    else this.memory.parked(actor.id);
  }

  #evict(actor: InstanceActor): void {
    const timer = nextTimer(actor.run);
    this.forget(actor);
    actor.abandon();
    if (timer !== null) this.#options.evicted(actor.id, timer);
  }
}
