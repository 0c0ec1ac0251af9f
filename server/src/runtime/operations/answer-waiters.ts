/** Callers that wait until a run has taken their message. */
import type { Clock } from '../../base/clock.js';

export class AnswerWaiters<Answer> {
  readonly #clock: Clock;
  /** By id of the message. A repeated request may wait at the same time as the first one. */
  readonly #waiting = new Map<string, Set<(answer: Answer | null) => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a commit on this node contains the answer; null: at the given time. */
  wait(id: string, until: number): Promise<Answer | null> {
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    return new Promise((resolve) => {
      const wake = (answer: Answer | null): void => {
        cancelTimer();
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
        resolve(answer);
      };
      const cancelTimer = this.#clock.at(until, () => wake(null));
      waiting.add(wake);
    });
  }

  /** Called when a commit contains the answer to this message. */
  answered(id: string, answerOf: () => Answer): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const answer = answerOf();
    for (const wake of [...waiting]) wake(answer);
  }
}
