/**
 * Responses that are sent before the whole body has been read.
 *
 * If the connection closes while the caller is still sending, the caller may lose the response, because the reset
 * overtakes it. Therefore, the rest of the body is discarded for a moment before the connection closes. It is not read
 * to its end, which may never come. The rest is read in turns, like the bodies that are wanted.
 */
import type { Request, Response } from 'express';
import { contextOf } from './request-context.js';

const LINGER_MS = 1_000;

export function sendUnread(request: Request, response: Response, body: string): void {
  response.setHeader('Content-Length', Buffer.byteLength(body));
  if (request.complete) {
    response.end(body);
    return;
  }
  const keepsConnection = isShort(request);
  if (!keepsConnection) response.setHeader('Connection', 'close');
  // The caller has the complete response. Ending it would close the connection, or read the rest at once.
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = keepsConnection ? undefined : setTimeout(end, LINGER_MS);
  request.once('end', end);
  request.once('close', end);
  discard(request);
}

function discard(request: Request): void {
  const { caller, services } = contextOf(request);
  request.on('data', (part: Buffer) => {
    services.bodyTurns.count(caller.key, request, part.length);
  });
  request.resume();
}

/** Whether the rest of the body is read to its end, so that the connection can be reused. */
function isShort(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined) return false;
  return Number(length ?? 0) <= contextOf(request).services.limits.bodyBytesMax;
}
