/**
 * The calls open to callers with narrowed scopes, such as `conductor:viewer:order*`, and how the scopes restrict them.
 *
 *  NS1 A call that isn't listed here requires the whole scope, so new calls are closed by default.
 *  NS2 For the caller, targets outside the scopes don't exist: the response is the same 404 as for an unknown id. Only starts and
 *      polls, which name their target, get a 403 instead.
 */
import type { Request } from 'express';
import { AppError } from '../../base/errors.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import { definitionNotFound } from '../../runtime/definitions/definition-catalog.js';
import { instanceNotFound } from '../../runtime/operations/instance-queries.js';
import { contextOf } from '../http/request-context.js';

/** @throws AppError if the target is outside the scopes */
type Check = (request: Request, allowed: AllowedNames) => void | Promise<void>;

/** The controller omits everything outside the scopes. */
const byContent: Check = () => undefined;

const ofRun: Check = async (request, allowed) => {
  const id = parameter(request, 'id');
  const { instances } = contextOf(request).services.host;
  if (!allowsName(allowed, await instances.definitionOf(id))) throw instanceNotFound(id);
};

const ofDefinition: Check = (request, allowed) => {
  const id = parameter(request, 'id');
  if (!allowsName(allowed, id)) throw definitionNotFound(id, 'latest');
};

const ofStart: Check = (request, allowed) => {
  const id = parameter(request, 'id');
  if (!allowsName(allowed, id)) throw outside('conductor:controller', `definition '${id}'`);
};

const ofPoll: Check = (request, allowed) => {
  const name = parameter(request, 'id');
  if (!allowsName(allowed, name)) throw outside('conductor:worker', `activity '${name}'`);
};

/** Tokens are hard to guess, but they may leak. */
const ofToken =
  (name: string): Check =>
  async (request, allowed) => {
    const { activities } = contextOf(request).services.host;
    await activities.assertWithin(parameter(request, name), allowed);
  };

export const NARROWED_CALLS: Readonly<Record<string, Check>> = {
  'GET /api/workflow': byContent,
  'GET /api/workflow/count': byContent,
  'GET /api/workflow/failures': byContent,
  'GET /api/workflow/find': byContent,
  'GET /api/workflow/explain': byContent,
  'GET /api/workflow/:id': ofRun,
  'GET /api/workflow/:id/input': ofRun,
  'GET /api/workflow/:id/explain': ofRun,
  'GET /api/workflow/:id/export': ofRun,
  'GET /api/workflow/:id/steps': ofRun,
  'GET /api/workflow/:id/audit': ofRun,
  'POST /api/workflow/:id': ofStart,
  'PATCH /api/workflow': byContent,
  'PUT /api/workflow/:id/suspend': ofRun,
  'PUT /api/workflow/:id/resume': ofRun,
  'PUT /api/workflow/:id/retry': ofRun,
  'DELETE /api/workflow/:id': ofRun,
  'PATCH /api/workflow/:id/tags': ofRun,
  'PUT /api/workflow/:id/priority': ofRun,
  'POST /api/workflow/:id/restart': ofRun,
  'POST /api/workflow/:id/modify': ofRun,
  'POST /api/workflow/:id/rerun': ofRun,
  'POST /api/workflow/:id/steps/:executionId/success': ofRun,
  'POST /api/workflow/:id/steps/:executionId/fail': ofRun,
  'GET /api/definition': byContent,
  'GET /api/definition/:id': ofDefinition,
  'GET /api/definition/:id/types': ofDefinition,
  'GET /api/definition/:id/open-steps': ofDefinition,
  'GET /api/definition/:id/versions': ofDefinition,
  'GET /api/definition/:id/triggers': ofDefinition,
  'PUT /api/definition/:id/triggers/:name/pause': ofDefinition,
  'PUT /api/definition/:id/triggers/:name/resume': ofDefinition,
  'POST /api/definition/:id/triggers/:name/fire': ofDefinition,
  'POST /api/definition/:id/triggers/:name/backfill': ofDefinition,
  'GET /api/schedule': byContent,
  'GET /api/overview': byContent,
  'GET /api/stream': byContent,
  'POST /api/event/:name/:key': byContent,
  'GET /api/event': byContent,
  'GET /api/event/:id': byContent,
  'GET /api/event/:name/:key/waiting': byContent,
  'POST /api/bulk': byContent,
  'GET /api/bulk': byContent,
  'GET /api/bulk/:id': byContent,
  'GET /api/bulk/:id/runs': byContent,
  'DELETE /api/bulk/:id': byContent,
  'GET /api/activity/:id/queue': byContent,
  'GET /api/activity/:id': ofPoll,
  'POST /api/activity/success/:token': ofToken('token'),
  'POST /api/activity/fail/:token': ofToken('token'),
  'PUT /api/activity/:token/heartbeat': ofToken('token'),
  'DELETE /api/activity/:id': ofToken('id'),
};

/**
 * Whether a caller with a narrowed scope may make the call.
 * @throws AppError if the target is outside the scope
 */
export async function admitsNarrowed(request: Request, allowed: AllowedNames): Promise<boolean> {
  const { path } = request.route as { readonly path: string };
  // Express handles HEAD with the handler of GET.
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const key = `${method} ${path}`;
  if (!Object.hasOwn(NARROWED_CALLS, key)) return false;
  await NARROWED_CALLS[key]?.(request, allowed);
  return true;
}

function outside(scope: string, target: string): AppError {
  return new AppError('forbidden', `The scope ${scope} of the token does not reach the ${target}`);
}

function parameter(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}
