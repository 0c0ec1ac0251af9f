/**
 * The texts of statements as they are sent: with the schema of the tables, and by name if they are used often.
 *
 * A name stands for the same text everywhere: behind a pooler, other nodes and other servers may use the same session.
 */
import { createHash } from 'node:crypto';

/** Uses before a statement is prepared. */
const USES_BEFORE_PREPARING = 20;
/** Each costs the server memory on each connection. */
const PREPARED_MAX = 60;

export interface SentText {
  readonly text: string;
  /** Absent if the statement isn't prepared. */
  readonly name?: string;
}

interface KnownText {
  uses: number;
  sent: SentText;
}

export class PreparedTexts {
  readonly #schema: string;
  readonly #known = new Map<string, KnownText>();
  #prepared = 0;
  #prepares = true;

  constructor(schema: string) {
    this.#schema = schema;
  }

  use(text: string, mayPrepare: boolean): SentText {
    // Such texts are many, and each is used seldom.
    if (!mayPrepare) return { text: qualify(text, this.#schema) };
    let known = this.#known.get(text);
    if (known === undefined) {
      known = { uses: 0, sent: { text: qualify(text, this.#schema) } };
      this.#known.set(text, known);
    }
    if (!this.#prepares || this.#prepared === PREPARED_MAX) return known.sent;
    known.uses += 1;
    if (known.uses === USES_BEFORE_PREPARING) {
      this.#prepared += 1;
      known.sent = { text: known.sent.text, name: nameOf(known.sent.text) };
    }
    return known.sent;
  }

  /** Stops permanently, because a pooler in between doesn't keep prepared statements. */
  stopPreparing(): void {
    this.#prepares = false;
    for (const known of this.#known.values()) known.sent = { text: known.sent.text };
  }
}

/** Names have at most 63 bytes. */
function nameOf(text: string): string {
  return `stepwright_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

/** `@instances` in a statement stands for `"schema".instances`. */
export function qualify(text: string, schema: string): string {
  return text.replaceAll(/@(?=[a-z])/g, () => `${quoteName(schema)}.`);
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
