/** Asks why many runs wait: the rows of a list that ask at the same moment share one call. */
import type { Explanation, StepwrightClient } from '@stepwright/sdk';

/** The server explains so many runs in one call. */
const IDS_MAX = 50;

interface Question {
  readonly workflowId: string;
  readonly signal: AbortSignal;
  readonly resolve: (explanation: Explanation | null) => void;
  readonly reject: (error: unknown) => void;
}

class Questions {
  readonly #client: StepwrightClient;
  #open: Question[] = [];
  #isAsking = false;

  constructor(client: StepwrightClient) {
    this.#client = client;
  }

  add(question: Question): void {
    this.#open.push(question);
    if (this.#isAsking) return;
    this.#isAsking = true;
    // The other rows of the list ask within the same turn of the event loop.
    setTimeout(() => void this.#askAll());
  }

  /** One call after another: other calls of the page must not wait behind these. */
  async #askAll(): Promise<void> {
    while (this.#open.length > 0) {
      // Rows that have left the list need no answer.
      this.#open = this.#open.filter(({ signal }) => !signal.aborted);
      const asked = this.#open.splice(0, IDS_MAX);
      if (asked.length > 0) await this.#ask(asked);
    }
    this.#isAsking = false;
  }

  async #ask(asked: readonly Question[]): Promise<void> {
    try {
      const ids = [...new Set(asked.map(({ workflowId }) => workflowId))];
      const { items, left } = await this.#client.workflows.explainMany(ids);
      const found = new Map(items.map((item) => [item.workflowId, item]));
      for (const question of asked) {
        if (left.includes(question.workflowId)) this.#open.push(question);
        else question.resolve(found.get(question.workflowId) ?? null);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

const questions = new WeakMap<StepwrightClient, Questions>();

/** Why a run waits; null if there is no such run any more. */
export function explainTogether(
  client: StepwrightClient,
  workflowId: string,
  signal: AbortSignal,
): Promise<Explanation | null> {
  const asked = questions.get(client) ?? new Questions(client);
  questions.set(client, asked);
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    asked.add({ workflowId, signal, resolve, reject });
  });
}
