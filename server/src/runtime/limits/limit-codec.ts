/** Converts limits between their stored form and the one that the server uses. */
import type { LimitSettings } from '../../engine/model/limit.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { Limit } from './limit-types.js';

/** The text of a stored limit. The store reads what the limit allows: see rates.ts. */
export interface StoredLimit extends LimitSettings {
  readonly createdBy: string;
  readonly updatedAt: number;
}

export function writeLimit({ rate, ...others }: StoredLimit): string {
  const stored = rate === null ? null : { ...rate };
  return writeJson({ ...others, rate: stored });
}

export function readLimit({ body, name }: ResourceRecord): Limit & StoredLimit {
  // Written by `writeLimit`.
  return { ...(readJson(body) as unknown as StoredLimit), name };
}
