/** Connects housekeeping, and decides which node archives. */
import type { ResultResender } from './activities/result-resender.js';
import type { InstanceExportsOptions } from './operations/instance-exports.js';
import { createRunArchive } from './create-run-archive.js';
import type { EventPublisher } from './events/event-publisher.js';
import { readArchives } from './fleet/node-details.js';
import type { NodeRegistry } from './fleet/node-registry.js';
import type { NodeServicesOptions } from './node-options.js';
import type { NodeRecord } from '../store/records/nodes.js';
import { Housekeeping } from './housekeeping/housekeeping.js';

interface Services extends Pick<InstanceExportsOptions, 'catalog' | 'queries'> {
  readonly nodes: NodeRegistry;
  readonly publisher: EventPublisher;
  readonly results: ResultResender;
}

export function createHousekeeping(options: NodeServicesOptions, services: Services): Housekeeping {
  const { nodes, publisher, results } = services;
  const otherArchivers = (): readonly NodeRecord[] =>
    nodes.others.filter((node) => readArchives(node.details));
  return new Housekeeping({
    ...options,
    ...options.settings,
    archive: createRunArchive(options, services),
    isChosen: () => otherArchivers().every(({ id }) => nodes.id < id),
    isArchivedElsewhere: () => otherArchivers().length > 0,
    publisher,
    results,
  });
}
