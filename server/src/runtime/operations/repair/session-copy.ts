/**
 * A copy of a stored instance in memory, to try a modification on it. As in its actor, the messages in its inbox are applied
 * first.
 */
import { applyMessage, type Message } from '../../../engine/flow/messages.js';
import { restoreSession } from '../../../engine/flow/lifecycle.js';
import { forgetAnswers } from '../../../engine/repair/answers.js';
import type { Session } from '../../../engine/session/session.js';
import type { InstanceRecord } from '../../../store/records/instances.js';
import type { ActorEnvironment } from '../../instances/actor-environment.js';
import {
  inOrder,
  readArrived,
  referredCost,
  REFERRED_BYTES_MAX,
} from '../../instance-state/message-codec.js';
import { loadInstance } from '../../instance-state/instance-views.js';

export type CopyEnvironment = Pick<
  ActorEnvironment,
  'clock' | 'loadDefinition' | 'loadEnd' | 'loadEvent' | 'logger'
>;

export async function copySession(
  record: InstanceRecord,
  environment: CopyEnvironment,
): Promise<Session> {
  const definition = await environment.loadDefinition(record.definitionId, record.version);
  const instance = await loadInstance(record);
  const now = environment.clock.now();
  forgetAnswers(instance, now);
  const session = restoreSession(definition, instance, now);
  for (const message of inOrder(await readInbox(record, environment))) {
    applyMessage(session, message, record.status);
  }
  return session;
}

/** No step of an ended instance takes an event or a result, so referenced data isn't read. */
async function readInbox(
  { endTime, id, inbox, inSeq }: InstanceRecord,
  environment: CopyEnvironment,
): Promise<readonly Message[]> {
  const messages: Message[] = [];
  let referred = 0;
  for (const stored of inbox) {
    const cost = referredCost(stored.body);
    if (cost > 0 && endTime !== null) continue;
    referred += cost;
    if (referred > REFERRED_BYTES_MAX) break;
    const message = await readArrived(id, { ...stored, inSeq }, environment);
    if (message !== null) messages.push(message);
  }
  return messages;
}
