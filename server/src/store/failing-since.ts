/**
 * Since when an instance has been failing, as the stores keep it: beside the time of the error that it belongs to.
 *
 * Nodes of versions that did not know it change the time of the error alone; then what is kept belongs to another error.
 */
import type { InstanceRecord } from './records/instances.js';

export interface StoredFailingSince {
  readonly failingSince: number | null;
  /** The `errorAt` that it belongs to. */
  readonly failingErrorAt: number | null;
}

const NONE: StoredFailingSince = { failingSince: null, failingErrorAt: null };

export function storedFailingSince({
  errorAt,
  failingSince,
}: Pick<InstanceRecord, 'errorAt' | 'failingSince'>): StoredFailingSince {
  return failingSince === null ? NONE : { failingSince, failingErrorAt: errorAt };
}

export function failingSinceIn(
  errorAt: number | null,
  { failingErrorAt, failingSince }: StoredFailingSince,
): number | null {
  return errorAt !== null && failingErrorAt === errorAt ? failingSince : null;
}
