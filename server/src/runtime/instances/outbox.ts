/** Sends an instance's messages to others: to its parent how it ended, to its children that they are no longer needed. */
import type { ChildMessage } from '../../engine/flow/messages.js';
import type { OutboxMessage, WorkflowInstance } from '../../engine/model/instance.js';
import type { Clock } from '../../base/clock.js';
import type { InboxMessage, PostedMessage } from '../../store/records/messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { compensateInstance } from '../operations/termination.js';
import { inboxMessage } from './message-codec.js';
import { terminationWith } from './terminated-child.js';

export interface OutboxOptions {
  readonly store: Pick<Store, 'controlInstance' | 'getInstance' | 'listAudit' | 'postMessages'>;
  readonly clock: Clock;
  /** A message was stored: the node that runs its instance must be notified. */
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
  /** The status of an instance was changed in the store. */
  readonly controlled: (record: InstanceRecord) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** May be repeated: the second time changes nothing. @throws StoreUnavailableError */
  async send(instance: WorkflowInstance, message: OutboxMessage): Promise<void> {
    if (message.kind === 'terminate-child') return this.#terminateChild(instance, message);
    const { posted, store } = this.#options;
    const { attempt, parentId, pointerId } = message;
    const inbox = inboxMessage(`child/${instance.id}`, {
      kind: 'child',
      pointerId,
      attempt,
      workflowId: instance.id,
      status: instance.status,
      ...endOf(instance),
      data: instance.data,
    });
    const [answer] = await store.postMessages([{ instanceId: parentId, message: inbox }]);
    if (answer !== null && answer !== undefined) posted(answer, inbox);
  }

  async #terminateChild(
    parent: WorkflowInstance,
    { compensate, workflowId }: Extract<OutboxMessage, { kind: 'terminate-child' }>,
  ): Promise<void> {
    const { clock, controlled, store } = this.#options;
    const audit = terminationWith(parent, await store.listAudit(parent.id), clock.now());
    const result =
      compensate === true
        ? await compensateInstance(store, workflowId, audit)
        : await store.controlInstance(workflowId, 'terminate', audit.time, audit);
    if (result.outcome === 'done') controlled(result.record);
  }
}

/** How and why an instance ended, as reported to its parent. */
function endOf({ lastError, outcome }: WorkflowInstance): Pick<ChildMessage, 'outcome' | 'error'> {
  if (lastError === null) return { ...(outcome !== null && { outcome }), error: null };
  const { data, message, stepId, type } = lastError;
  return { ...(outcome !== null && { outcome }), error: { stepId, type, message, data } };
}
