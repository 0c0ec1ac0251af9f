/** Writes whole records into the tables of the embedded store: each is one row with the rows that belong to it. */
import type { ArchivedRecords, RecordKind } from '../../archive.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { noteAction } from '../statements/audit.js';
import { saveResource } from '../statements/resources.js';
import { saveTrigger } from '../statements/triggers.js';
import { insertBulkJobRow, putChunk } from '../statements/bulk-jobs.js';
import { insertDelivery, putNotification } from '../statements/notifications.js';
import { setDefinitionDisabled } from '../statements/definitions.js';
import { putNode } from '../statements/housekeeping.js';
import { insertJoinedStart } from '../statements/inserts.js';
import { insertInstanceRow } from '../statements/instance-rows.js';

type Writers = {
  readonly [Kind in RecordKind]: (database: Database, record: ArchivedRecords[Kind]) => void;
};

export const WRITERS: Writers = {
  definition(database, record) {
    const { body, createdAt, description, disabled, id, source, stamp, version } = record;
    database.run(
      'INSERT INTO definitions (id, version, description, createdAt, body, source) VALUES (?, ?, ?, ?, ?, ?)',
      encodeText(id),
      version,
      encodeOptional(description),
      createdAt,
      encodeText(body),
      encodeOptional(source),
    );
    if (disabled) setDefinitionDisabled(database, [id, true]);
    if (stamp === null) return;
    database.run(
      'INSERT INTO definition_stamps (id, requestHash, definitionId, version) VALUES (?, ?, ?, ?)',
      encodeText(stamp.id),
      encodeText(stamp.requestHash),
      encodeText(id),
      version,
    );
  },
  stepScript(database, { createdAt, name, source, version }) {
    database.run(
      'INSERT INTO step_scripts (name, version, createdAt, source) VALUES (?, ?, ?, ?)',
      encodeText(name),
      version,
      createdAt,
      encodeText(source),
    );
  },
  instance(database, { audit, input, ...record }) {
    insertInstanceRow(database, record, input);
    for (const entry of audit) noteAction(database, record.id, entry);
  },
  joinedStart: insertJoinedStart,
  history(database, { body, instanceId, sequence }) {
    database.run(
      'INSERT INTO history (instanceId, sequence, body) VALUES (?, ?, ?)',
      encodeText(instanceId),
      sequence,
      encodeText(body),
    );
  },
  subscription(database, { effectiveAt, id, instanceId, nameKey }) {
    database.run(
      'INSERT INTO subscriptions (id, instanceId, nameKey, effectiveAt) VALUES (?, ?, ?, ?)',
      encodeText(id),
      encodeText(instanceId),
      encodeText(nameKey),
      effectiveAt,
    );
  },
  activity(database, item) {
    database.run(
      `INSERT INTO activities (id, instanceId, name, createdAt, availableAt, deferred, attempt, tokenHash, workerId, done,
                               doneAt, settled, succeeded, resultHash, parameters, resultData)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      encodeText(item.id),
      encodeText(item.instanceId),
      encodeText(item.name),
      item.createdAt,
      item.availableAt,
      item.deferred ? 1 : 0,
      item.attempt,
      encodeOptional(item.tokenHash),
      encodeOptional(item.workerId),
      item.done ? 1 : 0,
      item.doneAt,
      item.settled ? 1 : 0,
      item.result === null ? null : item.result.succeeded ? 1 : 0,
      encodeOptional(item.result?.hash ?? null),
      encodeText(item.parameters),
      encodeOptional(item.result?.data ?? null),
    );
  },
  event(database, event) {
    database.run(
      `INSERT INTO events (id, nameKey, name, key, publishedAt, deliveredTo, takenBy, requestHash, data)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      encodeText(event.id),
      encodeText(event.nameKey),
      encodeText(event.name),
      encodeText(event.key),
      event.publishedAt,
      event.deliveredTo,
      event.deliveredTo === null ? null : JSON.stringify(event.takenBy),
      encodeOptional(event.requestHash),
      encodeText(event.data),
    );
  },
  bulkJob(database, job) {
    insertBulkJobRow(database, job);
  },
  bulkIds(database, { ids, jobId, position }) {
    putChunk(database, jobId, position, ids);
  },
  notification(database, notification) {
    putNotification(database, [notification]);
  },
  delivery: insertDelivery,
  trigger(database, trigger) {
    saveTrigger(database, [trigger, null]);
  },
  resource(database, resource) {
    saveResource(database, [resource, null]);
  },
  node(database, node) {
    putNode(database, [node]);
  },
};
