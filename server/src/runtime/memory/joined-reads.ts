/**
 * Reads of the same thing that a caller's requests wait for at the same time become one read, with one result for all of
 * them.
 *
 * A read can be joined until it begins: so each request sees what was stored when it asked, or later. The result is held
 * until all of them have been answered.
 */
import { currentCaller, runForCaller, type Caller } from '../../base/limits/current-caller.js';
import type { HeldMemory } from '../../base/limits/held-memory.js';

/** @param begins to be called before the read begins */
type Read<View> = (begins: () => void) => Promise<View>;

interface JoinedRead<View> {
  readonly view: Promise<View>;
  readonly memory: HeldMemory;
  readonly gone: AbortController;
  readers: number;
}

export class JoinedReads<View> {
  readonly #waiting = new Map<string, JoinedRead<View>>();

  async read(id: string, read: Read<View>): Promise<View> {
    const caller = currentCaller();
    if (caller === null) return read(() => undefined);
    const key = JSON.stringify([caller.key, id]);
    const joined = this.#waiting.get(key) ?? this.#start(key, caller, read);
    joined.readers += 1;
    const leave = (): void => {
      joined.readers -= 1;
      if (joined.readers > 0) return;
      this.#forget(key, joined);
      joined.gone.abort();
    };
    caller.gone.addEventListener('abort', leave, { once: true });
    try {
      const view = await joined.view;
      caller.memory.share(joined.memory);
      return view;
    } finally {
      caller.gone.removeEventListener('abort', leave);
    }
  }

  #start(key: string, caller: Caller, read: Read<View>): JoinedRead<View> {
    const gone = new AbortController();
    const memory = caller.memory.shareable(gone.signal);
    const release = memory.hold();
    const { address, key: callerKey } = caller;
    const readers = { key: callerKey, address, gone: gone.signal, memory };
    const view = runForCaller(readers, () => read(() => this.#forget(key, joined)));
    const joined: JoinedRead<View> = { view, memory, gone, readers: 0 };
    this.#waiting.set(key, joined);
    const ended = (): void => {
      this.#forget(key, joined);
      // Those who wait for the view hold its memory before this turn is over.
      setImmediate(release);
    };
    view.then(ended, ended);
    return joined;
  }

  #forget(key: string, joined: JoinedRead<View>): void {
    if (this.#waiting.get(key) === joined) this.#waiting.delete(key);
  }
}
