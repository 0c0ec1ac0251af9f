/** Converts notifications and deliveries between their stored form and the client view. */
import type { IndexCondition } from '../../store/records/index-conditions.js';
import type { DeliverySummary, NotificationRecord } from '../../store/records/notifications.js';
import { readStoredConditions } from '../model/parse-condition.js';
import type {
  DeliveryAnswer,
  DeliveryView,
  NotificationSettings,
  NotificationView,
} from './notification-types.js';

/** The text of the settings. */
export interface StoredSettings extends NotificationSettings {
  readonly sealedSecret: string;
  readonly changedBy: string;
  readonly changedAt: number;
}

/** A notification that this node knows. */
export interface KnownNotification extends StoredSettings {
  readonly name: string;
  readonly paused: string | null;
  readonly conditions: readonly IndexCondition[];
}

export function writeSettings(settings: StoredSettings): string {
  return JSON.stringify(settings);
}

/** Null if the settings can't be read, for example because a later server version wrote them. */
export function readNotification({
  name,
  paused,
  settings,
}: NotificationRecord): KnownNotification | null {
  try {
    // Written by `writeSettings`.
    const stored = JSON.parse(settings) as StoredSettings;
    return { ...stored, name, paused, conditions: readStoredConditions(stored.where) };
  } catch {
    return null;
  }
}

export function viewNotification(known: KnownNotification): NotificationView {
  const { changedAt, changedBy, definitionId, include, name, on, paused, url, where } = known;
  return { name, url, on, definitionId, where, include, paused, changedBy, changedAt };
}

export function viewDelivery(delivery: DeliverySummary): DeliveryView {
  const { answer, attempts, createdAt, dueAt, endedAt, id, state, type, workflowId } = delivery;
  return {
    id,
    type,
    workflowId,
    state,
    attempts,
    createdAt,
    nextAttemptAt: state === 'waiting' ? dueAt : null,
    endedAt,
    // Written by `writeAnswer`.
    lastAnswer: answer === null ? null : (JSON.parse(answer) as DeliveryAnswer),
  };
}

export function writeAnswer(answer: DeliveryAnswer): string {
  return JSON.stringify(answer);
}
