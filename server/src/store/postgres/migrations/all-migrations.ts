/** All migrations of the tables, in order. A released migration never changes; further changes go into a new one. */
import { TABLES } from './0001-tables.js';
import { SEARCH } from './0002-search.js';
import type { Migration } from './migration.js';

export const MIGRATIONS: readonly Migration[] = [TABLES, SEARCH];
