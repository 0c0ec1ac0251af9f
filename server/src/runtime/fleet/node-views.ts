/** Nodes as operators see them, from their records. */
import type { NodeRecord } from '../../store/records/nodes.js';
import type { Store } from '../../store/store.js';
import type { NodeView, Polling } from './node-types.js';
import { readDetails } from './node-details.js';
import type { NodeRegistry } from './node-registry.js';

type Judge = Pick<NodeRegistry, 'id' | 'hasHeartbeat' | 'looksAlive'>;

export function viewNode(
  record: NodeRecord,
  nodes: Judge,
  kind: NodeView['store']['kind'],
): NodeView {
  const { beatAt, details, hostname, id, pid, url, version } = record;
  const isThis = id === nodes.id;
  const isAlive = nodes.looksAlive(record);
  return {
    id,
    url,
    hostname,
    pid,
    version,
    lastBeatTime: beatAt,
    isAlive,
    isThis,
    store: { kind, reachable: isThis ? nodes.hasHeartbeat : isAlive },
    details: readDetails(details),
  };
}

/** The current numbers of each name. */
export async function readPolling(
  store: Pick<Store, 'listNodes'>,
  nodes: Pick<Judge, 'looksAlive'>,
): Promise<(name: string) => Polling> {
  const records = await store.listNodes();
  return (name) => pollingOf(name, records, nodes);
}

export function pollingOf(
  name: string,
  records: readonly NodeRecord[],
  nodes: Pick<Judge, 'looksAlive'>,
): Polling {
  let pollers = 0;
  let lastPollTime: number | null = null;
  for (const record of records) {
    const count = readDetails(record.details)?.pollers.find((known) => known.name === name);
    if (count === undefined) continue;
    if (nodes.looksAlive(record)) pollers += count.parked;
    lastPollTime = Math.max(lastPollTime ?? 0, count.lastPollAt);
  }
  return { pollers, lastPollTime };
}
