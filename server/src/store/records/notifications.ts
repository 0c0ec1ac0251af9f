/** Notifications, and their deliveries: what each target is told, and how often it was tried. */

/** What a person has set up: who is told about which changes of which instances. */
export interface NotificationRecord {
  readonly name: string;
  /** The target, the changes, the sealed secret and who wrote it, as text. */
  readonly settings: string;
  /** Why it is paused, as text. Null: it is not paused. */
  readonly paused: string | null;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What lists show. */
export interface DeliverySummary {
  readonly id: string;
  /** The name of the notification. */
  readonly notification: string;
  /** Null: a test. */
  readonly workflowId: string | null;
  /** What is told, such as `workflow.completed`. */
  readonly type: string;
  readonly createdAt: number;
  readonly state: DeliveryState;
  /** The fence: every claim increments it, and only the attempt that it names may be saved. */
  readonly attempts: number;
  /** When a node may claim it. A claim moves it to the end of its lease. Without a meaning unless it waits. */
  readonly dueAt: number;
  /** Start of the period in which it is tried. */
  readonly since: number;
  /** When it was delivered or given up. */
  readonly endedAt: number | null;
  /** The outcome of the last attempt, as text. */
  readonly answer: string | null;
}

export interface DeliveryRecord extends DeliverySummary {
  readonly body: string;
}

export interface DeliveryClaim {
  readonly notification: string;
  readonly now: number;
  /** End of the lease: other nodes may claim the deliveries from then on. */
  readonly until: number;
  readonly limit: number;
}

/** The outcome of an attempt. */
export type DeliveryAttempt = Pick<
  DeliverySummary,
  'id' | 'attempts' | 'state' | 'dueAt' | 'endedAt' | 'answer'
>;

export interface DeliveryFilter {
  readonly notification: string;
  readonly state?: DeliveryState;
}
