/** How many nodes in a row died while they had an instance, and what clears it of that. */
import type { WorkflowInstance } from '../../engine/model/instance.js';
import { executionKey } from '../../engine/model/pointer.js';
import { isUnderWay } from '../instances/under-way.js';

export class CrashCount {
  #value: number;
  /** What was under way when the nodes died: until it has ended, no commit clears the instance. */
  readonly #suspects: ReadonlySet<string>;

  constructor(value: number, instance: WorkflowInstance) {
    this.#value = value;
    this.#suspects = new Set(value === 0 ? [] : underWay(instance));
  }

  /** As the store has it. */
  get value(): number {
    return this.#value;
  }

  /**
   * What a commit of the instance writes.
   * @param goesOn it has more to do at once: what stops servers may be the very next step
   */
  next(instance: WorkflowInstance, goesOn: boolean): number {
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

function underWay({ id, pointers }: WorkflowInstance): readonly string[] {
  return [...pointers.values()].filter(isUnderWay).map((pointer) => executionKey(id, pointer));
}
