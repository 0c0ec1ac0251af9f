/**
 * Activity results: the record in the store, and the message to the instance.
 *
 * The hash also marks a non-retryable failure and a returned item. The store keeps it with the result, so that the message can
 * be rebuilt from the record.
 */
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import type { ActivityMessage } from '../../engine/flow/messages.js';
import type { ActivityResult } from '../../store/records/activities.js';
import type { InboxMessage } from '../../store/records/messages.js';
import { hashOf } from '../../base/ids.js';
import type { SecretMasker } from '../secrets/secret-masker.js';
import { inboxMessage } from '../instance-state/message-codec.js';

/** The result that a worker, or an operator in its place, reports. */
export interface ReportedResult {
  readonly succeeded: boolean;
  readonly data: Json;
  /** False: the step fails without a retry. Ignored for a success. */
  readonly retryable?: boolean;
  /** The holder of a withdrawn item returned it. */
  readonly released?: true;
}

export const RELEASED: ReportedResult = { succeeded: false, data: null, released: true };

/** @param masker removes secret values from the report */
export function storedResult(
  activityId: string,
  { data: reported, released, retryable = true, succeeded }: ReportedResult,
  masker: Pick<SecretMasker, 'reported'>,
): { readonly result: ActivityResult; readonly message: InboxMessage } {
  const data = masker.reported(reported);
  const text = writeJson(data);
  const isFinal = !succeeded && !retryable;
  const mark = released === true ? 'released' : isFinal ? 'no-retry' : null;
  const hash = hashOf(String(succeeded), text, ...(mark === null ? [] : [mark]));
  return {
    result: { succeeded, data: text, hash },
    message: messageOf({ activityId, succeeded, data }, mark),
  };
}

/** The message again, rebuilt from the stored record. */
export function resentMessage(
  activityId: string,
  { data: text, hash, succeeded }: ActivityResult,
): InboxMessage {
  const data = readJson(text); // Stored by us as JSON.
  const mark = succeeded ? undefined : MARKS.find((each) => hash === hashOf('false', text, each));
  return messageOf({ activityId, succeeded, data }, mark ?? null);
}

/** A failure of the step, because its result can't be stored. */
export function refusedMessage(activityId: string, reason: string): InboxMessage {
  const data = { type: 'StoreRefused', message: reason };
  return messageOf({ activityId, succeeded: false, data }, 'no-retry');
}

const MARKS = ['no-retry', 'released'] as const;

function messageOf(
  result: Pick<ActivityMessage, 'activityId' | 'succeeded' | 'data'>,
  mark: (typeof MARKS)[number] | null,
): InboxMessage {
  return inboxMessage(`activity/${result.activityId}`, {
    kind: 'activity',
    ...result,
    ...(mark === 'no-retry' && { retryable: false }),
    ...(mark === 'released' && { released: true }),
  });
}
