/** Creates the services that start instances. */
import type { NodeServicesOptions } from './node-options.js';
import type { EndWaiters } from './instances/end-waiters.js';
import type { RequestGate } from './operations/request-gate.js';
import { InstanceStarter, type InstanceStarterOptions } from './operations/instance-starter.js';
import { WindowJoins, type WindowJoinsOptions } from './operations/window-joins.js';
import type { InstanceRunner } from './instances/instance-runner.js';

/** Maximum size of the data that a run collects from starts, in bytes of JSON. */
const COLLECTED_LENGTH_MAX = 4 * 1024 * 1024;

export interface StartServices {
  readonly joins: WindowJoins;
  readonly starts: InstanceStarter;
}

/** The services that it builds on. */
export interface StartParts
  extends
    Pick<InstanceStarterOptions, 'catalog' | 'ends' | 'environment' | 'history' | 'inputSchemas'>,
    Pick<WindowJoinsOptions, 'queries'> {
  readonly endWaiters: EndWaiters;
  readonly gate: RequestGate;
  readonly runner: InstanceRunner;
}

export function createStarts(options: NodeServicesOptions, parts: StartParts): StartServices {
  const { catalog, endWaiters, ends, environment, gate, history, inputSchemas, queries, runner } =
    parts;
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
