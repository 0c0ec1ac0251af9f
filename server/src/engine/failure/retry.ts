/** Decides whether and when a failed step is retried. */
import type { StepDefinition } from '../model/definition.js';
import { isJsonObject, type Json } from '../values/json.js';
import { executionKey, type Pointer } from '../model/pointer.js';
import { restart } from '../session/pointer-states.js';
import { stepOf, type Session } from '../session/session.js';

/** Maximum pause of back-off. */
const RETRY_INTERVAL_MS_MAX = 24 * 60 * 60 * 1000;
/** Maximum number of consecutive retries at the interval that the definition sets … */
const QUICK_RETRIES_MAX = 10;
/** … and the minimum pause afterwards. Otherwise, a step that cannot succeed would keep a node busy forever. */
const LATER_RETRY_INTERVAL_MS_MIN = 100;

/**
 * Puts the step to sleep until its next attempt, and returns the time of that attempt; null if retries are exhausted.
 * @param leastMs a pause that the callee requested; the longer of this and the step's own applies
 */
export function tryRetry(session: Session, pointer: Pointer, leastMs = 0): number | null {
  const step = stepOf(session, pointer);
  if (step.maxRetries !== null && pointer.retries >= step.maxRetries) return null;
  const wantedMs = Math.min(leastMs, RETRY_INTERVAL_MS_MAX);
  const intervalMs = Math.max(retryIntervalMs(step, pointer.retries), wantedMs);
  pointer.retries += 1;
  const spread = step.retryJitter === 0 ? 0 : step.retryJitter * drawOf(session, pointer);
  const at = session.now + Math.round(intervalMs * (1 + spread));
  restart(session, pointer, at);
  return at;
}

function retryIntervalMs(step: StepDefinition, retries: number): number {
  // Bounded before the multiplication: it may be infinite, and 0 times infinity is NaN.
  const factor = Math.min(step.retryBackoff ** retries, RETRY_INTERVAL_MS_MAX);
  const grownMs = Math.min(step.retryIntervalMs * factor, RETRY_INTERVAL_MS_MAX);
  const leastMs = retries < QUICK_RETRIES_MAX ? 0 : LATER_RETRY_INTERVAL_MS_MIN;
  // Back-off is bounded, but an explicitly longer interval is kept.
  return Math.max(grownMs, step.retryIntervalMs, leastMs);
}

/** Whether another attempt of a step may succeed after this error. */
export function isRetryable(
  { nonRetryable }: StepDefinition,
  { data, retryable = true, type }: ErrorNature,
): boolean {
  if (!retryable || nonRetryable.length === 0) return retryable;
  return ![type, ...reportedTypes(data)].some((name) => nonRetryable.includes(name));
}

interface ErrorNature {
  readonly type: string;
  readonly data?: Json;
  readonly retryable?: boolean;
}

/**
 * The error types in the failure data of a worker: the worker SDK sends `name`, `type` if known, and the failure's own data one
 * level deeper, where `type` means the same.
 */
function reportedTypes(reported: Json | undefined): readonly string[] {
  if (reported === undefined || !isJsonObject(reported)) return [];
  const { data, name, type } = reported;
  const inner = data !== undefined && isJsonObject(data) ? data['type'] : undefined;
  return [type, name, inner].filter((value) => typeof value === 'string');
}

/** From 0 to below 1, different for each attempt of each instance, and reproducible on every node (rule E4). */
function drawOf(session: Session, pointer: Pointer): number {
  let hash = 0x811c9dc5;
  for (const letter of executionKey(session.instance.id, pointer)) {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  }
  // Neighboring keys differ too little in their high bits; this mixes the low bits into them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}
