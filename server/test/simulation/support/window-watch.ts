/** Watches the stored runs of `debounced.ts`: which have an open window (I20). */
import { isLive, type InstanceRecord } from '../../../src/store/records/instances.js';
import { DEBOUNCED, DEBOUNCED_LAST } from './debounced.js';
import { hold } from './violation.js';

const WATCHED: ReadonlySet<string> = new Set([DEBOUNCED, DEBOUNCED_LAST]);

export class WindowWatch {
  /** The open windows, by id of their runs. */
  readonly #open = new Map<string, string>();

  /** Called after each write that has changed an instance. */
  changed(what: string, before: InstanceRecord | null, after: InstanceRecord): void {
    const { debounceKey, definitionId, id, status } = after;
    if (!WATCHED.has(definitionId)) return;
    const text = (): string => `${what} of ${id}, key '${debounceKey ?? ''}'`;
    const wasOpen = before === null || before.debounceKey !== null;
    hold(debounceKey === null || wasOpen, 'I20 a closed window stays closed', text);
    const isOpen = debounceKey !== null && isLive(status);
    if (!isOpen) {
      this.#open.delete(id);
      return;
    }
    hold(waitsForStart(after), 'I20 the window of a run that has begun is closed', text);
    const window = JSON.stringify([definitionId, debounceKey]);
    for (const [other, its] of this.#open) {
      const isOwn = other === id;
      hold(isOwn || its !== window, 'I20 at most one window of a key is open', text);
    }
    this.#open.set(id, window);
  }
}

function waitsForStart({ state }: InstanceRecord): boolean {
  // `writeState` wrote it.
  const { nextPointerId, pointers } = JSON.parse(state) as {
    readonly nextPointerId: number;
    readonly pointers: readonly { readonly state: { readonly isStart?: true } }[];
  };
  return nextPointerId === 2 && pointers.some((pointer) => pointer.state.isStart === true);
}
