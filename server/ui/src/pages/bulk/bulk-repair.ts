/** The input of the bulk repair dialog, and the resulting modification. Pure. */
import type { ModificationRequest } from '@stepwright/sdk';
import { jsonProblem, readJsonText } from '../../components/json-text.js';
import { isMembers } from '../run/repair/merge-patch.js';

export interface BulkRepair {
  /** The step to start at; empty to keep the open steps; null while the user has not chosen. */
  readonly from: string | null;
  readonly dataText: string;
  /** Empty for the version of each run. */
  readonly version: string;
  /** Renamed steps in that version: `old=new`, separated by spaces or commas. */
  readonly renamed: string;
}

export const NO_REPAIR: BulkRepair = { from: null, dataText: '{}', version: '', renamed: '' };

/** Null if it cannot be sent. */
export function modificationOf({
  from,
  dataText,
  version,
  renamed,
}: BulkRepair): Omit<ModificationRequest, 'reason' | 'dryRun'> | null {
  if (jsonProblem(dataText) !== null) return null;
  const data = readJsonText(dataText);
  if (!isMembers(data)) return null;
  const stepMap = version === '' ? {} : stepMapOf(renamed);
  if (stepMap === null) return null;
  return {
    ...(from !== null && from !== '' && { cancel: ['*'], start: [{ stepId: from }] }),
    ...(Object.keys(data).length > 0 && { data }),
    ...(version !== '' && { version: Number(version) }),
    ...(Object.keys(stepMap).length > 0 && { stepMap }),
    resume: true,
  };
}

/** Null if the text cannot be read. */
export function stepMapOf(text: string): Readonly<Record<string, string>> | null {
  const pairs = text.split(/[\s,]+/).filter((pair) => pair !== '');
  const names = pairs.map((pair) => /^([^=]+)=([^=]+)$/.exec(pair));
  if (names.includes(null)) return null;
  const named = names.map((match): [string, string] => [match?.[1] ?? '', match?.[2] ?? '']);
  return Object.fromEntries(named);
}
