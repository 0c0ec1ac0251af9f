/** Every operation of the contract, on one database. */
import type { AsynchronousOperations } from '../operations.js';
import * as activities from './activities.js';
import * as activityLists from './activity-lists.js';
import { claimActivity } from './activity-queue.js';
import { probeAtomicity } from './atomicity-probe.js';
import * as audit from './audit.js';
import * as definitions from './definitions.js';
import * as events from './events.js';
import * as housekeeping from './housekeeping.js';
import * as instances from './instances.js';
import { postMessages } from './messages.js';
import type { MongoContext } from './mongo-context.js';

export const MONGO_OPERATIONS: AsynchronousOperations<MongoContext> = {
  ping: async ({ nodes }) => {
    await nodes.findOne({}, { projection: { _id: 1 } });
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
  insertInstance: instances.insertInstance,
  getInstance: instances.getInstance,
  listInstances: instances.listInstances,
  commitInstance: instances.commitInstance,
  claimInstance: instances.claimInstance,
  setCrashes: instances.setCrashes,
  findDueInstances: instances.findDueInstances,
  findInstancesUnderWay: instances.findInstancesUnderWay,
  findChangedInstances: instances.findChangedInstances,
  postMessages,
  controlInstance: instances.controlInstance,
  appendAudit: audit.appendAudit,
  listAudit: audit.listAudit,
  readHistory: instances.readHistory,
  claimActivity,
  getActivities: activities.getActivities,
  findAvailableActivities: activities.findAvailableActivities,
  completeActivity: activities.completeActivity,
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
