/**
 * Which API calls the audit log records, and with which details.
 *
 *  AU3 A successful call is answered only after its entry is stored, so a caller who sees the success can also see the entry.
 *  AU4 Entries don't contain request bodies, which may hold secrets and run data. The exceptions are names and the reason given
 *      by an operator.
 */
import type { Request } from 'express';
import type { AuditedChange } from '../../runtime/audit/audit-types.js';
import { WITH_COMPENSATION } from '../../runtime/instances/termination.js';
import { actorOf, addressOf, contextOf, type ApiServices } from '../http/request-context.js';

type Change = Pick<AuditedChange, 'action' | 'target' | 'detail'>;
type ChangesOf = (call: {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
}) => readonly Change[];

function named(action: string, kind: string, member = 'name'): ChangesOf {
  return ({ path }) => [{ action, target: { kind, id: path[member] ?? '' }, detail: null }];
}

function whyOf(compensates: boolean, reason: unknown): string | null {
  const given = typeof reason === 'string' ? [reason] : [];
  const parts = [...(compensates ? [WITH_COMPENSATION] : []), ...given];
  return parts.length === 0 ? null : parts.join('; ');
}

/** For calls whose body has a reason. */
function reasoned(action: string): ChangesOf {
  return ({ body: { dryRun, reason }, path: { id = '' } }) =>
    dryRun === true ? [] : [{ action, target: { kind: 'workflow', id }, detail: String(reason) }];
}

function trigger(action: string): ChangesOf {
  return ({ path: { id = '', name = '' } }) => [
    { action, target: { kind: 'trigger', id: `${id}/${name}` }, detail: null },
  ];
}

/** Parsed the same way as tsoa does. */
function isTrue(parameter: unknown): boolean {
  return String(parameter).toLowerCase() === 'true';
}

/** By operation of the API. */
export const AUDITED_CALLS: Readonly<Record<string, ChangesOf>> = {
  registerDefinition: ({ answer: { id, version } }) => [
    {
      action: 'definition.register',
      target: { kind: 'definition', id: String(id) },
      detail: `version ${String(version)}`,
    },
  ],
  disableDefinition: named('definition.disable', 'definition', 'id'),
  enableDefinition: named('definition.enable', 'definition', 'id'),
  putStep: ({ answer: { name, version } }) => [
    {
      action: 'script.put',
      target: { kind: 'script', id: String(name) },
      detail: `version ${String(version)}`,
    },
  ],
  pauseTrigger: trigger('trigger.pause'),
  resumeTrigger: trigger('trigger.resume'),
  fireTrigger: trigger('trigger.fire'),
  backfillTrigger: trigger('trigger.backfill'),
  putWebhook: named('webhook.put', 'webhook'),
  removeWebhook: named('webhook.remove', 'webhook'),
  putLimit: named('limit.put', 'limit'),
  removeLimit: named('limit.remove', 'limit'),
  putNotification: named('notification.put', 'notification'),
  removeNotification: named('notification.remove', 'notification'),
  pauseNotification: named('notification.pause', 'notification'),
  resumeNotification: named('notification.resume', 'notification'),
  testNotification: named('notification.test', 'notification'),
  redeliver: named('notification.redeliver', 'notification'),
  createKey: ({ answer: { id, name } }) => [
    { action: 'key.create', target: { kind: 'key', id: String(id) }, detail: String(name) },
  ],
  removeKey: named('key.remove', 'key', 'id'),
  suspendWorkflow: named('workflow.suspend', 'workflow', 'id'),
  resumeWorkflow: named('workflow.resume', 'workflow', 'id'),
  terminateWorkflow: ({ path: { id = '' }, query: { compensate, purge, reason } }) => [
    {
      action: isTrue(purge) ? 'workflow.purge' : 'workflow.terminate',
      target: { kind: 'workflow', id },
      detail: whyOf(isTrue(compensate), reason),
    },
  ],
  retryWorkflow: named('workflow.retry', 'workflow', 'id'),
  setWorkflowTags: named('workflow.set-tags', 'workflow', 'id'),
  setWorkflowPriority: named('workflow.set-priority', 'workflow', 'id'),
  restartWorkflow: reasoned('workflow.restart'),
  modifyWorkflow: reasoned('workflow.modify'),
  rerunWorkflow: reasoned('workflow.rerun'),
  completeAwaitedActivity: named('workflow.complete-activity', 'workflow', 'id'),
  failAwaitedActivity: named('workflow.fail-activity', 'workflow', 'id'),
  controlWorkflows: ({ answer, body }) =>
    // The answer is a `ControlAnswer`.
    (answer['results'] as readonly { readonly workflowId: string; readonly outcome: string }[])
      .filter(({ outcome }) => outcome === 'done')
      .map(({ workflowId }) => ({
        action: `workflow.${String(body['action'])}`,
        target: { kind: 'workflow', id: workflowId },
        detail: whyOf(body['compensate'] === true, body['reason']),
      })),
  createBulkJob: ({ answer: { id }, body }) =>
    // A preview has no id, and does nothing.
    typeof id === 'string'
      ? [
          {
            action: 'bulk.create',
            target: { kind: 'bulk', id },
            detail: `${String(body['action'])}: ${String(body['reason'])}`,
          },
        ]
      : [],
  stopBulkJob: named('bulk.stop', 'bulk', 'id'),
};

/** By class: the methods of a controller, with the entry of each audited one. Null if none are audited. */
const constructors = new WeakMap<object, (() => void) | null>();
const callers = new WeakMap<object, Request>();

/**
 * Creates a controller whose audited calls are recorded. tsoa calls the prototype's own methods. Controllers without audited
 * calls aren't wrapped: for starts, events and work items, the wrapper would cost a tenth of the CPU time.
 */
export function createAudited<T extends object>(
  controller: new (services: ApiServices) => T,
  request: Request,
): T {
  const { services } = contextOf(request);
  const audited = request.method === 'GET' ? null : auditedConstructorOf(controller);
  if (audited === null) return new controller(services);
  const instance = Reflect.construct(controller, [services], audited) as T;
  callers.set(instance, request);
  return instance;
}

function auditedConstructorOf(
  controller: new (services: ApiServices) => object,
): (() => void) | null {
  const known = constructors.get(controller);
  if (known !== undefined) return known;
  const audited = function (): void {};
  const prototype = auditedPrototypeOf(controller.prototype as object);
  audited.prototype = prototype;
  constructors.set(controller, prototype === null ? null : audited);
  return prototype === null ? null : audited;
}

/** Null if no method is audited. */
function auditedPrototypeOf(original: object): object | null {
  const calls = Object.entries(AUDITED_CALLS).flatMap(([name, changesOf]) => {
    const method: unknown = Reflect.get(original, name);
    return typeof method === 'function' ? [{ name, method, changesOf }] : [];
  });
  if (calls.length === 0) return null;
  const prototype = Object.create(original, Object.getOwnPropertyDescriptors(original)) as object;
  for (const { name, method, changesOf } of calls) {
    const value = async function (this: object, ...values: readonly unknown[]): Promise<unknown> {
      const answer: unknown = await Reflect.apply(method, this, values);
      const request = callers.get(this);
      if (request === undefined) throw new Error('The controller does not belong to a request');
      await record(request, changesOf, answer);
      return answer;
    };
    Object.defineProperty(prototype, name, { value });
  }
  return prototype;
}

/** For runs that a start terminates because they have the same reference. The response doesn't name them. */
export function auditReplaced(request: Request): (workflowId: string) => Promise<void> {
  return (workflowId) =>
    store(request, [
      {
        action: 'workflow.terminate',
        target: { kind: 'workflow', id: workflowId },
        detail: 'replaced by a start with its reference',
      },
    ]);
}

/** For events that an operator publishes for a run. Other events are too many, and have their own records. */
export function auditPublished(
  request: Request,
  workflowId: string,
  eventName: string,
): Promise<void> {
  const target = { kind: 'workflow', id: workflowId };
  return store(request, [{ action: 'workflow.publish-event', target, detail: eventName }]);
}

async function record(request: Request, changesOf: ChangesOf, answer: unknown): Promise<void> {
  const path = request.params as Readonly<Record<string, string>>;
  const body = membersOf(contextOf(request).body?.value);
  await store(request, changesOf({ path, query: request.query, body, answer: membersOf(answer) }));
}

async function store(request: Request, changes: readonly Change[]): Promise<void> {
  const actor = await actorOf(request);
  const address = addressOf(request);
  await contextOf(request).services.host.audit.record(
    changes.map((change) => ({ ...change, actor, address })),
  );
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
