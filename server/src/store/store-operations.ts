/**
 * The store contract as a table: every operation by name, and whether it reads, searches or writes. It is the only list of
 * them.
 *
 * Adapters and wrappers that treat all operations alike (SQLite's worker thread, the observer, the memory store) use this
 * table instead of repeating the contract. An adapter gathers its operations from its modules by their names, and the
 * compiler reports what is missing.
 */
import type { Service } from '../base/service.js';
import type { Store } from './store.js';

export type StoreOperation = Exclude<
  keyof Store,
  'kind' | 'storesDeliveries' | keyof Service | 'notify'
>;

/** @see STORE_OPERATION_KINDS */
export type StoreOperationKind = 'read' | 'search' | 'write';

/**
 * - `write`: may change something, even if it finds nothing to change.
 * - `search`: reads for a list, a count or figures, which takes far longer than a point read. Only what callers ask for
 *   searches, never the work on runs: few searches of callers run at the same time (bounded-searches.ts), and SQLite runs
 *   them on a thread of their own. A search sees every write that was answered before it began.
 * - `read`: any other, such as the record of an id, or what is due.
 */
export const STORE_OPERATION_KINDS: Readonly<Record<StoreOperation, StoreOperationKind>> = {
  ping: 'read',
  probeAtomicity: 'write',
  insertDefinition: 'write',
  getDefinition: 'read',
  getDefinitionSource: 'read',
  listDefinitions: 'search',
  listDefinitionVersions: 'search',
  setDefinitionDisabled: 'write',
  insertStepScript: 'write',
  getStepScript: 'read',
  listStepScripts: 'search',
  listStepScriptVersions: 'search',
  insertInstance: 'write',
  getInstance: 'read',
  forgetJoinedStart: 'write',
  getInput: 'read',
  getSummaries: 'search',
  listInstances: 'search',
  countInstances: 'search',
  findInstancesByText: 'search',
  countFailures: 'search',
  commitInstance: 'write',
  claimInstance: 'write',
  findPredecessor: 'write',
  grantPlaces: 'write',
  countPlaces: 'search',
  findWaitingKeys: 'read',
  grantSlots: 'write',
  findWaitedKeys: 'read',
  countSlots: 'search',
  findSlotPosition: 'search',
  setCrashes: 'write',
  findDueInstances: 'read',
  findInstancesUnderWay: 'read',
  findChangedInstances: 'read',
  postMessages: 'write',
  controlInstance: 'write',
  patchTags: 'write',
  setPriority: 'write',
  linkRestart: 'write',
  replaceIndex: 'write',
  appendAudit: 'write',
  listAudit: 'read',
  readHistory: 'search',
  claimActivity: 'write',
  getActivities: 'read',
  findAvailableActivities: 'read',
  completeActivity: 'write',
  takeOverActivity: 'write',
  extendActivity: 'write',
  keepClaims: 'write',
  releaseActivity: 'write',
  withdrawActivities: 'write',
  findUnsettledActivities: 'read',
  listActivityQueues: 'search',
  listActivityItems: 'search',
  insertEvent: 'write',
  getEvent: 'read',
  findEvents: 'read',
  findSubscriptions: 'read',
  listSubscriptions: 'search',
  listEvents: 'search',
  markEventsDelivered: 'write',
  findUndeliveredEvents: 'read',
  insertBulkJob: 'write',
  getBulkJob: 'read',
  listBulkJobs: 'search',
  findRunningBulkJobs: 'read',
  claimBulkJob: 'write',
  collectBulkIds: 'write',
  readBulkIds: 'read',
  saveBulkProgress: 'write',
  stopBulkJob: 'write',
  purgeBulkJobs: 'write',
  putNotification: 'write',
  listNotifications: 'read',
  pauseNotification: 'write',
  removeNotification: 'write',
  insertDeliveries: 'write',
  claimDeliveries: 'write',
  saveDelivery: 'write',
  redeliver: 'write',
  getDelivery: 'read',
  listDeliveries: 'search',
  removeDeliveries: 'write',
  purgeDeliveries: 'write',
  saveTrigger: 'write',
  removeTrigger: 'write',
  getTrigger: 'read',
  listTriggers: 'read',
  findDueTriggers: 'read',
  findEventTriggers: 'read',
  saveResource: 'write',
  removeResource: 'write',
  getResource: 'read',
  listResources: 'search',
  purgeResources: 'write',
  putNode: 'write',
  listNodes: 'read',
  removeNode: 'write',
  findExpiredInstances: 'read',
  removeInstances: 'write',
  purge: 'write',
  statistics: 'search',
};

// The keys of a literal that TypeScript has checked.
const STORE_OPERATIONS = Object.keys(STORE_OPERATION_KINDS) as StoreOperation[];

export type OperationArguments<Name extends StoreOperation> = Parameters<Store[Name]>;
export type OperationResult<Name extends StoreOperation> = Awaited<ReturnType<Store[Name]>>;

/** Executes any operation. */
export type CallOperation = <Name extends StoreOperation>(
  name: Name,
  args: OperationArguments<Name>,
) => Promise<OperationResult<Name>>;

/** Operations that execute immediately on a `Context`: a database connection, or maps in memory. */
export type SynchronousOperations<Context> = {
  readonly [Name in StoreOperation]: (
    context: Context,
    args: OperationArguments<Name>,
  ) => OperationResult<Name>;
};

/** Operations that call a server. */
export type AsynchronousOperations<Context> = {
  readonly [Name in StoreOperation]: (
    context: Context,
    args: OperationArguments<Name>,
  ) => Promise<OperationResult<Name>>;
};

/** All methods of the contract, each executed by `call`. */
export function storeMethods(call: CallOperation): Pick<Store, StoreOperation> {
  // TypeScript loses the names when an object is built from a list of pairs.
  const methods = Object.fromEntries(
    STORE_OPERATIONS.map((name) => [
      name,
      (...args: OperationArguments<typeof name>) => call(name, args),
    ]),
  ) as unknown;
  return methods as Pick<Store, StoreOperation>;
}

/** Calls the method of this name. */
export function callOperation<Name extends StoreOperation>(
  store: Store,
  name: Name,
  args: OperationArguments<Name>,
): Promise<OperationResult<Name>> {
  // That the arguments belong to the method of the same name is more than TypeScript can follow.
  const method = store[name].bind(store) as unknown as (
    ...args: OperationArguments<Name>
  ) => Promise<OperationResult<Name>>;
  return method(...args);
}
