/**
 * Placeholders for secret values in evaluated inputs, until the call is made.
 *
 *  SM1 A mark is derived from a key that only servers know, the secret's name and the step execution. So data that looks like a
 *      mark isn't replaced: senders of data can't inject secrets into it.
 *  SM2 Marks contain no part of a secret. Users never see them: `conceal` shows `***NAME***` instead.
 *  SM4 Expressions see drafts of marks, derived from a one-time key: a transformed draft, such as its reverse, reveals nothing
 *      about the mark, which replaces only complete drafts.
 */
import { createHmac } from 'node:crypto';
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';
import { shownSecret } from '../../secrets/secret-mask.js';

const PROOF_LENGTH = 22;
const MARK = /\*\*\*([A-Za-z]\w{0,99}):([\w-]{22})\*\*\*/g;

export class SecretMarks {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /** True if the value may contain marks: cheap, with rare false positives. */
  static mayMark(value: Json): boolean {
    if (typeof value === 'string') return value.includes('***');
    if (Array.isArray(value)) return value.some((item: Json) => SecretMarks.mayMark(item));
    return isJsonObject(value) && Object.values(value).some((item) => SecretMarks.mayMark(item));
  }

  /** @param execution the step execution that the inputs belong to */
  mark(name: string, execution: string): string {
    return `***${name}:${this.#proof(name, execution)}***`;
  }

  /** Replaces marks with secret values. @throws MissingSecretError */
  fill<Value extends Json>(
    value: Value,
    execution: string,
    find: (name: string) => string | null,
  ): Value {
    const replace = (text: string): string =>
      text.replaceAll(MARK, (mark: string, name: string, proof: string) => {
        if (proof !== this.#proof(name, execution)) return mark;
        const secret = find(name);
        if (secret === null) throw new MissingSecretError(name);
        return secret;
      });
    return mapTexts(value, replace) as Value;
  }

  /** The text with these marks replaced by `others`' marks; null if it has none of this execution. */
  exchange(text: string, execution: string, others: SecretMarks): string | null {
    const names: string[] = [];
    const exchanged = text.replaceAll(MARK, (mark: string, name: string, proof: string) => {
      if (proof !== this.#proof(name, execution)) return mark;
      names.push(name);
      return others.mark(name, execution);
    });
    return names.length > 0 ? exchanged : null;
  }

  #proof(name: string, execution: string): string {
    const hmac = createHmac('sha256', this.#key).update(JSON.stringify([name, execution]));
    return hmac.digest('base64url').slice(0, PROOF_LENGTH);
  }
}

/** The secret doesn't exist, or no longer exists. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError' as const;

  constructor(readonly secret: string) {
    super(
      `there is no secret named ${secret}; the operator must add it to secrets_dir, or as secret_${secret}`,
    );
  }
}

/** The value as shown to users. */
export function conceal<Value extends Json>(value: Value): Value {
  return mapTexts(value, (text) =>
    text.replaceAll(MARK, (_mark: string, name: string) => shownSecret(name)),
  ) as Value;
}

/**
 * Merges two evaluations of the inputs, with drafts of marks and with the text shown to users: marks where drafts are complete,
 * otherwise the result for the shown text.
 * @param sealed returns the text with drafts replaced by marks; null if it has none
 */
export function preferMarks(
  marked: Json,
  shown: Json,
  sealed: (text: string) => string | null,
): Json {
  if (typeof marked === 'string') return sealed(marked) ?? shown;
  if (Array.isArray(marked) && Array.isArray(shown) && marked.length === shown.length) {
    const others: readonly Json[] = shown;
    return marked.map((item: Json, index) => preferMarks(item, others[index] ?? null, sealed));
  }
  if (!isJsonObject(marked) || !isJsonObject(shown)) return shown;
  const names = Object.keys(shown);
  const own = Object.keys(marked);
  // Names that contain secrets differ; then the order matches them up.
  if (names.length !== own.length) return shown;
  const merged: JsonObject = {};
  for (const [index, name] of names.entries()) {
    const value = preferMarks(marked[own[index] ?? name] ?? null, shown[name] ?? null, sealed);
    setField(merged, name, value);
  }
  return merged;
}

function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return value.includes('***') ? map(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, map));
  if (!isJsonObject(value)) return value;
  const mapped: JsonObject = {};
  for (const [name, member] of Object.entries(value)) setField(mapped, name, mapTexts(member, map));
  return mapped;
}
