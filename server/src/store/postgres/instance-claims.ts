/** Take-overs: compare-and-set on `{id, epoch}`. Those that arrive at the same moment share one statement. */
import { GroupCommit } from '../group-commit.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { instanceOf, RECORD_NAMES, wakesOf } from './instance-rows.js';
import type { Columns } from '../sql/columns.js';
import { inLockOrder, Parameters, withParts } from './parameters.js';
import type { Claim, Groups, PostgresContext } from './postgres-context.js';

/** The statement returns whole records, which may be large. */
const CLAIMS_PER_STATEMENT = 16;

const COLUMNS: Columns<Claim> = {
  id: ['text', ({ id }) => id],
  epoch: ['number', ({ epoch }) => epoch],
  owner: ['text', ({ owner }) => owner],
  crashes: ['number', ({ suspected }) => (suspected ? 1 : 0)],
  due: ['boolean', ({ due }) => due === true],
  schema_version_max: [
    'number',
    ({ schemaVersionMax }) => schemaVersionMax ?? Number.MAX_SAFE_INTEGER,
  ],
};

export function createClaimGroup(database: Database): Groups['claims'] {
  return new GroupCommit({
    keyOf: ({ id }) => id,
    countMax: CLAIMS_PER_STATEMENT,
    repeatLimits: database.repeatLimits,
    send: (claims) => claimAll(database, claims),
  });
}

export function claimInstance(
  { groups }: PostgresContext,
  [claim]: OperationArguments<'claimInstance'>,
): Promise<OperationResult<'claimInstance'>> {
  return groups.claims.submit(claim);
}

export async function setCrashes(
  { database }: PostgresContext,
  [id, epoch, crashes]: OperationArguments<'setCrashes'>,
): Promise<boolean> {
  const text = 'UPDATE @instances SET crashes = $3 WHERE id = $1 AND epoch = $2';
  return (await database.execute(text, [encodeTextWithoutNul(id), epoch, crashes])) > 0;
}

async function claimAll(
  database: Database,
  claims: readonly Claim[],
): Promise<readonly OperationResult<'claimInstance'>[]> {
  const parameters = new Parameters();
  const rows = parameters.oneOrRows('w', inLockOrder(claims), COLUMNS);
  const text = withParts(
    [
      `claimed AS (
  UPDATE @instances AS i SET owner = w.owner, epoch = i.epoch + 1, crashes = i.crashes + w.crashes,
         wake_at = CASE WHEN w.due THEN 0 ELSE i.wake_at END
    FROM ${rows}
   WHERE i.id = w.id AND i.epoch = w.epoch AND i.schema_version <= w.schema_version_max
  RETURNING i.*
)`,
      wakesOf('claimed'),
    ],
    `SELECT ${RECORD_NAMES} FROM claimed`,
  );
  const claimed = await database.queryGroup(text, parameters.values);
  const byId = new Map(claimed.map((row) => [row.text('id'), instanceOf(row)]));
  return claims.map(({ id }) => byId.get(id) ?? null);
}
