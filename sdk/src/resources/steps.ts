/** Custom steps: Python scripts that definitions use as step types. */
import type { StepSummary, StoredStep } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Stores and reads custom steps: `client.steps`. */
export class StepsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Stores a Python script under a name. Steps of this type run the latest version of the script.
   *
   * @param options `strict` rejects a script that has warnings, with `ApiError` `invalid_script`
   * @throws ApiError `invalid_script`, with line and column in `problem`; `reserved_step_name`
   *
   * @example
   * ```ts
   * const { version, warnings } = await client.steps.put('add', 'total = a + b');
   * console.log(version);
   * for (const { line, message } of warnings) console.warn(line, message);
   * ```
   */
  put(
    stepName: string,
    script: string,
    { strict, ...options }: CallOptions & { readonly strict?: boolean } = {},
  ): Promise<StoredStep> {
    return this.#transport.call(
      'post',
      '/api/step/{id}',
      {
        path: { id: stepName },
        ...(strict === true && { query: { strict } }),
        body: { text: script, mediaType: 'text/x-python' },
        // Not retried after a lost response: a retry could overwrite a script stored by another user in between.
        repeatable: 'refused',
        subject: { stepName },
      },
      options,
    );
  }

  /**
   * Returns the script of a custom step.
   *
   * @param options `version` selects a version; the default is the latest
   * @throws ApiError `step_not_found`
   *
   * @example
   * ```ts
   * await client.steps.put('add', 'total = a + b');
   * console.log(await client.steps.get('add')); // total = a + b
   * ```
   */
  get(
    stepName: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<string> {
    return this.#transport.call(
      'get',
      '/api/step/{id}',
      { path: { id: stepName }, query: { version }, repeatable: 'always', subject: { stepName } },
      options,
    );
  }

  /**
   * Lists all custom steps by name.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * for await (const { name, version } of client.steps.list()) console.log(name, version);
   * ```
   */
  list({
    limit,
    ...options
  }: CallOptions & { readonly limit?: number } = {}): PagedList<StepSummary> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/step',
        { query: { limit, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Lists all versions of a custom step, newest first.
   *
   * @param options `limit` is the page size
   * @throws ApiError `step_not_found`
   *
   * @example
   * ```ts
   * await client.steps.put('add', 'total = a + b');
   * for await (const { version } of client.steps.versions('add')) {
   *   console.log(await client.steps.get('add', { version }));
   * }
   * ```
   */
  versions(
    stepName: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): PagedList<StepSummary> {
    const path = { id: stepName };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/step/{id}/versions',
        { path, query: { limit, cursor }, repeatable: 'always', subject: { stepName } },
        options,
      ),
    );
  }
}
