-- The tables of schema 14, as the server created them.
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
CREATE TABLE instances (
  id TEXT PRIMARY KEY, definitionId TEXT NOT NULL, version INTEGER NOT NULL, reference TEXT, tags TEXT,
  fields TEXT, status TEXT NOT NULL,
  startTime INTEGER NOT NULL, endTime INTEGER, outcome TEXT, parentId TEXT, rootId TEXT, lastChangeAt INTEGER NOT NULL,
  errorAt INTEGER, failingSince INTEGER, failingErrorAt INTEGER, failureKey TEXT, failure TEXT, wakeAt INTEGER, owner TEXT,
  epoch INTEGER NOT NULL, inSeq INTEGER NOT NULL,
  revision INTEGER NOT NULL, underWay INTEGER NOT NULL, crashes INTEGER NOT NULL, schemaVersion INTEGER NOT NULL, requestHash TEXT,
  restartOf TEXT, restartedAs TEXT, priority INTEGER NOT NULL DEFAULT 3,
  queued INTEGER NOT NULL DEFAULT 0, countsFrom INTEGER, concurrencyKey TEXT, place TEXT, retentionMs INTEGER, startedBy TEXT,
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
CREATE INDEX instances_version ON instances (definitionId, version, startTime, id);
CREATE INDEX instances_reference ON instances (reference, startTime, id) WHERE reference IS NOT NULL;
CREATE INDEX instances_open_reference ON instances (reference, definitionId, startTime, id)
  WHERE reference IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_definition_reference ON instances (reference, definitionId, startTime, id)
  WHERE reference IS NOT NULL;
CREATE INDEX instances_later ON instances (reference, definitionId, countsFrom, id)
  WHERE reference IS NOT NULL AND countsFrom IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_places ON instances (definitionId, concurrencyKey, place, queued, priority, countsFrom, id)
  WHERE concurrencyKey IS NOT NULL AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_entered ON instances (reference, definitionId, countsFrom, id)
  WHERE reference IS NOT NULL AND countsFrom IS NOT NULL AND (queued = 1 OR place <> 'later')
    AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_queued ON instances (startTime, id) WHERE queued = 1 AND status IN ('Runnable', 'Suspended');
CREATE INDEX instances_due ON instances (wakeAt, id) WHERE wakeAt IS NOT NULL;
CREATE INDEX instances_owned ON instances (owner, lastChangeAt, id) WHERE status = 'Runnable';
CREATE INDEX instances_under_way ON instances (owner, id) WHERE underWay = 1;
CREATE INDEX instances_ended ON instances (endTime, id) WHERE endTime IS NOT NULL;
CREATE INDEX instances_expiring ON instances (endTime, id) WHERE endTime IS NOT NULL AND retentionMs IS NULL;
CREATE INDEX instances_own_retention ON instances (endTime + retentionMs, id)
  WHERE retentionMs IS NOT NULL AND endTime IS NOT NULL;
CREATE INDEX instances_failed ON instances (errorAt, id, failureKey, status, failingSince, failingErrorAt) WHERE errorAt IS NOT NULL;
CREATE INDEX instances_failure ON instances (failureKey, startTime, id) WHERE failureKey IS NOT NULL;
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
  id TEXT PRIMARY KEY, instanceId TEXT NOT NULL, name TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 3,
  createdAt INTEGER NOT NULL, availableAt INTEGER NOT NULL, deferred INTEGER NOT NULL, attempt INTEGER NOT NULL, tokenHash TEXT, workerId TEXT,
  done INTEGER NOT NULL, doneAt INTEGER, settled INTEGER NOT NULL, succeeded INTEGER, resultHash TEXT, needs TEXT,
  parameters TEXT NOT NULL, resultData TEXT
);
CREATE INDEX activities_queue ON activities (name, priority, availableAt, id) WHERE done = 0;
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
  id TEXT PRIMARY KEY, requestHash TEXT NOT NULL, instanceId TEXT NOT NULL, joinedAt INTEGER NOT NULL DEFAULT 0, body TEXT
) WITHOUT ROWID;
CREATE INDEX joined_starts_instance ON joined_starts (instanceId);
CREATE INDEX joined_starts_time ON joined_starts (joinedAt);
CREATE TABLE disabled_definitions (id TEXT PRIMARY KEY) WITHOUT ROWID;
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
CREATE TABLE triggers (
  id TEXT PRIMARY KEY, definitionId TEXT NOT NULL, dueAt INTEGER, eventHash TEXT, revision INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE INDEX triggers_definition ON triggers (definitionId, id);
CREATE INDEX triggers_due ON triggers (dueAt, id) WHERE dueAt IS NOT NULL;
CREATE INDEX triggers_event ON triggers (eventHash, id) WHERE eventHash IS NOT NULL;
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
CREATE TABLE resources (
  kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, expiresAt INTEGER, body TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX resources_expired ON resources (expiresAt) WHERE expiresAt IS NOT NULL;
CREATE TABLE slots (
  execution TEXT NOT NULL, limitName TEXT NOT NULL, limitKey TEXT NOT NULL, units INTEGER NOT NULL, instanceId TEXT NOT NULL,
  isActivity INTEGER NOT NULL, PRIMARY KEY (execution, limitName)
) WITHOUT ROWID;
CREATE INDEX slots_key ON slots (limitName, limitKey, instanceId);
CREATE INDEX slots_instance ON slots (instanceId);
CREATE TABLE slot_waits (
  execution TEXT PRIMARY KEY, limitName TEXT NOT NULL, limitKey TEXT NOT NULL, instanceId TEXT NOT NULL, activityName TEXT,
  priority INTEGER NOT NULL, since INTEGER NOT NULL, state TEXT NOT NULL, at REAL NOT NULL, needs TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX slot_waits_order ON slot_waits (limitName, limitKey, state, priority, since, execution);
CREATE INDEX slot_waits_names ON slot_waits (limitName, limitKey, state, activityName, priority, since, execution);
CREATE INDEX slot_waits_instance ON slot_waits (instanceId);
CREATE TABLE limit_rates (
  limitName TEXT NOT NULL, limitKey TEXT NOT NULL, spentUntil REAL NOT NULL, PRIMARY KEY (limitName, limitKey)
) WITHOUT ROWID;
CREATE INDEX limit_rates_spent ON limit_rates (spentUntil);
PRAGMA user_version = 14;
