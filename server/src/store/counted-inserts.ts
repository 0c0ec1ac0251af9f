/**
 * Inserts that depend on how many open descendants a root has. Counting and inserting are two steps here, so the inserts of
 * one root run in rounds: one count, then as many inserts at once as fit. This process never exceeds the limit; other
 * processes count concurrently, and each may exceed it by one round.
 */
import { INSERTS_PER_COUNT } from './records/instances.js';

/** The open descendants of a root; reads no more than `max`. */
export type CountOpenDescendants = (rootId: string, max: number) => Promise<number>;

interface WaitingInsert {
  /** Performs the insert; never rejects. */
  readonly go: () => Promise<void>;
  readonly refuse: () => void;
  readonly fail: (error: unknown) => void;
}

export class CountedInserts {
  readonly #count: CountOpenDescendants;
  readonly #waiting = new Map<string, WaitingInsert[]>();

  constructor(count: CountOpenDescendants) {
    this.#count = count;
  }

  /** Null: the root already has `max` open descendants. */
  insert<Result>(
    rootId: string,
    max: number,
    insert: () => Promise<Result>,
  ): Promise<Result | null> {
    return new Promise((resolve, reject) => {
      const waiting: WaitingInsert = {
        go: () => insert().then(resolve, reject),
        refuse: () => resolve(null),
        fail: reject,
      };
      const others = this.#waiting.get(rootId);
      if (others !== undefined) {
        others.push(waiting);
        return;
      }
      const line = [waiting];
      this.#waiting.set(rootId, line);
      void this.#serve(rootId, max, line);
    });
  }

  async #serve(rootId: string, max: number, line: WaitingInsert[]): Promise<void> {
    while (line.length > 0) {
      const round = line.splice(0, INSERTS_PER_COUNT);
      try {
        // MongoDB cannot count up to zero.
        const free = max <= 0 ? 0 : max - (await this.#count(rootId, max));
        for (const refused of round.splice(Math.max(free, 0))) refused.refuse();
        await Promise.all(round.map((each) => each.go()));
      } catch (error) {
        for (const each of round) each.fail(error);
      }
    }
    this.#waiting.delete(rootId);
  }
}
