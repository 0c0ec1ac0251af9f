/** All changes of the tables, in order. A released one never changes; a change of the tables is a new one. */
import { TABLES } from './0001-tables.js';
import type { Migration } from './migration.js';

export const MIGRATIONS: readonly Migration[] = [TABLES];
