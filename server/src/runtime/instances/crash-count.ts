/** The number of consecutive nodes that died while they had an instance, and the conditions that clear it. */
import type { Instance } from '../../engine/model/instance.js';
import { executionKey } from '../../engine/model/pointer.js';
import { isUnderWay } from '../instance-state/under-way.js';

export class CrashCount {
  #value: number;
  /** The work in progress when the nodes died: until it has ended, no commit clears the instance. */
  readonly #suspects: ReadonlySet<string>;

  constructor(value: number, instance: Instance) {
    this.#value = value;
    this.#suspects = new Set(value === 0 ? [] : underWay(instance));
  }

  /** The stored value. */
  get value(): number {
    return this.#value;
  }

  /**
   * The value that a commit of the instance writes.
   * @param goesOn true if the instance has more to do immediately: its very next step may be the one that crashes servers
   */
  next(instance: Instance, goesOn: boolean): number {
    if (this.#value === 0) return 0;
    const isSuspect =
      goesOn || underWay(instance).some((execution) => this.#suspects.has(execution));
    return isSuspect ? this.#value : 0;
  }

  written(value: number): void {
    this.#value = value;
  }

  lower(value: number): void {
    this.#value = Math.min(this.#value, value);
  }
}

function underWay({ id, pointers }: Instance): readonly string[] {
  return [...pointers.values()].filter(isUnderWay).map((pointer) => executionKey(id, pointer));
}
