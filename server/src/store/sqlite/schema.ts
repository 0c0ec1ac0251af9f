/**
 * The tables of the embedded store. `PRAGMA user_version` holds the version of the schema.
 *
 * The state is the last column of an instance, so that lists and scans for due instances don't read the overflow pages
 * of long rows. The inbox is a separate table, so that posting to an instance with a long inbox costs no more than
 * posting the first message.
 */
import type { DatabaseSync } from 'node:sqlite';
import { FAIR_WAITS, SLOTS, TURNS } from './slot-tables.js';

export const SCHEMA_VERSION = 16;

/** `failingErrorAt`: see failing-since.ts. */
const INSTANCES = `
CREATE TABLE instances (
  id TEXT PRIMARY KEY, definitionId TEXT NOT NULL, version INTEGER NOT NULL, reference TEXT, tags TEXT,
  fields TEXT, status TEXT NOT NULL,
  startTime INTEGER NOT NULL, endTime INTEGER, outcome TEXT, parentId TEXT, rootId TEXT, lastChangeAt INTEGER NOT NULL,
  errorAt INTEGER, failingSince INTEGER, failingErrorAt INTEGER, failureKey TEXT, failure TEXT, wakeAt INTEGER, owner TEXT,
  epoch INTEGER NOT NULL, inSeq INTEGER NOT NULL,
  revision INTEGER NOT NULL, underWay INTEGER NOT NULL, crashes INTEGER NOT NULL, schemaVersion INTEGER NOT NULL, requestHash TEXT,
  restartOf TEXT, restartedAs TEXT, priority INTEGER NOT NULL DEFAULT 3,
  fairnessKey TEXT NOT NULL DEFAULT '', fairnessWeight REAL NOT NULL DEFAULT 1,
  queued INTEGER NOT NULL DEFAULT 0, countsFrom INTEGER, debounceKey TEXT, concurrencyKey TEXT, place TEXT, retentionMs INTEGER, startedBy TEXT,
  inboxBytes INTEGER NOT NULL DEFAULT 0, input TEXT, state TEXT NOT NULL
);
CREATE INDEX instances_started ON instances (startTime, id);
CREATE INDEX instances_roots ON instances (startTime, id) WHERE parentId IS NULL;
CREATE INDEX instances_parent ON instances (parentId, startTime, id) WHERE parentId IS NOT NULL;
CREATE INDEX instances_open_root ON instances (rootId)
  WHERE rootId IS NOT NULL AND status IN ('Runnable', 'Suspended');
-- Most succeed; those are found by their status, so that the end of each costs one index less.
CREATE INDEX instances_outcome ON instances (outcome, startTime, id) WHERE outcome <> 'Succeeded';
CREATE INDEX instances_status ON instances (status, startTime, id);
CREATE INDEX instances_definition ON instances (definitionId, startTime, id);
CREATE INDEX instances_definition_status ON instances (definitionId, status, startTime, id);
CREATE INDEX instances_version ON instances (definitionId, version, startTime, id);
CREATE INDEX instances_reference ON instances (reference, startTime, id) WHERE reference IS NOT NULL;
CREATE INDEX instances_open_reference ON instances (reference, definitionId, startTime, id)
  WHERE reference IS NOT NULL AND status IN ('Runnable', 'Suspended');
-- By this a start finds the runs with its reference that are kept, open or not.
CREATE INDEX instances_definition_reference ON instances (reference, definitionId, startTime, id)
  WHERE reference IS NOT NULL;
-- Those that count only later for instances that wait, and those that wait.
CREATE INDEX instances_later ON instances (reference, definitionId, countsFrom, id)
  WHERE reference IS NOT NULL AND countsFrom IS NOT NULL AND status IN ('Runnable', 'Suspended');
-- By these an insert and a grant count the places of a key, and find who waits for one.
CREATE INDEX instances_places ON instances (definitionId, concurrencyKey, place, queued, priority, countsFrom, id)
  WHERE concurrencyKey IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_fair ON instances (definitionId, concurrencyKey, priority, fairnessKey, countsFrom, id)
  WHERE concurrencyKey IS NOT NULL AND place = 'waiting' AND status IN ('Runnable', 'Suspended');
-- By this a start finds the open window of its key.
CREATE INDEX instances_window ON instances (definitionId, debounceKey)
  WHERE debounceKey IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_entered ON instances (reference, definitionId, countsFrom, id)
  WHERE reference IS NOT NULL AND countsFrom IS NOT NULL AND (queued = 1 OR place <> 'later')
    AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_queued ON instances (startTime, id) WHERE queued = 1 AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_due ON instances (wakeAt, id) WHERE wakeAt IS NOT NULL;
CREATE INDEX instances_owned ON instances (owner, lastChangeAt, id) WHERE status = 'Runnable';
CREATE INDEX instances_under_way ON instances (owner, id) WHERE underWay = 1;
CREATE INDEX instances_ended ON instances (endTime, id) WHERE endTime IS NOT NULL;
-- Ended instances that are kept as long as the server says, and those whose definition says how long.
CREATE INDEX instances_expiring ON instances (endTime, id) WHERE endTime IS NOT NULL AND retentionMs IS NULL;
CREATE INDEX instances_own_retention ON instances (endTime + retentionMs, id)
  WHERE retentionMs IS NOT NULL AND endTime IS NOT NULL;
-- Counting failures reads nothing but this index.
CREATE INDEX instances_failed ON instances (errorAt, id, failureKey, status, failingSince, failingErrorAt) WHERE errorAt IS NOT NULL;
CREATE INDEX instances_failure ON instances (failureKey, startTime, id) WHERE failureKey IS NOT NULL;
CREATE INDEX instances_unchanged ON instances (lastChangeAt, id) WHERE status IN ('Runnable', 'Suspended');
`;

/** By these instances are found, and walked in the order of lists: see index-terms.ts. */
const TERMS = `
CREATE TABLE terms (
  name TEXT NOT NULL, value TEXT NOT NULL, startTime INTEGER NOT NULL, instanceId TEXT NOT NULL,
  PRIMARY KEY (name, value, startTime, instanceId)
) WITHOUT ROWID;
`;

/** What starts keep: long inputs, which commits must not copy, and the ids of starts that joined an instance. */
const STARTS = `
CREATE TABLE inputs (instanceId TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE joined_starts (
  id TEXT PRIMARY KEY, requestHash TEXT NOT NULL, instanceId TEXT NOT NULL, joinedAt INTEGER NOT NULL DEFAULT 0, body TEXT
) WITHOUT ROWID;
CREATE INDEX joined_starts_instance ON joined_starts (instanceId);
CREATE INDEX joined_starts_time ON joined_starts (joinedAt);
CREATE TABLE disabled_definitions (id TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/** Control actions on an instance: the newest entries, as JSON. */
const ACTIONS = `
CREATE TABLE actions (
  instanceId TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (instanceId, sequence)
) WITHOUT ROWID;
`;

/** `takenBy` is a JSON list of instance ids. */
const EVENTS = `
CREATE TABLE events (
  id TEXT PRIMARY KEY, nameKey TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, publishedAt INTEGER NOT NULL,
  deliveredTo INTEGER, takenBy TEXT, requestHash TEXT, data TEXT NOT NULL
);
CREATE INDEX events_name ON events (nameKey, publishedAt, id);
CREATE INDEX events_undelivered ON events (publishedAt, id) WHERE deliveredTo IS NULL;
CREATE INDEX events_delivered ON events (publishedAt, id) WHERE deliveredTo IS NOT NULL;
`;

/** See records/bulk-jobs.ts. The texts that don't change come last. */
const BULK_JOBS = `
CREATE TABLE bulk_jobs (
  id TEXT PRIMARY KEY, requestHash TEXT, state TEXT NOT NULL, startTime INTEGER NOT NULL, endTime INTEGER, owner TEXT,
  epoch INTEGER NOT NULL, matched INTEGER NOT NULL, isCollected INTEGER NOT NULL, collectedTo TEXT, done INTEGER NOT NULL,
  skipped INTEGER NOT NULL, failed INTEGER NOT NULL, failures TEXT NOT NULL, about TEXT NOT NULL, task TEXT NOT NULL
);
CREATE INDEX bulk_jobs_started ON bulk_jobs (startTime, id);
CREATE INDEX bulk_jobs_running ON bulk_jobs (startTime, id) WHERE state = 'Running';
CREATE INDEX bulk_jobs_ended ON bulk_jobs (endTime, id) WHERE endTime IS NOT NULL;
CREATE TABLE bulk_ids (
  jobId TEXT NOT NULL, position INTEGER NOT NULL, ids TEXT NOT NULL, PRIMARY KEY (jobId, position)
) WITHOUT ROWID;
`;

/** See records/notifications.ts. The texts that may be long come last. */
const NOTIFICATIONS = `
CREATE TABLE notifications (name TEXT PRIMARY KEY, paused TEXT, settings TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY, notification TEXT NOT NULL, workflowId TEXT, type TEXT NOT NULL, createdAt INTEGER NOT NULL,
  state TEXT NOT NULL, attempts INTEGER NOT NULL, dueAt INTEGER NOT NULL, since INTEGER NOT NULL, endedAt INTEGER,
  answer TEXT, body TEXT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (notification, dueAt, id) WHERE state = 'waiting';
CREATE INDEX deliveries_created ON deliveries (notification, createdAt, id);
CREATE INDEX deliveries_state ON deliveries (notification, state, createdAt, id);
CREATE INDEX deliveries_ended ON deliveries (endedAt, id) WHERE endedAt IS NOT NULL;
`;

/** See records/triggers.ts. */
const TRIGGERS = `
CREATE TABLE triggers (
  id TEXT PRIMARY KEY, definitionId TEXT NOT NULL, dueAt INTEGER, eventHash TEXT, revision INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE INDEX triggers_definition ON triggers (definitionId, id);
CREATE INDEX triggers_due ON triggers (dueAt, id) WHERE dueAt IS NOT NULL;
CREATE INDEX triggers_event ON triggers (eventHash, id) WHERE eventHash IS NOT NULL;
`;

/** See records/resources.ts. */
const RESOURCES = `
CREATE TABLE resources (
  kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, expiresAt INTEGER, body TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX resources_expired ON resources (expiresAt) WHERE expiresAt IS NOT NULL;
`;

const NODES = `
CREATE TABLE nodes (
  id TEXT PRIMARY KEY, beatAt INTEGER NOT NULL, url TEXT NOT NULL, version TEXT NOT NULL, hostname TEXT NOT NULL,
  pid INTEGER NOT NULL, details TEXT
) WITHOUT ROWID;
`;

/** Activities that are settled and not done are withdrawn; those that are done and have no result were removed after that. */
const ACTIVITIES = `
CREATE TABLE activities (
  id TEXT PRIMARY KEY, instanceId TEXT NOT NULL, name TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 3,
  fairnessKey TEXT NOT NULL DEFAULT '', fairnessWeight REAL NOT NULL DEFAULT 1,
  createdAt INTEGER NOT NULL, availableAt INTEGER NOT NULL, deferred INTEGER NOT NULL, attempt INTEGER NOT NULL, tokenHash TEXT, workerId TEXT,
  done INTEGER NOT NULL, doneAt INTEGER, settled INTEGER NOT NULL, succeeded INTEGER, resultHash TEXT, needs TEXT,
  parameters TEXT NOT NULL, resultData TEXT
);
-- By this a claim finds the first item of each fairness key; nearly all have none.
CREATE INDEX activities_queue ON activities (name, priority, fairnessKey, availableAt, id) WHERE done = 0;
CREATE INDEX activities_keyed ON activities (name, priority, availableAt, id) WHERE done = 0 AND fairnessKey <> '';
CREATE INDEX activities_instance ON activities (instanceId);
CREATE INDEX activities_unsettled ON activities (doneAt, id) WHERE done = 1 AND settled = 0;
CREATE INDEX activities_settled ON activities (doneAt, id) WHERE settled = 1;
`;

const TABLES = `
CREATE TABLE definitions (
  id TEXT NOT NULL, version INTEGER NOT NULL, description TEXT, createdAt INTEGER NOT NULL, body TEXT NOT NULL,
  source TEXT,
  PRIMARY KEY (id, version)
);
CREATE TABLE definition_stamps (
  id TEXT PRIMARY KEY, requestHash TEXT NOT NULL, definitionId TEXT NOT NULL, version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE step_scripts (
  name TEXT NOT NULL, version INTEGER NOT NULL, createdAt INTEGER NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (name, version)
);
${INSTANCES}
CREATE TABLE inbox (
  instanceId TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (instanceId, id)
) WITHOUT ROWID;
CREATE TABLE history (
  instanceId TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (instanceId, sequence)
) WITHOUT ROWID;
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY, instanceId TEXT NOT NULL, nameKey TEXT NOT NULL, effectiveAt INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX subscriptions_name ON subscriptions (nameKey, id);
CREATE INDEX subscriptions_instance ON subscriptions (instanceId);

${ACTIVITIES}${TERMS}${ACTIONS}${EVENTS}${NODES}${STARTS}${BULK_JOBS}${TRIGGERS}${NOTIFICATIONS}${RESOURCES}${SLOTS}${FAIR_WAITS}${TURNS}`;

const INSTANCE_INDEXES_1 = [
  'instances_started',
  'instances_status',
  'instances_definition',
  'instances_definition_status',
  'instances_reference',
  'instances_due',
  'instances_owned',
  'instances_ended',
];
const INSTANCE_INDEXES_2 = [...INSTANCE_INDEXES_1, 'instances_failed', 'instances_unchanged'];
const EVENT_INDEXES_1 = ['events_name', 'events_undelivered', 'events_delivered'];

/** The columns that instances have had since the first version, except the state. */
const INSTANCE_COLUMNS_1 =
  'id, definitionId, version, reference, status, startTime, endTime, wakeAt, owner, epoch, inSeq, revision, crashes, ' +
  'schemaVersion, requestHash';

/**
 * Rebuilds the table of instances, because an added column would come after the long texts. `derived` computes the
 * newer columns from an old row.
 */
function rebuildInstances(
  indexes: readonly string[],
  derived: Readonly<Record<'lastChangeAt' | 'errorAt' | 'outcome', string>>,
): string {
  return `
ALTER TABLE instances RENAME TO instances_old;
${dropIndexes(indexes)}
${INSTANCES}
INSERT INTO instances (${INSTANCE_COLUMNS_1}, underWay, lastChangeAt, errorAt, outcome, parentId, state)
  SELECT ${INSTANCE_COLUMNS_1}, 0, ${derived.lastChangeAt}, ${derived.errorAt}, ${derived.outcome},
         CASE WHEN json_valid(state) THEN json_extract(state, '$.parent.workflowId') END, state
    FROM instances_old;
-- As far up as their states tell.
UPDATE instances SET rootId = parentId WHERE parentId IS NOT NULL;
DROP TABLE instances_old;
`;
}

function dropIndexes(names: readonly string[]): string {
  return names.map((name) => `DROP INDEX ${name};`).join('\n');
}

/** Instances of version 1 don't record when they last changed. The end or the start is the best approximation. */
const FROM_1 = `
${rebuildInstances(INSTANCE_INDEXES_1, {
  lastChangeAt: 'COALESCE(endTime, startTime)',
  errorAt: 'NULL',
  outcome: `CASE status WHEN 'Complete' THEN 'Succeeded' WHEN 'Terminated' THEN 'Terminated' END`,
})}
ALTER TABLE events RENAME TO events_1;
${dropIndexes(EVENT_INDEXES_1)}
${EVENTS}
INSERT INTO events (id, nameKey, name, key, publishedAt, deliveredTo, takenBy, requestHash, data)
  SELECT id, nameKey, name, key, publishedAt, deliveredTo, NULL, requestHash, data FROM events_1;
DROP TABLE events_1;
DROP TABLE nodes;
${NODES}
${ACTIONS}
`;

/** Instances that show an error were ended by it, unless the audit names someone who terminated them. */
const FROM_2 = rebuildInstances(INSTANCE_INDEXES_2, {
  lastChangeAt: 'lastChangeAt',
  errorAt: 'errorAt',
  outcome: `
    CASE status WHEN 'Complete' THEN 'Succeeded' WHEN 'Terminated' THEN
      CASE WHEN errorAt IS NULL OR EXISTS (
        SELECT 1 FROM actions WHERE instanceId = instances_old.id AND body LIKE '%"action":"terminate"%'
      ) THEN 'Terminated' ELSE 'Failed' END
    END`,
});

/**
 * Columns that instances of schema 3 may lack, because it had them only later, and that can't be null. A root is known as far up as the parent, and an
 * inbox that was filled before it was counted counts as empty.
 */
const DERIVED_3: Readonly<Record<string, string>> = { rootId: 'parentId', inboxBytes: '0' };

/** Starts that joined an instance before are kept as long as those that join one now. */
const FROM_5 = `
ALTER TABLE joined_starts ADD COLUMN joinedAt INTEGER NOT NULL DEFAULT 0;
UPDATE joined_starts SET joinedAt = CAST(unixepoch('subsec') * 1000 AS INTEGER);
ALTER TABLE joined_starts ADD COLUMN body TEXT;
CREATE INDEX joined_starts_time ON joined_starts (joinedAt);
`;

/** Rebuilds the table, because an added column would come after the long texts. New columns have their default. */
function rebuildActivities(connection: DatabaseSync): string {
  const columns = namesIn(connection, `SELECT name FROM pragma_table_info('activities')`).join(
    ', ',
  );
  return `
ALTER TABLE activities RENAME TO activities_old;
${dropIndexes(['activities_queue', 'activities_instance', 'activities_unsettled', 'activities_settled'])}
${ACTIVITIES}
INSERT INTO activities (${columns}) SELECT ${columns} FROM activities_old;
DROP TABLE activities_old;
`;
}

function namesIn(connection: DatabaseSync, query: string): readonly string[] {
  return connection
    .prepare(query)
    .all()
    .map(({ name }) => String(name));
}

/** Schema 3 to 15. New columns have their default. */
function fromNewer(connection: DatabaseSync): string {
  const old = namesIn(connection, `SELECT name FROM pragma_table_info('instances')`);
  const indexes = namesIn(
    connection,
    `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'instances' AND sql IS NOT NULL`,
  );
  const missing = Object.entries(DERIVED_3).filter(([name]) => !old.includes(name));
  const columns = [...old, ...missing.map(([name]) => name)].join(', ');
  return `
ALTER TABLE instances RENAME TO instances_old;
${dropIndexes(indexes)}
${INSTANCES}
INSERT INTO instances (${columns})
  SELECT ${[...old, ...missing.map(([, value]) => value)].join(', ')} FROM instances_old;
DROP TABLE instances_old;
`;
}

/** The slots came with schema 14. */
const SLOTS_FROM_14 = `
ALTER TABLE slot_waits ADD COLUMN fairnessKey TEXT NOT NULL DEFAULT '';
ALTER TABLE slot_waits ADD COLUMN fairnessWeight REAL NOT NULL DEFAULT 1;
`;

/**
 * Creates whatever is missing. Runs inside a write transaction of the caller, so that if several processes open a new
 * file at once, one creates the tables and the others find them.
 */
export function prepareSchema(connection: DatabaseSync, path: string): void {
  const version = readSchemaVersion(connection);
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `The database ${path} was written by a newer version of the server (schema ${version}, ` +
        `this server knows up to ${SCHEMA_VERSION}); start that version, or use another file`,
    );
  }
  if (version === 0) connection.exec(TABLES);
  if (version === 1) connection.exec(FROM_1);
  if (version === 2) connection.exec(FROM_2);
  if (version >= 3 && version < 16) connection.exec(fromNewer(connection));
  if (version > 0 && version < 5) connection.exec(TERMS + STARTS);
  if (version === 5) connection.exec(FROM_5);
  if (version > 0 && version < 6) connection.exec(BULK_JOBS);
  if (version > 0 && version < 6) connection.exec('ALTER TABLE definitions ADD COLUMN source TEXT');
  if (version > 0 && version < 8) connection.exec(`${TRIGGERS}${NOTIFICATIONS}`);
  if (version > 0 && version < 9) connection.exec(RESOURCES);
  if (version > 0 && version < 16) connection.exec(rebuildActivities(connection));
  if (version > 0 && version < 14) connection.exec(SLOTS);
  if (version >= 14 && version < 16) connection.exec(SLOTS_FROM_14);
  if (version > 0 && version < 16) connection.exec(FAIR_WAITS + TURNS);
  if (version < SCHEMA_VERSION) connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function readSchemaVersion(connection: DatabaseSync): number {
  const version = connection.prepare('PRAGMA user_version').get()?.['user_version'];
  return typeof version === 'number' ? version : 0;
}
