/**
 * The store contract as a table: every operation by name, and whether it reads or writes.
 *
 * Adapters and wrappers that treat all operations alike (SQLite's worker thread, the observer, the memory store) use this
 * table instead of repeating the contract.
 */
import type { Service } from '../base/service.js';
import type { Store } from './store.js';

export type StoreOperation = Exclude<keyof Store, 'kind' | keyof Service | 'notify'>;

export type StoreOperationKind = 'read' | 'write';

/** An operation that may change something is a write, even if it finds nothing to change. */
export const STORE_OPERATION_KINDS: Readonly<Record<StoreOperation, StoreOperationKind>> = {
  ping: 'read',
  probeAtomicity: 'write',
  insertDefinition: 'write',
  getDefinition: 'read',
  listDefinitions: 'read',
  listDefinitionVersions: 'read',
  insertStepScript: 'write',
  getStepScript: 'read',
  listStepScripts: 'read',
  listStepScriptVersions: 'read',
  insertInstance: 'write',
  getInstance: 'read',
  listInstances: 'read',
  commitInstance: 'write',
  claimInstance: 'write',
  setCrashes: 'write',
  findDueInstances: 'read',
  findInstancesUnderWay: 'read',
  findChangedInstances: 'read',
  postMessages: 'write',
  controlInstance: 'write',
  appendAudit: 'write',
  listAudit: 'read',
  readHistory: 'read',
  claimActivity: 'write',
  getActivities: 'read',
  findAvailableActivities: 'read',
  completeActivity: 'write',
  takeOverActivity: 'write',
  extendActivity: 'write',
  releaseActivity: 'write',
  findUnsettledActivities: 'read',
  listActivityQueues: 'read',
  listActivityItems: 'read',
  insertEvent: 'write',
  getEvent: 'read',
  findEvents: 'read',
  findSubscriptions: 'read',
  listEvents: 'read',
  markEventDelivered: 'write',
  findUndeliveredEvents: 'read',
  putNode: 'write',
  listNodes: 'read',
  removeNode: 'write',
  purge: 'write',
  statistics: 'read',
};

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
  return {
    ping: (...args) => call('ping', args),
    probeAtomicity: (...args) => call('probeAtomicity', args),
    insertDefinition: (...args) => call('insertDefinition', args),
    getDefinition: (...args) => call('getDefinition', args),
    listDefinitions: (...args) => call('listDefinitions', args),
    listDefinitionVersions: (...args) => call('listDefinitionVersions', args),
    insertStepScript: (...args) => call('insertStepScript', args),
    getStepScript: (...args) => call('getStepScript', args),
    listStepScripts: (...args) => call('listStepScripts', args),
    listStepScriptVersions: (...args) => call('listStepScriptVersions', args),
    insertInstance: (...args) => call('insertInstance', args),
    getInstance: (...args) => call('getInstance', args),
    listInstances: (...args) => call('listInstances', args),
    commitInstance: (...args) => call('commitInstance', args),
    claimInstance: (...args) => call('claimInstance', args),
    setCrashes: (...args) => call('setCrashes', args),
    findDueInstances: (...args) => call('findDueInstances', args),
    findInstancesUnderWay: (...args) => call('findInstancesUnderWay', args),
    findChangedInstances: (...args) => call('findChangedInstances', args),
    postMessages: (...args) => call('postMessages', args),
    controlInstance: (...args) => call('controlInstance', args),
    appendAudit: (...args) => call('appendAudit', args),
    listAudit: (...args) => call('listAudit', args),
    readHistory: (...args) => call('readHistory', args),
    claimActivity: (...args) => call('claimActivity', args),
    getActivities: (...args) => call('getActivities', args),
    findAvailableActivities: (...args) => call('findAvailableActivities', args),
    completeActivity: (...args) => call('completeActivity', args),
    takeOverActivity: (...args) => call('takeOverActivity', args),
    extendActivity: (...args) => call('extendActivity', args),
    releaseActivity: (...args) => call('releaseActivity', args),
    findUnsettledActivities: (...args) => call('findUnsettledActivities', args),
    listActivityQueues: (...args) => call('listActivityQueues', args),
    listActivityItems: (...args) => call('listActivityItems', args),
    insertEvent: (...args) => call('insertEvent', args),
    getEvent: (...args) => call('getEvent', args),
    findEvents: (...args) => call('findEvents', args),
    findSubscriptions: (...args) => call('findSubscriptions', args),
    listEvents: (...args) => call('listEvents', args),
    markEventDelivered: (...args) => call('markEventDelivered', args),
    findUndeliveredEvents: (...args) => call('findUndeliveredEvents', args),
    putNode: (...args) => call('putNode', args),
    listNodes: (...args) => call('listNodes', args),
    removeNode: (...args) => call('removeNode', args),
    purge: (...args) => call('purge', args),
    statistics: (...args) => call('statistics', args),
  };
}
