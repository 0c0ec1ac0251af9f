/**
 * Where the value of a secret belongs in evaluated inputs, until the call is made.
 *
 *  SM1 A mark is made of a key that only servers know, the secret's name and the step execution. So data that looks like one
 *      is not replaced: nobody who can only send data can have a secret put into it.
 *  SM2 Marks contain no part of a secret. People never see them: `conceal` shows `***NAME***` instead.
 *  SM4 Expressions see drafts of marks, made of a key that is used once: whatever they make of one, such as its reverse, says nothing
 *      about a mark, which appears only where a draft is whole.
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

  /** Whether there may be marks in it: cheap, and rarely wrong. */
  static mayMark(value: Json): boolean {
    if (typeof value === 'string') return value.includes('***');
    if (Array.isArray(value)) return value.some((item: Json) => SecretMarks.mayMark(item));
    return isJsonObject(value) && Object.values(value).some((item) => SecretMarks.mayMark(item));
  }

  /** @param execution the step execution that the inputs belong to */
  mark(name: string, execution: string): string {
    return `***${name}:${this.#proof(name, execution)}***`;
  }

  /** Puts the values of secrets in the place of their marks. @throws MissingSecretError */
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

  /** The text with the marks of others in the place of these; null if it has none of this execution. */
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

/** There is no secret of that name, or not any more. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError' as const;

  constructor(readonly secret: string) {
    super(
      `there is no secret named ${secret}; the operator must add it to secrets_dir, or as secret_${secret}`,
    );
  }
}

/** The value as people see it. */
export function conceal<Value extends Json>(value: Value): Value {
  return mapTexts(value, (text) =>
    text.replaceAll(MARK, (_mark: string, name: string) => shownSecret(name)),
  ) as Value;
}

/**
 * Of the inputs that were evaluated twice, with drafts of marks and with what people see: marks where drafts are whole, otherwise
 * what a function has made of the shown text.
 * @param sealed the text with marks in the place of drafts; null if it has none
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
  // Names that are made of secrets differ: then the order says which belong together.
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
