/** The parts of the statement of commits that only some of them need. */
import { NO_INDEX } from '../../engine/values/index-fields.js';
import { indexText } from '../json-columns.js';
import type { IndexChange, InstanceCommit } from '../records/instances.js';
import type { Columns } from '../sql/columns.js';
import { appendedAudit, auditBodyOf } from './instance-rows.js';
import type { Parameters } from './parameters.js';

export const NO_CHANGE: IndexChange = { before: NO_INDEX, after: NO_INDEX };

/** A part of the statement that only some commits need, and the columns that it sets. */
interface OptionalPart {
  readonly part: string;
  readonly assignment: string;
}

export function assignmentsOf(...parts: readonly (OptionalPart | null)[]): string {
  return parts.map((part) => part?.assignment ?? '').join('');
}

const FIELDS: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => id],
  fields: ['text', ({ indexChange = NO_CHANGE }) => indexText(indexChange.after)],
};

/** Few commits change index fields. */
export function fieldsPart(
  parameters: Parameters,
  indexed: readonly InstanceCommit[],
): OptionalPart | null {
  if (indexed.length === 0) return null;
  return {
    part: `indexed AS (SELECT * FROM ${parameters.rows('f', indexed, FIELDS)})`,
    assignment: `,
    fields = CASE WHEN EXISTS (SELECT FROM indexed AS f WHERE f.id = i.id)
      THEN (SELECT f.fields FROM indexed AS f WHERE f.id = i.id) ELSE i.fields END`,
  };
}

const VERSIONS: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => id],
  version: ['number', ({ version = null }) => version],
  retention_ms: ['number', ({ retentionMs = null }) => retentionMs],
};

/** Only a modification changes the version. */
export function versionsPart(
  parameters: Parameters,
  commits: readonly InstanceCommit[],
): OptionalPart | null {
  const moved = commits.filter(({ version }) => version !== undefined);
  if (moved.length === 0) return null;
  return {
    part: `moved AS (SELECT * FROM ${parameters.rows('v', moved, VERSIONS)})`,
    assignment: `,
    version = COALESCE((SELECT v.version FROM moved AS v WHERE v.id = i.id), i.version),
    retention_ms = CASE WHEN EXISTS (SELECT FROM moved AS v WHERE v.id = i.id)
      THEN (SELECT v.retention_ms FROM moved AS v WHERE v.id = i.id) ELSE i.retention_ms END`,
  };
}

const QUEUED: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => id],
  queued: ['boolean', ({ queued = false }) => queued],
  place: ['text', ({ takesPlace }) => (takesPlace === true ? 'held' : null)],
};

/** Few instances wait for others. */
export function queuedPart(
  parameters: Parameters,
  commits: readonly InstanceCommit[],
): OptionalPart | null {
  const changed = commits.filter(({ queued }) => queued !== undefined);
  if (changed.length === 0) return null;
  return {
    part: `queues AS (SELECT * FROM ${parameters.rows('q', changed, QUEUED)})`,
    assignment: `,
    queued = COALESCE((SELECT q.queued FROM queues AS q WHERE q.id = i.id), i.queued),
    place = COALESCE((SELECT q.place FROM queues AS q WHERE q.id = i.id), i.place)`,
  };
}

const WINDOWS: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => id],
  counts_from: ['number', ({ window }) => window?.countsFrom ?? null],
  is_open: ['boolean', ({ window }) => window?.isOpen === true],
  input: ['text', ({ window }) => window?.input ?? null],
};

/** Few instances have a window. */
export function windowPart(
  parameters: Parameters,
  commits: readonly InstanceCommit[],
): OptionalPart | null {
  const changed = commits.filter(({ window }) => window !== undefined);
  if (changed.length === 0) return null;
  return {
    part: `windows AS (SELECT * FROM ${parameters.rows('d', changed, WINDOWS)})`,
    assignment: `,
    counts_from = COALESCE((SELECT d.counts_from FROM windows AS d WHERE d.id = i.id), i.counts_from),
    debounce_key = CASE WHEN EXISTS (SELECT FROM windows AS d WHERE d.id = i.id AND NOT d.is_open)
      THEN NULL ELSE i.debounce_key END,
    input = COALESCE((SELECT d.input FROM windows AS d WHERE d.id = i.id), i.input)`,
  };
}

interface AuditRow {
  readonly instanceId: string;
  readonly position: number;
  readonly body: string;
}

const AUDIT: Columns<AuditRow> = {
  id: ['text', ({ instanceId }) => instanceId],
  position: ['number', ({ position }) => position],
  body: ['text', ({ body }) => body],
};

/** Only commits of modifications are audited. */
export function auditPart(
  parameters: Parameters,
  commits: readonly InstanceCommit[],
): OptionalPart | null {
  const rows = commits.flatMap(({ audit = [], id }) =>
    audit.map((entry, position) => ({ instanceId: id, position, body: auditBodyOf(entry) })),
  );
  if (rows.length === 0) return null;
  const added =
    '(SELECT array_agg(a.body ORDER BY a.position) FROM audited AS a WHERE a.id = i.id)';
  return {
    part: `audited AS (SELECT * FROM ${parameters.rows('a', rows, AUDIT)})`,
    assignment: `,
    audit = ${appendedAudit('i.audit', added)}`,
  };
}
