/** Columns of tables whose rows are executions that wait: their run, and their number in it. */
import { Link } from 'wouter';
import { toPath } from '../app/path.js';
import { RunId } from './run-id.js';
import type { Column } from './data-table.js';

export const RUN_COLUMN: Column<{ readonly workflowId: string }> = {
  key: 'run',
  header: 'Run',
  kind: 'id',
  cell: ({ workflowId }) => (
    <Link href={toPath('runs', workflowId)}>
      <RunId id={workflowId} />
    </Link>
  ),
};

export const EXECUTION_COLUMN: Column<{ readonly executionId: number }> = {
  key: 'execution',
  header: 'Execution',
  kind: 'number',
  cell: ({ executionId }) => executionId,
};
