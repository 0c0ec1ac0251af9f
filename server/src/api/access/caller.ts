/** Who starts a run, and what is recorded of it: the actor, the audit log and the trace. */
import type { Request } from 'express';
import type { StartRequest } from '../../runtime/operations/instance-types.js';
import { actorOf, traceOf } from '../http/request-context.js';
import { auditReplaced } from './audited-calls.js';

export async function callerOf(
  request: Request,
): Promise<Required<Pick<StartRequest, 'actor' | 'replaced'>> & Pick<StartRequest, 'traceparent'>> {
  const actor = await actorOf(request);
  return { actor, replaced: auditReplaced(request), ...traceOf(request) };
}
