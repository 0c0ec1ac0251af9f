/** Notifications as clients see them. */
import type { InstanceChange } from '../../engine/model/instance-change.js';
import type { DeliveryState } from '../../store/records/notifications.js';

export interface NotificationSettings {
  readonly url: string;
  readonly on: readonly InstanceChange[];
  /** Null: all definitions. */
  readonly definitionId: string | null;
  /** Conditions on tags and index fields, as text. All must hold. */
  readonly where: readonly string[];
  readonly include: 'summary' | 'data';
}

export interface NotificationRequest extends NotificationSettings {
  /** Null: unchanged. */
  readonly secret: string | null;
  readonly actor: string;
}

export interface NotificationView extends NotificationSettings {
  readonly name: string;
  /** Why it is paused; null if it is not. */
  readonly paused: string | null;
  readonly changedBy: string;
  readonly changedAt: number;
}

/** The outcome of an attempt. */
export interface DeliveryAnswer {
  readonly time: number;
  /** Null: there was no response. */
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of its body. */
  readonly body: string | null;
  readonly durationMs: number;
}

export interface DeliveryView {
  readonly id: string;
  readonly type: string;
  readonly workflowId: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAt: number;
  /** Null: none is due. */
  readonly nextAttemptAt: number | null;
  readonly endedAt: number | null;
  readonly lastAnswer: DeliveryAnswer | null;
}
