/** Connects the parts of limits. */
import type { DefinitionCatalog } from './definitions/definition-catalog.js';
import { newestDefinitions } from './definitions/newest-definitions.js';
import { LimitList } from './limits/limit-list.js';
import { Limits } from './limits/limits.js';
import type { NodeServicesOptions } from './node-options.js';

export interface LimitServicesOptions extends NodeServicesOptions {
  readonly isShared: () => boolean;
  /** Steps may wait for a limit that this node has changed. */
  readonly limitChanged: (name: string) => void;
  readonly catalog: () => Pick<DefinitionCatalog, 'latest' | 'list'>;
}

export function createLimits(options: LimitServicesOptions) {
  const { backplane, catalog, limitChanged } = options;
  const list = new LimitList(options);
  const changed = (name: string): void => {
    backplane.publish({ kind: 'limit', name });
    limitChanged(name);
  };
  const usersOf = (name: string, max: number) => definitionsWith(name, max, catalog());
  return { list, calls: new Limits({ ...options, list, usersOf, changed }) };
}

async function definitionsWith(
  name: string,
  max: number,
  catalog: Pick<DefinitionCatalog, 'latest' | 'list'>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, steps } of newestDefinitions(catalog)) {
    const isUser = [...steps.values()].some(({ limits }) =>
      limits.some((limit) => limit.name === name),
    );
    if (isUser) ids.push(id);
    if (ids.length === max) break;
  }
  return ids;
}
