/** Definitions. Stateless: the server holds all state. */
import type {
  DefinitionCheck,
  DefinitionDocument,
  DefinitionSummary,
  OpenSteps,
  RegisteredDefinition,
} from '../api-types.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

type DefinitionBody =
  | { readonly json: DefinitionDocument }
  | { readonly text: string; readonly mediaType: 'application/json' | 'application/yaml' };

/** How warnings in a definition are handled. */
interface StrictOption {
  /**
   * Treats warnings as errors: rejects a definition that has warnings, with `ApiError` `invalid_definition`.
   * @default false
   */
  readonly strict?: boolean;
}

interface OriginOption {
  /** Where the definition comes from, such as a commit. Stored with the version; at most 200 characters. */
  readonly origin?: string;
}

/** Stores, validates and reads definitions: `client.definitions`. */
export class DefinitionsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Stores a definition as the next version of its id. Open runs keep their version.
   *
   * @param definition an object, or a text in JSON or YAML
   * @throws ApiError `invalid_definition`, with all problems in `errors`
   *
   * @example
   * ```ts
   * const { id, version } = await client.definitions.register(`
   * id: hello
   * steps:
   *   - id: greet
   *     stepType: EmitLog
   *     inputs:
   *       Message: '"Hello " + data.name'
   * `);
   * console.log(id, version);
   * ```
   */
  register(
    definition: DefinitionDocument | string,
    { origin, strict, ...options }: IdempotentCallOptions & StrictOption & OriginOption = {},
  ): Promise<RegisteredDefinition> {
    return this.#transport.call(
      'post',
      '/api/definition',
      {
        body: definitionBody(definition),
        query: { origin, ...(strict === true && { strict }) },
        repeatable: 'always',
        subject: {},
        idempotencyKey: options.idempotencyKey ?? newIdempotencyKey(),
      },
      options,
    );
  }

  /**
   * Validates a definition like `register`, but does not store it.
   *
   * @example
   * ```ts
   * const { valid, errors } = await client.definitions.validate('{"id": "broken", "steps": []}');
   * if (!valid) for (const { message } of errors) console.log(message);
   * ```
   */
  validate(
    definition: DefinitionDocument | string,
    { strict, ...options }: CallOptions & StrictOption = {},
  ): Promise<DefinitionCheck> {
    return this.#transport.call(
      'post',
      '/api/definition/validate',
      {
        body: definitionBody(definition),
        ...(strict === true && { query: { strict } }),
        repeatable: 'always',
        subject: {},
      },
      options,
    );
  }

  /**
   * Disables a definition: none of its versions can be started. Open runs continue.
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const { disabled } = await client.definitions.disable('greeting');
   * console.log(disabled); // true
   * await client.definitions.enable('greeting');
   * ```
   */
  disable(definitionId: string, options: CallOptions = {}): Promise<DefinitionDocument> {
    return this.#transport.call(
      'put',
      '/api/definition/{id}/disable',
      { path: { id: definitionId }, repeatable: 'always', subject: { definitionId } },
      options,
    );
  }

  /**
   * Enables a disabled definition.
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const { disabled } = await client.definitions.enable('greeting');
   * console.log(disabled); // false
   * ```
   */
  enable(definitionId: string, options: CallOptions = {}): Promise<DefinitionDocument> {
    return this.#transport.call(
      'put',
      '/api/definition/{id}/enable',
      { path: { id: definitionId }, repeatable: 'always', subject: { definitionId } },
      options,
    );
  }

  /**
   * Returns a definition: its latest version, or the given `version`.
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const definition = await client.definitions.get('greeting');
   * console.log(definition.steps.map((step) => step.id));
   * ```
   */
  get(
    definitionId: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<DefinitionDocument> {
    return this.#transport.call(
      'get',
      '/api/definition/{id}',
      {
        path: { id: definitionId },
        query: { version },
        repeatable: 'always',
        subject: { definitionId },
      },
      options,
    );
  }

  /**
   * Returns a definition as it was posted, including comments and member order: its latest version, or the given `version`. For
   * versions that were stored before the server kept source texts, returns the canonical form in JSON.
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const text = await client.definitions.source('greeting');
   * console.log(text);
   * ```
   */
  async source(
    definitionId: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<string> {
    const found: unknown = await this.#transport.call(
      'get',
      '/api/definition/{id}',
      {
        path: { id: definitionId },
        query: { version, source: true },
        repeatable: 'always',
        subject: { definitionId },
      },
      options,
    );
    return typeof found === 'string' ? found : JSON.stringify(found, null, 2);
  }

  /**
   * Returns a TypeScript module with the types of a definition: `Input` (the start data), `Data` (the data of a run) and
   * `Activities` (the parameters of each activity, where they are literal).
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const text = await client.definitions.types('greeting');
   * console.log(text.includes('export type Input')); // true
   * ```
   */
  types(
    definitionId: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<string> {
    return this.#transport.call(
      'get',
      '/api/definition/{id}/types',
      {
        path: { id: definitionId },
        query: { version },
        repeatable: 'always',
        subject: { definitionId },
      },
      options,
    );
  }

  /**
   * Lists all definitions, each in its latest version.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * for await (const { id, version } of client.definitions.list()) console.log(id, version);
   * ```
   */
  list({
    limit,
    ...options
  }: CallOptions & { readonly limit?: number } = {}): PagedList<DefinitionSummary> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/definition',
        { query: { limit, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Counts open runs by their current steps. `exact` is false if there are more runs than the server counts.
   *
   * @param options `version` counts only runs of this version
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * const { items } = await client.definitions.openSteps('greeting');
   * console.log(items[0]?.stepId, items[0]?.count);
   * ```
   */
  openSteps(
    definitionId: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<OpenSteps> {
    return this.#transport.call(
      'get',
      '/api/definition/{id}/open-steps',
      {
        path: { id: definitionId },
        query: { version },
        repeatable: 'always',
        subject: { definitionId },
      },
      options,
    );
  }

  /**
   * Lists all versions of a definition, newest first.
   *
   * @param options `limit` is the page size
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * for await (const { version, createdAt } of client.definitions.versions('greeting')) {
   *   console.log(version, createdAt);
   * }
   * ```
   */
  versions(
    definitionId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): PagedList<DefinitionSummary> {
    const path = { id: definitionId };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/definition/{id}/versions',
        { path, query: { limit, cursor }, repeatable: 'always', subject: { definitionId } },
        options,
      ),
    );
  }
}

/** JSON is valid YAML too, but the server parses YAML more slowly and with lower limits. */
function definitionBody(definition: DefinitionDocument | string): DefinitionBody {
  if (typeof definition !== 'string') return { json: definition };
  return {
    text: definition,
    mediaType: isJson(definition) ? 'application/json' : 'application/yaml',
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
