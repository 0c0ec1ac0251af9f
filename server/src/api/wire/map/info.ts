/** Converts the server information to its wire type. */
import type * as host from '../../../runtime/fleet/node-types.js';
import type * as wire from '../models/info.js';
import { toWireTime } from './time.js';

export function toServerInfo(info: host.ServerInfo): wire.ServerInfo {
  return { ...info, startTime: toWireTime(info.startTime) };
}
