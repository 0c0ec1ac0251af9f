/** The terms by which instances are found, as rows. The statement that writes an instance also writes its terms. */
import { fieldTerms, termChanges, termsOf, type Term } from '../index-terms.js';
import type { IndexChange, InstanceRecord } from '../records/instances.js';
import type { Columns } from '../sql/columns.js';
import type { Parameters } from './parameters.js';

interface OwnedTerm extends Term {
  readonly instanceId: string;
}

const COLUMNS: Columns<OwnedTerm> = {
  instance_id: ['text', ({ instanceId }) => instanceId],
  name: ['text', ({ name }) => name],
  value: ['text', ({ value }) => value],
};

/** How the terms of one instance change. */
export interface TermChange {
  readonly id: string;
  readonly removed: readonly Term[];
  readonly added: readonly Term[];
}

export function allTermsOf(record: InstanceRecord): TermChange {
  return { id: record.id, removed: [], added: termsOf(record) };
}

export function indexChangeOf(id: string, { after, before }: IndexChange): TermChange {
  return { id, ...termChanges(fieldTerms(before), fieldTerms(after)) };
}

/** The parts of the statement that change terms of the instances in `source`, which has their `id` and `start_time`. */
export function termParts(
  parameters: Parameters,
  source: string,
  changes: readonly TermChange[],
): readonly string[] {
  const ownedOf = (termsOf: (change: TermChange) => readonly Term[]): readonly OwnedTerm[] =>
    changes.flatMap((change) =>
      termsOf(change).map((term) => ({ ...term, instanceId: change.id })),
    );
  const removed = ownedOf((change) => change.removed);
  const added = ownedOf((change) => change.added);
  const parts: string[] = [];
  if (removed.length > 0) parts.push(removedTerms(parameters, source, removed));
  if (added.length > 0) {
    parts.push(`added_terms AS (
  INSERT INTO @terms (name, value, start_time, instance_id)
  SELECT n.name, n.value, written.start_time, n.instance_id
    FROM ${parameters.rows('n', added, COLUMNS)} JOIN ${source} AS written ON written.id = n.instance_id
   ORDER BY n.name COLLATE "C", n.value COLLATE "C", n.instance_id COLLATE "C"
  ON CONFLICT DO NOTHING
)`);
  }
  return parts;
}

function removedTerms(
  parameters: Parameters,
  source: string,
  removed: readonly OwnedTerm[],
): string {
  return `removed_terms AS (
  DELETE FROM @terms AS t
   USING ${parameters.rows('n', removed, COLUMNS)} JOIN ${source} AS written ON written.id = n.instance_id
   WHERE t.name = n.name AND t.value = n.value AND t.start_time = written.start_time AND t.instance_id = n.instance_id
)`;
}
