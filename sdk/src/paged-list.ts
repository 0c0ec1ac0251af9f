import type { Page } from './api-types.js';

/**
 * A list that comes in pages: iterate over its items, over whole pages, or get one page at a time. Nothing is fetched
 * before that, and each iteration begins anew.
 *
 * @example
 * ```ts
 * for await (const workflow of client.workflows.list({ definitionId: 'greeting' })) {
 *   console.log(workflow.workflowId, workflow.status);
 * }
 * const { items, nextCursor } = await client.workflows.list({ limit: 10 }).page();
 * console.log(items.length, nextCursor);
 * ```
 */
export class PagedList<Item> implements AsyncIterable<Item> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>;

  /** @internal Made by the lists of a client. */
  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#fetchPage = fetchPage;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Whole pages, one after another. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | null = null;
    do {
      const page: Page<Item> = await this.#fetchPage(cursor ?? undefined);
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** One page: the first, or the one behind the `nextCursor` of another. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#fetchPage(cursor);
  }
}
