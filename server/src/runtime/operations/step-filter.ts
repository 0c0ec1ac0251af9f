/** Filters lists of steps. */
import { writeNumber } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../engine/values/json.js';
import type { StepFilter, StepStatusFilter, StepView } from '../model/instance-types.js';

/** The statuses of executions that have not ended. Such executions are not in the history. */
const OPEN_STATUSES: ReadonlySet<StepStatusFilter> = new Set([
  'Pending',
  'Running',
  'Waiting',
  'Retrying',
]);

export function isOpenStatus(status: StepStatusFilter | null): boolean {
  return status !== null && OPEN_STATUSES.has(status);
}

/** True if an execution matches `status`, `item` and `search`; null matches everything. */
export function matchesFilter(
  view: StepView,
  { item, search, status }: Pick<StepFilter, 'item' | 'search' | 'status'>,
): boolean {
  return (
    (status === null || hasStatus(view, status)) &&
    (item === null || view.index === item) &&
    (search === null || containsText(view, search.toLowerCase()))
  );
}

function hasStatus({ status, waitsFor }: StepView, wanted: StepStatusFilter): boolean {
  return wanted === 'Retrying' ? waitsFor?.kind === 'retry' : status === wanted;
}

function containsText({ error, inputs, item, outputs }: StepView, text: string): boolean {
  const failure = error === null ? [] : [error.type, error.message, error.data];
  return valuesContain([inputs, outputs, item, ...failure], text);
}

/** True if a member name, string, number or boolean contains the text, ignoring case. */
function valuesContain(values: readonly Json[], text: string): boolean {
  const left: Json[] = [...values];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (isJsonObject(value)) {
      if (Object.keys(value).some((name) => name.toLowerCase().includes(text))) return true;
      for (const member of Object.values(value)) left.push(member);
    } else if (Array.isArray(value)) {
      for (const item of value as readonly Json[]) left.push(item);
    } else if (scalarText(value as Scalar).includes(text)) return true;
  }
  return false;
}

type Scalar = null | boolean | number | bigint | string;

function scalarText(value: Scalar): string {
  if (typeof value === 'string') return value.toLowerCase();
  if (value === null) return '';
  return typeof value === 'boolean' ? String(value) : writeNumber(value);
}
