/** All migrations of the tables, in order. A released migration never changes; further changes go into a new one. */
import { TABLES } from './0001-tables.js';
import { SEARCH } from './0002-search.js';
import { REPAIR } from './0003-repair.js';
import { VERSIONS } from './0004-versions.js';
import { TRIGGERS_AND_WEBHOOKS } from './0005-triggers-and-webhooks.js';
import { RESOURCES } from './0006-resources.js';
import { DEFINITION_REFERENCE } from './0007-definition-reference.js';
import { FAILING_SINCE } from './0008-failing-since.js';
import { PRIORITY } from './0009-priority.js';
import { QUEUED } from './0010-queued.js';
import { SLOTS } from './0011-slots.js';
import { DEBOUNCE } from './0012-debounce.js';
import { FAIRNESS } from './0013-fairness.js';
import type { Migration } from './migration.js';

export const MIGRATIONS: readonly Migration[] = [
  TABLES,
  SEARCH,
  REPAIR,
  VERSIONS,
  TRIGGERS_AND_WEBHOOKS,
  RESOURCES,
  DEFINITION_REFERENCE,
  FAILING_SINCE,
  PRIORITY,
  QUEUED,
  SLOTS,
  DEBOUNCE,
  FAIRNESS,
];
