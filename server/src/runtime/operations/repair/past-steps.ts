/** Finds the steps that have run in an instance, from its records and history. */
import type { Instance } from '../../../engine/model/instance.js';
import type { StepRecord } from '../../../engine/model/step-record.js';
import { targetStepId } from '../../../engine/repair/move-version.js';
import { readJson } from '../../../engine/values/exact-json.js';
import type { Store } from '../../../store/store.js';

const BLOCK_SIZE = 500;
/** Further records aren't read: their steps count as run. */
const RECORDS_READ_MAX = 20_000;

export interface PastSteps {
  readonly store: Pick<Store, 'readHistory'>;
  readonly instance: Instance;
  readonly stepMap: Readonly<Record<string, string>>;
}

/** The members of `stepIds` that have run, or whose first attempt has begun. */
export async function stepsThatRan(
  { instance, stepMap, store }: PastSteps,
  stepIds: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const ran = new Set<string>();
  const note = ({ inputs, stepId }: Pick<StepRecord, 'inputs' | 'stepId'>): void => {
    // Without inputs, it was canceled before it began.
    if (inputs === null) return;
    const id = targetStepId(stepMap, stepId);
    if (stepIds.has(id)) ran.add(id);
  };
  for (const pointer of instance.pointers.values()) note(pointer);
  for (const record of instance.recent) note(record);
  let at = instance.spilled;
  const end = Math.max(0, at - RECORDS_READ_MAX);
  // Newest first: repeated steps are found quickly.
  while (at > end && ran.size < stepIds.size) {
    const from = Math.max(end, at - BLOCK_SIZE);
    const records = await store.readHistory(instance.id, from, at - from);
    for (const { body } of records) note(readJson(body) as unknown as StepRecord); // Written by this server.
    at = from;
  }
  return at > 0 && at === end && ran.size < stepIds.size ? stepIds : ran;
}
