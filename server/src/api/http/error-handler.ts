/** Turns every error into a problem document. Unexpected errors are logged, and the response shows only an id. */
import { randomUUID } from 'node:crypto';
import { ValidateError } from '@tsoa/runtime';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { writeJson } from '../../engine/values/exact-json.js';
import { AppError } from '../../base/errors.js';
import { CanceledError } from '../../base/slices.js';
import { authorizationEnded } from '../access/admission.js';
import { StoreRefusedError, StoreUnavailableError } from '../../store/store.js';
import type { ProblemItem } from '../wire/models/problem.js';
import { PROBLEM_KINDS, PROBLEM_MEDIA_TYPE, problemDocument } from './problem-details.js';
import { contextOf } from './request-context.js';
import { parameterItems, parameterItemsOf } from '../wire/map/parameter-items.js';
import { itemsWithPosition } from '../wire/map/problem-items.js';
import { sendUnread } from './unread-body.js';

// Express recognizes an error handler by its four parameters.
export const errorHandler: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
  // The caller has disconnected, so no response is needed.
  if (thrown instanceof CanceledError && (response.destroyed || response.closed)) return;
  const error = endedOr(thrown, request);
  if (response.headersSent) {
    if (contextOf(request).isRefused) return;
    // A partial response can't be corrected, so Express closes the connection.
    next(error);
    return;
  }
  if (error instanceof ValidateError) {
    sendProblem(request, response, invalidParameters(error), parameterItems(error));
  } else {
    if (error instanceof StoreRefusedError) logRefusal(request, error);
    const known = knownError(error) ?? unexpected(request, error);
    const items = [...parameterItemsOf(known), ...itemsWithPosition(request, known.problems)];
    sendProblem(request, response, known, items);
  }
};

/** Work for a caller also ends when the caller's authorization ends. */
function endedOr(error: unknown, request: Request): unknown {
  const isEnded = contextOf(request).admission?.ended.aborted === true;
  return error instanceof CanceledError && isEnded ? authorizationEnded() : error;
}

function knownError(error: unknown): AppError | null {
  if (error instanceof AppError) return error;
  if (error instanceof StoreUnavailableError) {
    return new AppError('store_unavailable', 'The store is not responding', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  // Express's error for a path that it can't decode.
  if (error instanceof URIError) {
    return new AppError('invalid_request', 'The path contains malformed percent-encoding', {
      cause: error,
    });
  }
  return null;
}

/** The caller sees only the kind of error; the database message is for operators. */
function logRefusal(request: Request, error: StoreRefusedError): void {
  const { method, path } = request;
  contextOf(request).services.logger.warn(
    { err: error, method, path },
    'The store refused the data of a call',
  );
}

function unexpected(request: Request, error: unknown): AppError {
  const errorId = randomUUID();
  const { services, trace } = contextOf(request);
  const traceIds = trace === null ? {} : { trace_id: trace.traceId, span_id: trace.spanId };
  const { method, path } = request;
  services.logger.error({ err: error, errorId, method, path, ...traceIds }, 'Call failed');
  return new AppError(
    'internal',
    'An unexpected error occurred; search the server log for this errorId',
    {
      cause: error,
      fields: { errorId },
    },
  );
}

function invalidParameters(error: ValidateError): AppError {
  const sentences = parameterItems(error).map(
    ({ parameter, message }) => `${parameter} ${message}`,
  );
  return new AppError('invalid_request', sentences.join('; '));
}

function sendProblem(
  request: Request,
  response: Response,
  error: AppError,
  errors: readonly ProblemItem[],
): void {
  const { code, message, fields, retryAfterSeconds } = error;
  response.status(PROBLEM_KINDS[code].status);
  response.setHeader('Content-Type', `${PROBLEM_MEDIA_TYPE}; charset=utf-8`);
  if (retryAfterSeconds !== null) response.setHeader('Retry-After', Math.ceil(retryAfterSeconds));
  if (code === 'authorization_ended') {
    response.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"');
  }
  if (code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  if (code === 'forbidden') {
    response.setHeader('WWW-Authenticate', 'Bearer error="insufficient_scope"');
  }
  const document = problemDocument({ code, detail: message, fields, errors });
  sendUnread(request, response, writeJson(document));
}
