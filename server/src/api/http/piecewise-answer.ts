/** Responses that are sent piece by piece, as fast as the caller reads, so that they take little memory at any length. */
import type { Response } from 'express';

/** A caller that has read nothing for this long counts as gone. */
const STALLED_MS = 60_000;

/**
 * Sends JSON. An error before the first piece is thrown; after it, the connection is closed, so that the caller notices that
 * the document is incomplete.
 */
export async function sendPieces(
  response: Response,
  pieces: AsyncGenerator<string, void, undefined>,
): Promise<void> {
  let isBegun = false;
  try {
    for await (const piece of pieces) {
      // The right of the caller may have ended before the first piece, too.
      if (response.destroyed || response.writableEnded) return;
      if (!isBegun) {
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        response.setHeader('Cache-Control', 'no-store');
        isBegun = true;
      }
      if (!response.write(piece)) await drained(response);
    }
    if (!response.writableEnded) response.end();
  } catch (error) {
    if (!isBegun) throw error;
    response.destroy(error instanceof Error ? error : undefined);
  }
}

/**
 * Resolves when the caller has read what was written or is gone; the connection of a caller that reads nothing is closed.
 */
export function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), STALLED_MS);
    const done = (): void => {
      clearTimeout(timer);
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
