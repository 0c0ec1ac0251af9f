/** Which part of a pool of connections searches get, so that writes and point reads never wait for them. */

const SEARCH_SHARE = 0.3;

/** 0: the pool is too small to be divided. */
export function searchConnectionsOf(poolMax: number): number {
  return Math.floor(poolMax * SEARCH_SHARE);
}

/**
 * The share of the time of an operation after which the database itself ends a search: the answer arrives before the caller
 * gives up, so the connection can be used again, and no abandoned search goes on.
 */
const TIME_SHARE = 0.9;

export function searchTimeoutOf(operationTimeoutMs: number): number {
  return Math.floor(operationTimeoutMs * TIME_SHARE);
}
