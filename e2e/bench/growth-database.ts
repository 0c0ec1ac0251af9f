/** The database of `bench:growth`: PostgreSQL or MongoDB, by `dbhost`. */
import { setTimeout } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import pg from 'pg';

export interface GrowthDatabase {
  /** The settings of a node whose data has this name. */
  environmentOf(name: string): Readonly<Record<string, string>>;
  /** Removes the data of this name. */
  remove(name: string): Promise<void>;
  /** How many there have been so far: of the whole server on MongoDB, where each write is one. Null: the server doesn't count. */
  transactions(): Promise<number | null>;
  close(): Promise<void>;
}

/** PostgreSQL's sessions report their counters once a second. */
const REPORTED_MS = 1500;

export function openGrowthDatabase(): Promise<GrowthDatabase> {
  const { dbhost = '', redis } = process.env;
  if (dbhost.startsWith('postgres')) return openPostgres(dbhost);
  if (dbhost.startsWith('mongodb') && redis !== undefined) return openMongo(dbhost, redis);
  throw new Error(
    'Set dbhost to an address of PostgreSQL, or of MongoDB and redis to one of Redis',
  );
}

async function openPostgres(dbhost: string): Promise<GrowthDatabase> {
  const client = new pg.Client({ connectionString: dbhost });
  await client.connect();
  return {
    environmentOf: (name) => ({
      dbhost: `${dbhost}${dbhost.includes('?') ? '&' : '?'}schema=${name}`,
    }),
    remove: async (name) => {
      await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
    },
    transactions: async () => {
      await setTimeout(REPORTED_MS);
      const { rows } = await client.query<{ readonly count: string }>(
        'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
      );
      return Number(rows[0]?.count);
    },
    close: () => client.end(),
  };
}

async function openMongo(dbhost: string, redis: string): Promise<GrowthDatabase> {
  const client = new MongoClient(dbhost);
  await client.connect();
  return {
    environmentOf: (name) => ({ dbhost, redis, db_name: name }),
    remove: async (name) => {
      await client.db(name).dropDatabase();
    },
    transactions: async () => {
      const { opcounters } = (await client.db('admin').command({ serverStatus: 1 })) as {
        readonly opcounters?: Readonly<Record<'insert' | 'update' | 'delete', number>>;
      };
      if (opcounters === undefined) return null;
      return opcounters.insert + opcounters.update + opcounters.delete;
    },
    close: () => client.close(),
  };
}
