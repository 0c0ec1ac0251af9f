/** Resources: what people have set up, and notes that expire. */
import type { OperationArguments } from '../../store-operations.js';
import type { ResourceKind, ResourceRecord } from '../../records/resources.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';

export function saveResource(
  database: Database,
  [resource, expected]: OperationArguments<'saveResource'>,
): boolean {
  const values = [
    resource.revision,
    resource.expiresAt,
    encodeText(resource.body),
    resource.kind,
    encodeText(resource.name),
  ];
  const changed =
    expected === null
      ? database.run(
          `INSERT INTO resources (revision, expiresAt, body, kind, name) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (kind, name) DO NOTHING`,
          ...values,
        )
      : database.run(
          `UPDATE resources SET revision = ?, expiresAt = ?, body = ? WHERE kind = ? AND name = ? AND revision = ?`,
          ...values,
          expected,
        );
  return changed > 0;
}

export function removeResource(
  database: Database,
  [kind, name]: OperationArguments<'removeResource'>,
): boolean {
  const text = 'DELETE FROM resources WHERE kind = ? AND name = ?';
  return database.run(text, kind, encodeText(name)) > 0;
}

export function getResource(
  database: Database,
  [kind, name]: OperationArguments<'getResource'>,
): ResourceRecord | null {
  const text = 'SELECT * FROM resources WHERE kind = ? AND name = ?';
  const row = database.get(text, kind, encodeText(name));
  return row === null ? null : resourceOf(row);
}

export function listResources(
  database: Database,
  [kind, afterName, limit]: OperationArguments<'listResources'>,
): readonly ResourceRecord[] {
  return database
    .all(
      'SELECT * FROM resources WHERE kind = ? AND name > ? ORDER BY name LIMIT ?',
      kind,
      encodeText(afterName ?? ''),
      limit,
    )
    .map(resourceOf);
}

export function purgeResources(
  database: Database,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): number {
  return database.run(
    `DELETE FROM resources WHERE (kind, name) IN (
       SELECT kind, name FROM resources WHERE expiresAt < ? ORDER BY expiresAt LIMIT ?)`,
    expiredBefore,
    limit,
  );
}

export function resourceOf(row: Row): ResourceRecord {
  return {
    // Only these are written.
    kind: row.text('kind') as ResourceKind,
    name: row.text('name'),
    revision: row.number('revision'),
    expiresAt: row.numberOrNull('expiresAt'),
    body: row.text('body'),
  };
}
