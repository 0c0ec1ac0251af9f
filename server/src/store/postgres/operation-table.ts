/** Every operation of the contract, on one database. */
import type { AsynchronousOperations } from '../operations.js';
import * as activities from './activities.js';
import * as activityLists from './activity-lists.js';
import { claimActivity } from './activity-claims.js';
import { completeActivity } from './activity-results.js';
import { probeAtomicity } from './atomicity-probe.js';
import * as audit from './audit.js';
import * as definitions from './definitions.js';
import * as events from './events.js';
import * as housekeeping from './housekeeping.js';
import { readHistory } from './history.js';
import { controlInstance } from './control.js';
import { claimInstance, setCrashes } from './instance-claims.js';
import { commitInstance } from './commits.js';
import { insertInstance } from './inserts.js';
import * as instances from './instances.js';
import * as scans from './scans.js';
import { postMessages } from './messages.js';
import type { PostgresContext } from './postgres-context.js';

export const POSTGRES_OPERATIONS: AsynchronousOperations<PostgresContext> = {
  ping: async ({ database }) => {
    await database.query('SELECT 1');
  },
  probeAtomicity,
  insertDefinition: definitions.insertDefinition,
  getDefinition: definitions.getDefinition,
  listDefinitions: definitions.listDefinitions,
  listDefinitionVersions: definitions.listDefinitionVersions,
  insertStepScript: definitions.insertStepScript,
  getStepScript: definitions.getStepScript,
  listStepScripts: definitions.listStepScripts,
  listStepScriptVersions: definitions.listStepScriptVersions,
  insertInstance,
  getInstance: instances.getInstance,
  listInstances: instances.listInstances,
  commitInstance,
  claimInstance,
  setCrashes,
  findDueInstances: scans.findDueInstances,
  findInstancesUnderWay: scans.findInstancesUnderWay,
  findChangedInstances: scans.findChangedInstances,
  postMessages,
  controlInstance,
  appendAudit: audit.appendAudit,
  listAudit: audit.listAudit,
  readHistory,
  claimActivity,
  getActivities: activities.getActivities,
  findAvailableActivities: activities.findAvailableActivities,
  completeActivity,
  takeOverActivity: activities.takeOverActivity,
  extendActivity: activities.extendActivity,
  releaseActivity: activities.releaseActivity,
  findUnsettledActivities: activities.findUnsettledActivities,
  listActivityQueues: activityLists.listActivityQueues,
  listActivityItems: activityLists.listActivityItems,
  insertEvent: events.insertEvent,
  getEvent: events.getEvent,
  findEvents: events.findEvents,
  findSubscriptions: events.findSubscriptions,
  listEvents: events.listEvents,
  markEventDelivered: events.markEventDelivered,
  findUndeliveredEvents: events.findUndeliveredEvents,
  putNode: housekeeping.putNode,
  listNodes: housekeeping.listNodes,
  removeNode: housekeeping.removeNode,
  purge: housekeeping.purge,
  statistics: housekeeping.statistics,
};
