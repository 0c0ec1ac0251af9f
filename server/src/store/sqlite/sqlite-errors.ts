/** Maps SQLite's error codes to the errors of the contract. */

/** Primary result codes: the low byte of an extended code. https://www.sqlite.org/rescode.html */
const BUSY = 5;
const LOCKED = 6;
const PLAIN_MESSAGES: ReadonlyMap<number, string> = new Map([
  [BUSY, 'The database is in use by another process'],
  [LOCKED, 'The database is in use by another process'],
  [7, 'The database ran out of memory'],
  [8, 'The database cannot be written to'],
  [10, 'The database file cannot be read or written'],
  [11, 'The database file is damaged'],
  [13, 'The disk is full; the database cannot grow'],
  [14, 'The database file cannot be opened'],
  [15, 'The database is in use by another process'],
  [26, 'The file is not a database'],
]);

const TOO_BIG = 18;

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** A message for operators if the error concerns the file or the machine and not the statement; otherwise null. */
export function unavailableMessage(error: unknown, path: string): string | null {
  const code = primaryCode(error);
  const message = code === null ? undefined : PLAIN_MESSAGES.get(code);
  const detail = error instanceof Error ? error.message : String(error);
  return message === undefined ? null : `${message}: ${path} (${detail})`;
}

/** Whether a value is too large for the database, or for the statement. */
export function isTooBig(error: unknown): boolean {
  return primaryCode(error) === TOO_BIG;
}

function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}
