/** Writes the history: one record for each attempt of a step that has ended. */
import { traitsOf } from '../definitions/step-types.js';
import type { Pointer } from '../model/pointer.js';
import type { StepError, StepRecord, StepRecordStatus } from '../model/step-record.js';
import { jsonLength } from '../values/json-length.js';
import type { Json } from '../values/json.js';
import { itemOf } from './pointers.js';
import { undoneBy } from './undone-by.js';
import { stepOf, type Session } from './session.js';

/** Approximate size of a record with the values that it shows, in bytes. */
const RECORD_LENGTH = 1000;

export function writeRecord(
  session: Session,
  pointer: Pointer,
  status: StepRecordStatus,
  details: {
    readonly outputs?: Json;
    readonly error?: StepError | null;
    readonly reason?: string;
  } = {},
): void {
  const record: StepRecord = {
    pointerId: pointer.id,
    stepId: pointer.stepId,
    status,
    attempt: pointer.attempt,
    startTime: pointer.attemptStartedAt,
    endTime: session.now,
    ...itemOf(pointer),
    inputs: pointer.inputs,
    outputs: details.outputs ?? null,
    error: details.error ?? null,
    ...bodyAttemptOf(pointer),
    ...reasonOf(pointer, details.reason),
    ...(pointer.joined !== undefined && { joined: pointer.joined }),
    ...compensatesOf(session, pointer),
    ...withinOf(session, pointer),
  };
  session.instance.recent.push(record);
  const step = stepOf(session, pointer);
  const durationMs = session.now - record.startTime;
  const { startsInstance } = traitsOf(step);
  const ended = { type: step.typeName, status, durationMs, startsInstance, record };
  session.changes.endedAttempts.push(ended);
  session.grown += RECORD_LENGTH + (record.error === null ? 0 : jsonLength(record.error.data));
  session.dirty = true;
}

function compensatesOf(session: Session, pointer: Pointer): Pick<StepRecord, 'compensates'> {
  const executionId = undoneBy(session, pointer)?.executionId;
  return executionId === undefined ? {} : { compensates: executionId };
}

/** Recorded only where traces need it. */
function withinOf({ instance }: Session, { parentId }: Pointer): Pick<StepRecord, 'within'> {
  const isTraced = instance.trace?.sampled === true;
  return isTraced && parentId !== null ? { within: parentId } : {};
}

function reasonOf(
  { startedBecause }: Pointer,
  canceledBecause: string | undefined,
): Pick<StepRecord, 'reason'> {
  const reason = canceledBecause ?? startedBecause;
  return reason === undefined ? {} : { reason };
}

/** Recorded only if the result is older than the attempt whose outputs were evaluated. */
function bodyAttemptOf({ state }: Pointer): Pick<StepRecord, 'bodyAttempt'> {
  if (state.kind === 'finishing' && state.bodyAttempt !== undefined) {
    return { bodyAttempt: state.bodyAttempt };
  }
  const kept = state.kind === 'sleeping' ? state.kept : undefined;
  return kept === undefined ? {} : { bodyAttempt: kept.bodyAttempt };
}
