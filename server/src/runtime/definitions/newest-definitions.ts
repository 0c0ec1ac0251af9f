/** Reads every definition in its newest version, one after the other. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { DefinitionCatalog } from './definition-catalog.js';

const PAGE = 200;

/** In order of id. */
export async function* newestDefinitions(
  catalog: Pick<DefinitionCatalog, 'latest' | 'list'>,
): AsyncGenerator<WorkflowDefinition> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<DefinitionCatalog['list']>> = await catalog.list({
      cursor,
      limit: PAGE,
    });
    for (const { id } of page.items) yield await catalog.latest(id);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
