import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** `id` and `time` do not wrap; `wide` takes the remaining width; `number` is right-aligned. */
  readonly kind?: 'id' | 'time' | 'wide' | 'number';
}

export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** Selects all shown rows, or deselects them if all are selected. */
  readonly toggleAll: () => void;
}

interface DataTableProps<Row> {
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The name of a row, for the label of its checkbox. */
  readonly rowName?: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
  readonly selection?: Selection;
}

/** A table that becomes a list of cards in a narrow window. It renders all its rows, so pass one page at a time. */
export function DataTable<Row>(props: DataTableProps<Row>): ReactNode {
  const { label, columns, rows, rowKey, rowName = rowKey, rowClass, selection } = props;
  return (
    <table className="data-table" aria-label={label}>
      <thead>
        <tr>
          {selection !== undefined && <SelectAll rows={rows.map(rowKey)} selection={selection} />}
          {columns.map(({ key, header, kind }) => (
            <th key={key} scope="col" className={kind}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = rowKey(row);
          return (
            <tr key={key} className={rowClass?.(row)} data-key={key}>
              {selection !== undefined && (
                <td className="select">
                  <input
                    type="checkbox"
                    aria-label={`Select ${rowName(row)}`}
                    checked={selection.keys.has(key)}
                    onChange={() => selection.toggle(key)}
                  />
                </td>
              )}
              {columns.map((column) => (
                <td key={column.key} className={column.kind} data-label={column.header}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function SelectAll({
  rows,
  selection,
}: {
  readonly rows: readonly string[];
  readonly selection: Selection;
}): ReactNode {
  const selected = rows.filter((key) => selection.keys.has(key)).length;
  return (
    <th scope="col" className="select">
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={rows.length > 0 && selected === rows.length}
        ref={(box) => {
          if (box !== null) box.indeterminate = selected > 0 && selected < rows.length;
        }}
        onChange={() => selection.toggleAll()}
      />
    </th>
  );
}
