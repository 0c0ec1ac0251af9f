import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** `id` and `time` do not break; `wide` takes what is left; `number` is at the right. */
  readonly kind?: 'id' | 'time' | 'wide' | 'number';
}

export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** All rows that are shown, or none. */
  readonly toggleAll: () => void;
}

interface DataTableProps<Row> {
  /** What the table shows, for those who cannot see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** How the box that selects a row is called. */
  readonly rowName?: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
  readonly selection?: Selection;
}

/** A table that becomes a list of cards where the window is narrow. It shows what it is given, so give it one page. */
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
