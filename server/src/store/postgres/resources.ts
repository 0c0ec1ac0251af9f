/** Resources: what people have set up, and notes that expire. */
import type { OperationArguments } from '../store-operations.js';
import type { ResourceKind, ResourceRecord } from '../records/resources.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Columns } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

export const RESOURCE_COLUMNS: Columns<ResourceRecord> = {
  kind: ['text', ({ kind }) => kind],
  name: ['text', ({ name }) => encodeTextWithoutNul(name)],
  revision: ['bigint', ({ revision }) => revision],
  expires_at: ['bigint', ({ expiresAt }) => expiresAt],
  body: ['text', ({ body }) => encodeTextWithoutNul(body)],
};

export async function saveResource(
  { database }: PostgresContext,
  [resource, expected]: OperationArguments<'saveResource'>,
): Promise<boolean> {
  const values = Object.values(RESOURCE_COLUMNS).map(([, cellOf]) => cellOf(resource));
  const changed =
    expected === null
      ? await database.execute(
          `INSERT INTO @resources (kind, name, revision, expires_at, body)
           VALUES ($1, $2, $3::bigint, $4::bigint, $5) ON CONFLICT (kind, name) DO NOTHING`,
          values,
        )
      : await database.execute(
          `UPDATE @resources SET revision = $3::bigint, expires_at = $4::bigint, body = $5
            WHERE kind = $1 AND name = $2 AND revision = $6::bigint`,
          [...values, expected],
        );
  return changed > 0;
}

export async function removeResource(
  { database }: PostgresContext,
  [kind, name]: OperationArguments<'removeResource'>,
): Promise<boolean> {
  const text = 'DELETE FROM @resources WHERE kind = $1 AND name = $2';
  return (await database.execute(text, [kind, encodeTextWithoutNul(name)])) > 0;
}

export async function getResource(
  { database }: PostgresContext,
  [kind, name]: OperationArguments<'getResource'>,
): Promise<ResourceRecord | null> {
  const text = 'SELECT * FROM @resources WHERE kind = $1 AND name = $2';
  const [row] = await database.query(text, [kind, encodeTextWithoutNul(name)]);
  return row === undefined ? null : resourceOf(row);
}

export async function listResources(
  { database }: PostgresContext,
  [kind, afterName, limit]: OperationArguments<'listResources'>,
): Promise<readonly ResourceRecord[]> {
  const rows = await database.query(
    'SELECT * FROM @resources WHERE kind = $1 AND name > $2 ORDER BY name LIMIT $3::bigint',
    [kind, encodeTextWithoutNul(afterName ?? ''), limit],
  );
  return rows.map(resourceOf);
}

export function purgeResources(
  { database }: PostgresContext,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): Promise<number> {
  return database.execute(
    `DELETE FROM @resources WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM @resources WHERE expires_at IS NOT NULL AND expires_at < $1::bigint
       ORDER BY expires_at, kind, name LIMIT $2::bigint FOR UPDATE))`,
    [expiredBefore, limit],
  );
}

export function resourceOf(row: Row): ResourceRecord {
  return {
    // Only these are written.
    kind: row.text('kind') as ResourceKind,
    name: row.text('name'),
    revision: row.number('revision'),
    expiresAt: row.numberOrNull('expires_at'),
    body: row.text('body'),
  };
}
