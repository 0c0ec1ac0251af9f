/**
 * Hints waiting to be sent to the other nodes: each once, packed into as few notifications as possible.
 *
 * A notification must be shorter than 8,000 bytes. Payloads are ASCII, so that their length is the same in every
 * encoding of a database.
 */
import type { ChangeBatch, Hint } from '../backplane.js';

/** PostgreSQL rejects payloads of 8,000 bytes or more. */
export const PAYLOAD_LENGTH_MAX = 7999;
/** Beyond this length, hints are dropped: nothing has been sent for a while. */
const PENDING_LENGTH_MAX = 2 * 1024 * 1024;

export class HintPayloads {
  readonly #head: string;
  readonly #pending = new Set<string>();
  #pendingLength = 0;

  constructor(sender: string) {
    this.#head = `{"sender":${asciiJson(sender)},"hints":[`;
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Returns false if the hint cannot be sent. A hint that is already waiting is not added again. */
  add(hint: Hint): boolean {
    if (hint.kind !== 'changes') return this.#addText(asciiJson(hint));
    return this.#addChanges(hint.changes);
  }

  /** The next payloads, at most this many, and the number of hints in them. */
  take(payloadsMax: number): { readonly payloads: readonly string[]; readonly hints: number } {
    const payloads: string[] = [];
    let hints = 0;
    let texts: string[] = [];
    let length = 0;
    const close = (): void => {
      payloads.push(`${this.#head}${texts.join(',')}]}`);
      hints += texts.length;
      texts = [];
      length = 0;
    };
    for (const text of this.#pending) {
      if (texts.length > 0 && length + text.length + 1 > this.#room) {
        close();
        if (payloads.length === payloadsMax) break;
      }
      texts.push(text);
      length += text.length + 1;
      this.#pending.delete(text);
      this.#pendingLength -= text.length;
    }
    if (texts.length > 0) close();
    return { payloads, hints };
  }

  /** A payload without hints. */
  empty(): string {
    return `${this.#head}]}`;
  }

  /** The space for hints as text, including a comma after each. */
  get #room(): number {
    return PAYLOAD_LENGTH_MAX - this.#head.length - 2;
  }

  /** Halves a batch that does not fit. If it cannot be halved, a notice that something has changed replaces it. */
  #addChanges({ definitions, lagged, workflows }: ChangeBatch): boolean {
    const text = asciiJson({ kind: 'changes', changes: { workflows, definitions, lagged } });
    if (text.length < this.#room) return this.#addText(text);
    if (workflows.length + definitions.length === 1) {
      return this.#addChanges({ workflows: [], definitions: [], lagged: true });
    }
    const half = (length: number): number => Math.ceil(length / 2);
    const [workflowsHalf, definitionsHalf] = [half(workflows.length), half(definitions.length)];
    const first = this.#addChanges({
      workflows: workflows.slice(0, workflowsHalf),
      definitions: definitions.slice(0, definitionsHalf),
      lagged,
    });
    const second = this.#addChanges({
      workflows: workflows.slice(workflowsHalf),
      definitions: definitions.slice(definitionsHalf),
      lagged,
    });
    return first && second;
  }

  #addText(text: string): boolean {
    if (text.length >= this.#room) return false;
    if (this.#pending.has(text)) return true;
    if (this.#pendingLength + text.length > PENDING_LENGTH_MAX) return false;
    this.#pending.add(text);
    this.#pendingLength += text.length;
    return true;
  }
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
