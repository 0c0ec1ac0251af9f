/** Creates the services that start instances. */
import type { NodeServicesOptions } from './node-options.js';
import type { NodeServices } from './node-services.js';
import { InstanceStarter } from './operations/instance-starter.js';
import { WindowJoins } from './operations/window-joins.js';

/** Maximum size of the data that a run collects from starts, in bytes of JSON. */
const COLLECTED_LENGTH_MAX = 4 * 1024 * 1024;

export interface StartServices {
  readonly joins: WindowJoins;
  readonly starts: InstanceStarter;
}

export function createStarts(
  options: NodeServicesOptions,
  services: Pick<
    NodeServices,
    | 'catalog'
    | 'endWaiters'
    | 'ends'
    | 'environment'
    | 'gate'
    | 'history'
    | 'inputSchemas'
    | 'queries'
    | 'runner'
  >,
): StartServices {
  const { catalog, endWaiters, ends, environment, gate, history, inputSchemas, queries, runner } =
    services;
  const { instanceLengthMax, startsMax } = options.settings;
  const isStopping = (): boolean => gate.state === 'stopping';
  const joins = new WindowJoins({ ...options, queries, runner, isStopping });
  const starts = new InstanceStarter({
    ...options,
    catalog,
    ends,
    environment,
    inputSchemas,
    joins,
    collectedLengthMax: Math.min(COLLECTED_LENGTH_MAX, instanceLengthMax / 8),
    runner,
    replaced: (record) => {
      runner.controlled(record);
      endWaiters.ended(record.id);
    },
    history,
    startsMax,
    isStopping,
  });
  return { joins, starts };
}
