/**
 * Secrets in running instances: marks while inputs are evaluated and stored, values when a call is made, and names in its
 * result.
 *
 *  SM3 A value exists only during a call; stored data never contains it.
 */
import type { Ids } from '../../base/ids.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { SecretSource } from '../../secrets/secret-source.js';
import type { Store } from '../../store/store.js';
import { shownSecret } from '../../secrets/secret-mask.js';
import { conceal, SecretMarks } from './secret-marks.js';
import { SecretMasker } from './secret-masker.js';

export interface SecretsOptions {
  readonly source: SecretSource;
  readonly store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly ids: Pick<Ids, 'newSecret'>;
}

const KEY = 'marks';

export class Secrets {
  readonly masker: SecretMasker;
  readonly #options: SecretsOptions;
  #marks: Promise<SecretMarks> | null = null;

  constructor(options: SecretsOptions) {
    this.#options = options;
    this.masker = new SecretMasker(options.source);
  }

  /** The current names, in ascending order. */
  names(): readonly string[] {
    return this.#options.source.names();
  }

  /**
   * The variable `secrets` for expressions that use these secrets, once with drafts of marks, once with the text shown to
   * users; `sealed` replaces drafts with this step execution's marks. Missing secrets are omitted. @throws
   * StoreUnavailableError
   */
  async variables(
    named: readonly string[],
    execution: string,
  ): Promise<{
    readonly marked: JsonObject;
    readonly shown: JsonObject;
    readonly missing: readonly string[];
    readonly sealed: (text: string) => string | null;
  }> {
    const marks = await this.#marksOfStore();
    const { ids, source } = this.#options;
    const drafts = new SecretMarks(ids.newSecret());
    const missing = named.filter((name) => source.value(name) === null);
    const names = named.filter((name) => !missing.includes(name));
    return {
      marked: Object.fromEntries(names.map((name) => [name, drafts.mark(name, execution)])),
      shown: Object.fromEntries(names.map((name) => [name, shownSecret(name)])),
      missing,
      sealed: (text) => drafts.exchange(text, execution, marks),
    };
  }

  /** The inputs of a call, with its secret values. @throws MissingSecretError, StoreUnavailableError */
  async fill<Value extends Json>(value: Value, execution: string): Promise<Value> {
    if (!SecretMarks.mayMark(value)) return value;
    const { source } = this.#options;
    return (await this.#marksOfStore()).fill(value, execution, (name) => source.value(name));
  }

  conceal<Value extends Json>(value: Value): Value {
    return conceal(value);
  }

  /** All nodes on a store use one key, so that each can fill in marks of another. */
  #marksOfStore(): Promise<SecretMarks> {
    this.#marks ??= this.#loadKey().then((key) => new SecretMarks(key));
    this.#marks.catch(() => (this.#marks = null));
    return this.#marks;
  }

  async #loadKey(): Promise<string> {
    const { ids, store } = this.#options;
    const known = await store.getResource('secret-key', KEY);
    if (known !== null) return known.body;
    const body = ids.newSecret();
    const record = { kind: 'secret-key', name: KEY, revision: 1, expiresAt: null, body } as const;
    if (await store.saveResource(record, null)) return body;
    // Another node stored it first.
    return (await store.getResource('secret-key', KEY))?.body ?? body;
  }
}
