/** Who starts a run: the actor, audit log and trace to record. */
import type { Request } from 'express';
import type { TraceHeaders } from '../../tracing/trace-context.js';
import type { StartRequest } from '../../runtime/model/instance-types.js';
import { actorOf, traceOf } from '../http/request-context.js';
import { auditReplaced } from './audited-calls.js';

export async function callerOf(
  request: Request,
): Promise<Required<Pick<StartRequest, 'actor' | 'replaced'>> & TraceHeaders> {
  const actor = await actorOf(request);
  return { actor, replaced: auditReplaced(request), ...traceOf(request) };
}
