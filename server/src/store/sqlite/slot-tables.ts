/** The tables of slots and turns, as schema.ts creates them. */

/** See records/slots.ts. Slots may be of executions that have ended, and then count for nothing. */
export const SLOTS = `
CREATE TABLE slots (
  execution TEXT NOT NULL, limitName TEXT NOT NULL, limitKey TEXT NOT NULL, units INTEGER NOT NULL, instanceId TEXT NOT NULL,
  isActivity INTEGER NOT NULL, PRIMARY KEY (execution, limitName)
) WITHOUT ROWID;
CREATE INDEX slots_key ON slots (limitName, limitKey, instanceId);
CREATE INDEX slots_instance ON slots (instanceId);
CREATE TABLE slot_waits (
  execution TEXT PRIMARY KEY, limitName TEXT NOT NULL, limitKey TEXT NOT NULL, instanceId TEXT NOT NULL, activityName TEXT,
  priority INTEGER NOT NULL, since INTEGER NOT NULL, state TEXT NOT NULL, at REAL NOT NULL, needs TEXT NOT NULL,
  fairnessKey TEXT NOT NULL DEFAULT '', fairnessWeight REAL NOT NULL DEFAULT 1
) WITHOUT ROWID;
-- By these an execution finds those before it, and a grant those that come next.
CREATE INDEX slot_waits_order ON slot_waits (limitName, limitKey, state, priority, since, execution);
CREATE INDEX slot_waits_names ON slot_waits (limitName, limitKey, state, activityName, priority, since, execution);
CREATE INDEX slot_waits_instance ON slot_waits (instanceId);
CREATE TABLE limit_rates (
  limitName TEXT NOT NULL, limitKey TEXT NOT NULL, spentUntil REAL NOT NULL, PRIMARY KEY (limitName, limitKey)
) WITHOUT ROWID;
CREATE INDEX limit_rates_spent ON limit_rates (spentUntil);
`;

/** By these a grant finds the first that waits of each fairness key. */
export const FAIR_WAITS = `
CREATE INDEX slot_waits_fair ON slot_waits (limitName, limitKey, state, priority, fairnessKey, activityName, since, execution);
`;

/** See records/turns.ts. */
export const TURNS = `
CREATE TABLE turns (
  queue TEXT NOT NULL, priority INTEGER NOT NULL, fairnessKey TEXT NOT NULL, turn REAL NOT NULL, present REAL NOT NULL,
  since INTEGER NOT NULL, PRIMARY KEY (queue, priority, fairnessKey)
) WITHOUT ROWID;
CREATE INDEX turns_order ON turns (queue, priority, turn, since, fairnessKey);
CREATE INDEX turns_since ON turns (since, queue, priority, fairnessKey);
`;
