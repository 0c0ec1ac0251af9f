/** A limit on how long a caller waits for the database. */
import { StoreUnavailableError } from './store.js';

/** The operation itself goes on. @throws StoreUnavailableError */
export async function withinTime<Result>(
  operation: Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `The database did not respond within ${timeoutMs} ms`;
      reject(new StoreUnavailableError(message));
    }, timeoutMs);
  });
  try {
    return await Promise.race([operation, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
