/** The priority of instances and of their work items, which orders the queue. */
import { DEFAULT_PRIORITY } from '../../../engine/model/start-options.js';
import type { Migration } from './migration.js';

const COLUMN = `ADD COLUMN priority bigint NOT NULL DEFAULT ${DEFAULT_PRIORITY}`;

export const PRIORITY: Migration = {
  version: 9,
  name: 'priority',
  statements: [
    `ALTER TABLE @instances ${COLUMN}`,
    `ALTER TABLE @activities ${COLUMN}`,
    'DROP INDEX @activities_queue',
    'CREATE INDEX activities_queue ON @activities (name, priority, available_at, id) WHERE NOT done',
  ],
};
