/** Callers that wait for their modification to be applied. */
import type { Clock } from '../../../base/clock.js';

export class AnswerWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a commit on this node contains the answer, or at the given time. */
  wait(messageId: string, until: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancelTimer();
        this.#waiting.delete(messageId);
        resolve();
      };
      const cancelTimer = this.#clock.at(until, wake);
      this.#waiting.set(messageId, wake);
    });
  }

  /** Called when a commit contains the answers to these messages. */
  answered(answers: readonly { readonly id: string }[]): void {
    if (this.#waiting.size === 0) return;
    for (const { id } of answers) this.#waiting.get(id)?.();
  }
}
