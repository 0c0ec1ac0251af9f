/** Loads explanations for many runs: list rows that request one at the same time share a call. */
import type { Explanation, StepwrightClient } from '@stepwright/sdk';

/** The maximum number of runs that the server explains in one call. */
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

  /** Calls are sequential, so that other calls of the page don't queue behind them. */
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

/** Why a run is waiting; null if the run no longer exists. */
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
