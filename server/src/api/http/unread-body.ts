/**
 * Responses that are sent before the whole body has been read.
 *
 * If the connection closes while the caller is still sending, the reset may arrive before the response, which is then lost.
 * Therefore, the body is read and discarded for a moment before the connection closes, but not to its end, which may never come.
 */
import type { Request, Response } from 'express';
import { contextOf } from './request-context.js';

const LINGER_MS = 1_000;

export function sendUnread(request: Request, response: Response, body: string): void {
  response.setHeader('Content-Length', Buffer.byteLength(body));
  if (request.complete || isShort(request)) {
    response.end(body);
    return;
  }
  response.setHeader('Connection', 'close');
  // The caller has the complete response. Ending the request would close the connection.
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end);
  request.once('close', end);
  request.resume();
}

/** Whether Node.js can read the rest of the body on its own, so that the connection can be reused. */
function isShort(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined) return false;
  return Number(length ?? 0) <= contextOf(request).services.limits.bodyBytesMax;
}
