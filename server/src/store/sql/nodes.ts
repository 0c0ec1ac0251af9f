/** Nodes. */
import type { NodeRecord } from '../records/nodes.js';
import { columnsOf, readRecord, type RecordColumns } from './columns.js';
import { change, select, type SqlOperations } from './statements.js';
import type { StoredRow } from './stored-row.js';

const RECORD: RecordColumns<NodeRecord> = {
  id: 'text',
  beatAt: 'number',
  url: 'text',
  version: 'text',
  hostname: 'text',
  pid: 'number',
  details: 'text?',
};

export const NODE_COLUMNS = columnsOf(RECORD);

const REPLACED = Object.keys(RECORD).filter((name) => name !== 'id');
/** The ending of an insert. */
export const REPLACE_NODE = `ON CONFLICT (id) DO UPDATE SET ${REPLACED.map((name) => `${name} = excluded.${name}`).join(', ')}`;

export const NODE_OPERATIONS = {
  *listNodes() {
    return (yield* select('SELECT * FROM @nodes ORDER BY id')).map(nodeOf);
  },

  *removeNode([id]) {
    yield* change('DELETE FROM @nodes WHERE id = ?', id);
  },
} satisfies SqlOperations;

export function nodeOf(row: StoredRow): NodeRecord {
  return readRecord(row, RECORD);
}
