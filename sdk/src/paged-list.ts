import type { Page } from './api-types.js';

/**
 * A paginated list. Iterate over its items or over its pages, or get one page at a time. It fetches nothing until then, and
 * each iteration starts from the first page.
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

  /** @internal Created by the list methods of a client. */
  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#fetchPage = fetchPage;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | null = null;
    do {
      const page: Page<Item> = await this.#fetchPage(cursor ?? undefined);
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** Returns one page: the first one, or the one that the `nextCursor` of another page refers to. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#fetchPage(cursor);
  }
}
