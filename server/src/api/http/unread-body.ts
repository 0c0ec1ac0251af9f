/**
 * Answers that are given before the whole body was read.
 *
 * A caller that is still sending when the connection closes may lose the answer, because the reset overtakes it. So the
 * rest of the body is thrown away for a moment before the connection ends, but never read to an end that may not come.
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
  // The answer is complete for the caller; ending it would close the connection.
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

/** A body that Node can read to its end by itself, so that the connection can be used again. */
function isShort(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined) return false;
  return Number(length ?? 0) <= contextOf(request).services.limits.bodyBytesMax;
}
