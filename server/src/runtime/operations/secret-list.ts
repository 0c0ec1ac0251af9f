/** Lists secrets, and the definitions that use them. */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { planInputs } from '../../engine/model/expression-plan.js';
import { SharedWork } from '../../base/shared-work.js';
import type { SecretSource } from '../../secrets/secret-source.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import { newestDefinitions } from '../definitions/newest-definitions.js';

export interface SecretView {
  readonly name: string;
  /** False: definitions use it, but the server does not have it. */
  readonly isKnown: boolean;
  /** The ids of the definitions whose newest version uses it, in ascending order. */
  readonly definitions: readonly string[];
}

export class SecretList {
  readonly #catalog: Pick<DefinitionCatalog, 'latest' | 'list'>;
  readonly #source: Pick<SecretSource, 'names'>;
  readonly #shared = new SharedWork<readonly SecretView[]>();

  constructor(
    catalog: Pick<DefinitionCatalog, 'latest' | 'list'>,
    source: Pick<SecretSource, 'names'>,
  ) {
    this.#catalog = catalog;
    this.#source = source;
  }

  /** In order of name. Reads every definition, once for concurrent callers. */
  list(): Promise<readonly SecretView[]> {
    return this.#shared.get('all', async (begins) => {
      begins();
      return this.#list();
    });
  }

  async #list(): Promise<readonly SecretView[]> {
    const known = new Set(this.#source.names());
    const uses = new Map<string, string[]>([...known].map((name) => [name, []]));
    for await (const definition of newestDefinitions(this.#catalog)) {
      for (const name of secretsOf(definition)) {
        const users = uses.get(name);
        if (users === undefined) uses.set(name, [definition.id]);
        else users.push(definition.id);
      }
    }
    return [...uses]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, definitions]) => ({ name, isKnown: known.has(name), definitions }));
  }
}

function secretsOf({ steps }: WorkflowDefinition): ReadonlySet<string> {
  const calls = [...steps.values()].filter((step) => traitsOf(step).takesSecrets);
  return new Set(calls.flatMap(({ inputs }) => planInputs(inputs).secretNames));
}
