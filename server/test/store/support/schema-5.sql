-- The tables of schema 5, as the server created them.
CREATE TABLE definitions (
  id TEXT NOT NULL, version INTEGER NOT NULL, description TEXT, createdAt INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (id, version)
);
CREATE TABLE definition_stamps (
  id TEXT PRIMARY KEY, requestHash TEXT NOT NULL, definitionId TEXT NOT NULL, version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE step_scripts (
  name TEXT NOT NULL, version INTEGER NOT NULL, createdAt INTEGER NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (name, version)
);
CREATE TABLE instances (
  id TEXT PRIMARY KEY, definitionId TEXT NOT NULL, version INTEGER NOT NULL, reference TEXT, tags TEXT,
  fields TEXT, status TEXT NOT NULL,
  startTime INTEGER NOT NULL, endTime INTEGER, outcome TEXT, parentId TEXT, rootId TEXT, lastChangeAt INTEGER NOT NULL,
  errorAt INTEGER, wakeAt INTEGER, owner TEXT, epoch INTEGER NOT NULL, inSeq INTEGER NOT NULL,
  revision INTEGER NOT NULL, underWay INTEGER NOT NULL, crashes INTEGER NOT NULL, schemaVersion INTEGER NOT NULL, requestHash TEXT,
  inboxBytes INTEGER NOT NULL DEFAULT 0, input TEXT, state TEXT NOT NULL
);
CREATE INDEX instances_started ON instances (startTime, id);
CREATE INDEX instances_roots ON instances (startTime, id) WHERE parentId IS NULL;
CREATE INDEX instances_parent ON instances (parentId, startTime, id) WHERE parentId IS NOT NULL;
CREATE INDEX instances_open_root ON instances (rootId)
  WHERE rootId IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_outcome ON instances (outcome, startTime, id) WHERE outcome <> 'Succeeded';
CREATE INDEX instances_status ON instances (status, startTime, id);
CREATE INDEX instances_definition ON instances (definitionId, startTime, id);
CREATE INDEX instances_definition_status ON instances (definitionId, status, startTime, id);
CREATE INDEX instances_reference ON instances (reference, startTime, id) WHERE reference IS NOT NULL;
CREATE INDEX instances_open_reference ON instances (reference, definitionId, startTime, id)
  WHERE reference IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_due ON instances (wakeAt, id) WHERE wakeAt IS NOT NULL;
CREATE INDEX instances_owned ON instances (owner, lastChangeAt, id) WHERE status = 'Runnable';
CREATE INDEX instances_under_way ON instances (owner, id) WHERE underWay = 1;
CREATE INDEX instances_ended ON instances (endTime, id) WHERE endTime IS NOT NULL;
CREATE INDEX instances_failed ON instances (errorAt, id) WHERE errorAt IS NOT NULL;
CREATE INDEX instances_unchanged ON instances (lastChangeAt, id) WHERE status IN ('Runnable', 'Suspended');
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
CREATE TABLE activities (
  id TEXT PRIMARY KEY, instanceId TEXT NOT NULL, name TEXT NOT NULL, createdAt INTEGER NOT NULL,
  availableAt INTEGER NOT NULL, deferred INTEGER NOT NULL, attempt INTEGER NOT NULL, tokenHash TEXT, workerId TEXT,
  done INTEGER NOT NULL, doneAt INTEGER, settled INTEGER NOT NULL, succeeded INTEGER, resultHash TEXT,
  parameters TEXT NOT NULL, resultData TEXT
);
CREATE INDEX activities_queue ON activities (name, availableAt, id) WHERE done = 0;
CREATE INDEX activities_instance ON activities (instanceId);
CREATE INDEX activities_unsettled ON activities (doneAt, id) WHERE done = 1 AND settled = 0;
CREATE INDEX activities_settled ON activities (doneAt, id) WHERE settled = 1;
CREATE TABLE terms (
  name TEXT NOT NULL, value TEXT NOT NULL, startTime INTEGER NOT NULL, instanceId TEXT NOT NULL,
  PRIMARY KEY (name, value, startTime, instanceId)
) WITHOUT ROWID;
CREATE TABLE actions (
  instanceId TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (instanceId, sequence)
) WITHOUT ROWID;
CREATE TABLE events (
  id TEXT PRIMARY KEY, nameKey TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, publishedAt INTEGER NOT NULL,
  deliveredTo INTEGER, takenBy TEXT, requestHash TEXT, data TEXT NOT NULL
);
CREATE INDEX events_name ON events (nameKey, publishedAt, id);
CREATE INDEX events_undelivered ON events (publishedAt, id) WHERE deliveredTo IS NULL;
CREATE INDEX events_delivered ON events (publishedAt, id) WHERE deliveredTo IS NOT NULL;
CREATE TABLE nodes (
  id TEXT PRIMARY KEY, beatAt INTEGER NOT NULL, url TEXT NOT NULL, version TEXT NOT NULL, hostname TEXT NOT NULL,
  pid INTEGER NOT NULL, details TEXT
) WITHOUT ROWID;
CREATE TABLE inputs (instanceId TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE joined_starts (
  id TEXT PRIMARY KEY, requestHash TEXT NOT NULL, instanceId TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX joined_starts_instance ON joined_starts (instanceId);
CREATE TABLE disabled_definitions (id TEXT PRIMARY KEY) WITHOUT ROWID;
PRAGMA user_version = 5;
