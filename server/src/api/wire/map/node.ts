/** Converts nodes to their wire type. */
import type * as host from '../../../runtime/fleet/node-types.js';
import type * as wire from '../models/node.js';
import { toWireTime } from './time.js';

export function toNode(node: host.NodeView): wire.Node {
  const { details, hostname, id, isAlive, isThis, pid, store, url, version } = node;
  return {
    nodeId: id,
    url,
    hostname,
    pid,
    version,
    startTime: details === null ? null : toWireTime(details.startTime),
    lastBeatTime: toWireTime(node.lastBeatTime),
    alive: isAlive,
    isThis,
    load: details?.load ?? null,
    store: { ...store },
    backplane: details?.backplane ?? null,
  };
}
