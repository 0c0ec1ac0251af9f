/** Streams responses piece by piece, as fast as the caller reads, so they need little memory at any length. */
import type { Response } from 'express';

/** A caller that has read nothing for this long is considered gone. */
const STALLED_MS = 60_000;

/**
 * Sends JSON. An error before the first piece is thrown. After that, the connection is closed, so the caller notices that the
 * document is incomplete.
 */
export async function sendPieces(
  response: Response,
  pieces: AsyncGenerator<string, void, undefined>,
): Promise<void> {
  let isBegun = false;
  try {
    for await (const piece of pieces) {
      // The caller's authorization may end before the first piece, too.
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
 * Resolves when the caller has read the written data or is gone. If the caller reads nothing, the connection is closed.
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
