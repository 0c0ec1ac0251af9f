/** Limits in files: their text in one form, so that files and limits on a server can be compared. */
import { stringify } from 'yaml';
import type { Limit } from '../../api/wire/models/limit.js';
import { readLimitFile } from '../../test-kit/files/limit-file.js';

/** The limit in a file, as it would be stored; the text of the file if it has problems. */
export function limitFileText(text: string): string {
  const { limit, name } = readLimitFile(text);
  return limit === null || name === null ? text : limitText(name, limit);
}

/** A limit on a server, as a file would hold it. */
export function limitText(
  name: string,
  { concurrency, description, rate }: Pick<Limit, 'concurrency' | 'description' | 'rate'>,
): string {
  return stringify({
    Name: name,
    ...(description !== null && { Description: description }),
    ...(concurrency !== null && { Concurrency: concurrency }),
    ...(rate !== null && { Rate: { Count: rate.count, Per: rate.per, Burst: rate.burst } }),
  });
}
