/**
 * The failure of an instance, as shown in its record, and its group of failures.
 *
 * An instance is failed if it shows an error, and either is open (suspended by the error, or being retried or compensated) or
 * was ended by the error. It isn't failed if it succeeded or was compensated in spite of the error, or if a user or another
 * instance terminated it. Nor is an ended instance that was restarted: the new one replaces it.
 */
import { createHash } from 'node:crypto';
import { causeOf } from '../../engine/failure/cause.js';
import { truncateText, oneLine } from '../../engine/failure/normalize-message.js';
import type { Instance } from '../../engine/model/instance.js';
import type { InstanceFailure } from '../../store/records/instances.js';

type Failed = Pick<Instance, 'definitionId' | 'lastError' | 'outcome' | 'restartedAs'>;
type ShownError = Pick<NonNullable<Failed['lastError']>, 'stepId' | 'type' | 'message'>;

/** Maximum length of a message in a record; the whole message is part of the state. */
const MESSAGE_MAX = 300;
const TYPE_MAX = 100;
const DEFINITION_DIGITS = 12;
const CAUSE_DIGITS = 20;
/** Both together. */
export const FAILURE_KEY = /^[0-9a-f]{32}$/;

/** An instance may be committed many times while it shows the same error. */
const known = new WeakMap<ShownError, InstanceFailure>();

/** Null if the instance isn't failed. */
export function failureOf({
  definitionId,
  lastError,
  outcome,
  restartedAs,
}: Failed): InstanceFailure | null {
  const isDone = outcome !== null && (outcome !== 'Failed' || restartedAs !== null);
  if (lastError === null || isDone) return null;
  let failure = known.get(lastError);
  if (failure === undefined) {
    failure = describeFailure(definitionId, lastError);
    known.set(lastError, failure);
  }
  return failure;
}

export function describeFailure(definitionId: string, error: ShownError): InstanceFailure {
  const { message, stepId, type } = error;
  const text = causeOf(error)
    .map((part) => `${part.length}:${part}`)
    .join('');
  return {
    key: failureKeyPrefixOf(definitionId) + digitsOf(text, CAUSE_DIGITS),
    stepId,
    type: truncateText(oneLine(type), TYPE_MAX),
    message: truncateText(oneLine(message.slice(0, 2 * MESSAGE_MAX)), MESSAGE_MAX),
  };
}

/** The common prefix of a definition's failure keys, so that an index finds them. */
export function failureKeyPrefixOf(definitionId: string): string {
  return digitsOf(definitionId, DEFINITION_DIGITS);
}

function digitsOf(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count);
}
