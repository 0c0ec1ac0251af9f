/** Columns of tables whose rows are executions that wait: their run, and their number in it. */
import { Link } from 'wouter';
import { toPath } from '../app/path.js';
import { RunId } from './run-id.js';
import type { Column } from './data-table.js';
import { TextCell } from './text-cell.js';

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

export const DEFINITION_COLUMN: Column<{ readonly definitionId: string | null }> = {
  key: 'definition',
  header: 'Definition',
  cell: ({ definitionId }) =>
    definitionId === null ? (
      <span className="none">run removed</span>
    ) : (
      <Link href={toPath('definitions', definitionId)}>
        <TextCell text={definitionId} />
      </Link>
    ),
};

export const REFERENCE_COLUMN: Column<{ readonly reference: string | null }> = {
  key: 'reference',
  header: 'Reference',
  cell: ({ reference }) => <TextCell text={reference ?? ''} />,
};

export const EXECUTION_COLUMN: Column<{ readonly executionId: number }> = {
  key: 'execution',
  header: 'Execution',
  kind: 'number',
  cell: ({ executionId }) => executionId,
};
